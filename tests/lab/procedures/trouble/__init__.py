"""Faults around a run, and how it goes on, on real servers."""
