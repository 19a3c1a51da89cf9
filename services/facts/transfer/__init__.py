"""State transfers: their settings, certificates, measurements and progress."""
