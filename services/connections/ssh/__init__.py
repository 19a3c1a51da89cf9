"""SSH: configuration, host keys, logins, the transport."""
