"""What several procedures of MongoDB share; no procedure imports another."""
