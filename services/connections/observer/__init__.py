"""The allow-list of the Observer: everything that may be read, by its grammar."""
