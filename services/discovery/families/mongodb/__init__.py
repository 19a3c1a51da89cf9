"""MongoDB: replica sets, and sharded clusters of several of them with their config servers and mongos."""
