"""The database that is made to try whether a server takes a change, and dropped in the same step."""

SCRATCH = "pilothouse_trial"
