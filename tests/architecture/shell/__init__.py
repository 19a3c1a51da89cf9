"""Programs that the console gives to a shell."""
