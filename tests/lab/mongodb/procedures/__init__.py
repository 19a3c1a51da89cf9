"""The procedures of MongoDB in the lab."""
