"""What a MongoDB server says of itself and of others, as typed facts; every name of a host in it is a claim."""
