"""Servers that lie, stall and flood."""
