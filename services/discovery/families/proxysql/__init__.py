"""ProxySQL, which can be named and is not read yet."""
