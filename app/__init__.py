"""Start-up only: command line, composition root, main window."""
