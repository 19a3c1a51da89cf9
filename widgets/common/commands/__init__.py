"""Shortcuts and the command palette."""
