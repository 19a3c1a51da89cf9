"""The window's own frame: the bar above the pages and the line below them."""
