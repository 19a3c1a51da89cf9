"""Recordings: files that one person sends to another."""
