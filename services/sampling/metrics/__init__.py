"""Metrics and charts as data, and from raw numbers to curves."""
