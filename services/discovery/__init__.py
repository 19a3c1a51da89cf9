"""The snapshot of a cluster, grown from any one seed host."""
