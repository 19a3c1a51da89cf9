"""The page of settings, and what the program says of itself."""
