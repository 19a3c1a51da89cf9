"""Error logs: what is read of them and what their lines say."""
