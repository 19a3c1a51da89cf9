"""Asynchronous replication."""
