"""Other data in a stopped node's data folder."""
