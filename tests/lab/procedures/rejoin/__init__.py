"""A node that returns without an SST, on real servers."""
