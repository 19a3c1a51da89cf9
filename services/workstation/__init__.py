"""The person's own machine: folders, files, keyring, preferences, this installation."""
