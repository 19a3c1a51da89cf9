"""Whether nodes share a past, and whom evidence names as a member."""
