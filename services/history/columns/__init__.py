"""Samples as columns: chunks, blocks, minute aggregates, and reading them back."""
