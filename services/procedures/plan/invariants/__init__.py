"""What must be true of every plan before it is shown."""
