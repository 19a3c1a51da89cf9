"""States that tests create on real hosts, each with its inverse."""
