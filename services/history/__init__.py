"""The local store of samples, recordings and aggregates."""
