"""One plot: its data, its picture, what lies over it."""
