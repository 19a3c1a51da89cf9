"""The way to one MongoDB server: its wire protocol, the login, the session that reads (decision 0041)."""
