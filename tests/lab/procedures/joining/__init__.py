"""add-node and snapshot-node on real servers."""
