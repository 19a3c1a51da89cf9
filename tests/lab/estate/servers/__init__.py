"""The database servers of an estate: configuration, accounts, clusters, data and load."""
