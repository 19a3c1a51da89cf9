"""encrypt-sst: TLS for state transfers on every node (see procedure.py)."""
