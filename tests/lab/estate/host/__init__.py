"""A host of an estate: its image, file system, network and container."""
