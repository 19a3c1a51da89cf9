"""Random states: a cluster broken by a seeded run of verbs, the procedures that are offered run on it, rows counted."""
