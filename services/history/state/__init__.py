"""What the console remembers between runs: its file, its tables, its journals."""
