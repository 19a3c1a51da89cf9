"""What a node's state is called, how serious it is, and why."""
