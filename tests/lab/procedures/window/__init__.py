"""Procedures through the window, on real servers."""
