"""Estate tree and connection dialog."""
