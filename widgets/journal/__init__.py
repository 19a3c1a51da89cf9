"""What happened, in order."""
