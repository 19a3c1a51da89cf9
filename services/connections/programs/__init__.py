"""The frozen programs that the Observer may run on a host."""
