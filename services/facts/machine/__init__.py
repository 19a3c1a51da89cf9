"""The machine below a server, as its kernel, systemd and file system tell of it."""
