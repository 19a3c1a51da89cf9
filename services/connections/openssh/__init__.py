"""OpenSSH's own configuration, keys and lists of keys, as its programs read them."""
