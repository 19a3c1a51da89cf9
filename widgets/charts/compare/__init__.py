"""A change measured: two stretches of time, side by side."""
