"""What is proven of the config servers of a sharded cluster, and of who uses them."""
