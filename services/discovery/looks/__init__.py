"""Looking at hosts: one look, one search, how long it waits."""
