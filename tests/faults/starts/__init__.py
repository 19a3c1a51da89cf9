"""Servers that somebody starts during a run."""
