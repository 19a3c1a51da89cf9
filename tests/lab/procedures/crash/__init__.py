"""bootstrap-after-crash and forked histories on real servers."""
