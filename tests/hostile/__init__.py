"""Servers that lie, stall and flood, on this machine's loopback, and what the console makes of them."""
