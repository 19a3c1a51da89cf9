"""Asynchronous replication, group replication and what measures their lag."""
