"""SSH, tunnels, SQL and MongoDB sessions; one lane per host."""
