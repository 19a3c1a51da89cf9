"""Questions and checks before a run."""
