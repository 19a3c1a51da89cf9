"""Set-up, test command and packages."""
