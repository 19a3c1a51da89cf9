"""Binary logs: the files, what they hold, and a replay of them."""
