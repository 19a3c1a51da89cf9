"""The names under which a cluster in memory keeps, in `replica_set`, what its config servers, mongos and shards are."""

from __future__ import annotations

FORM = "config:"
"""Begins the names under which config servers keep their form."""
LIES = "lies:"
"""Begins the names under which servers keep that a configuration lies in their data."""
METADATA = "metadata:"
"""Begins the names under which config servers keep what their metadata are."""
STRING = "string:"
"""Begins the names under which mongos keep what they were started with."""
USES = "uses:"
"""Begins the names under which mongos and shards keep which config servers they use: 'mirrored' or 'set'."""
LEADS = "leads-shard"
"""The name under which the shard keeps who is its primary."""
CAME_MONGOS, CAME_SHARD = "came-mongos", "came-shard"
"""The names under which it is kept that somebody started another mongos, or added a shard."""
