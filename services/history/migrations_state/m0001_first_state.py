"""Version 1: settings, nodes seen, events, inventories used, runs of the console. Frozen; imports nothing of ours.

Names that are keys are String(190): MySQL's index limit with four-byte characters (767 bytes in old row formats).
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.engine import Connection

metadata = MetaData()

Table(
    "setting",
    metadata,
    Column("name", String(190), primary_key=True),
    Column("value", Text, nullable=False),
    Column("changed_at", Float(53), nullable=False),
)

node = Table(
    "node_seen",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", String(190), nullable=False),
    Column("cluster_uuid", String(64), nullable=False),
    Column("node_uuid", String(64), nullable=False),
    Column("server_uuid", String(64), nullable=False),
    Column("seqno", BigInteger),
    Column("seqno_at", Float(53)),
    Column("first_seen", Float(53), nullable=False),
    Column("last_seen", Float(53), nullable=False),
)
Index("node_seen_identity", node.c.host, node.c.cluster_uuid, node.c.node_uuid, node.c.server_uuid, unique=True)

event = Table(
    "event_log",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("until", Float(53)),
    Column("kind", String(32), nullable=False),
    Column("text", Text, nullable=False),
    Column("health", String(16), nullable=False),
    Column("cluster_id", String(190), nullable=False),
    Column("node_id", String(190), nullable=False),
    Column("spans", Boolean, nullable=False),
    Column("span_key", String(190), nullable=False),
)
Index("event_log_at", event.c.at)
Index("event_log_span", event.c.span_key)

Table(
    "inventory_used",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float(53), nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("hosts", Integer, nullable=False),
)

Table(
    "console_run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", Float(53), nullable=False),
    Column("alive_at", Float(53), nullable=False),
    Column("ended_at", Float(53)),
    Column("clean", Boolean, nullable=False),
    Column("told_by", Integer),
    Column("machine", String(190), nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", String(64), nullable=False),
)


def upgrade(connection: Connection) -> None:
    """Make the tables."""
    metadata.create_all(connection)
