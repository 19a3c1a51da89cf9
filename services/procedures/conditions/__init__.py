"""The conditions of plans, a file each with all that is known of it, by family: found by themselves."""
