"""The window's frame as one whole: its panels, the order of Tab in it, its keys."""
