"""A database server of any kind: who it is, its settings, its sessions."""
