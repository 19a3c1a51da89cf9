"""The families of systems that are watched, a folder each; `registry.py` has those that are registered."""
