"""A plan's steps: rows, groups, what a row opens."""
