"""Groups of MySQL Group Replication."""
