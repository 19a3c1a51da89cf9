"""Galera clusters."""
