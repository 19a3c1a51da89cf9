"""The window's one time axis."""
