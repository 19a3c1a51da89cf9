"""The questions a procedure asks, and reading the answers."""
