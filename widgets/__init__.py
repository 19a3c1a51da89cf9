"""What a person sees, one folder a feature. No connection, no SQL, no blocking call."""
