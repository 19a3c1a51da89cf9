"""SQL sessions: statements, logins, the wire, errors."""
