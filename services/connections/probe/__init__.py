"""The test of a connection: every step to a host, tried once."""
