"""Real servers' answers as files, and the session that gives them again. Each file says where it comes from."""
