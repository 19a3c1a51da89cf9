"""The toys' own family."""
