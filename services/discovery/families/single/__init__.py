"""Servers that stand alone, and hosts of which nothing is known."""
