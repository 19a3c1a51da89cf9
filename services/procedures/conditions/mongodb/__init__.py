"""What can be proven of MongoDB: replica sets and their members, config servers, mongos."""
