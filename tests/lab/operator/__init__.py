"""Changes to real hosts: the Operator's sessions, files and lock."""
