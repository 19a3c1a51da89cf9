"""Connections to real hosts."""
