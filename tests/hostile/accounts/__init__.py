"""An account of a host, usually the server's own, against the console's programs that run as root."""
