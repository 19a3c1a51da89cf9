"""Planned maintenance on real servers."""
