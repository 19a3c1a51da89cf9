"""The faults of an estate: each has its inverse."""
