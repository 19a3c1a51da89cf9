"""mongo-config-rs: mirrored config servers become a replica set, by the rolling way or in a window."""
