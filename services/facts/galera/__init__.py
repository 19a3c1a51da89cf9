"""A Galera node: its state, its past, and what it needs to return by IST."""
