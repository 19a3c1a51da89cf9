"""The tables of the state as this version knows them. They are made by migrations_state/; a test compares the two."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

version = Table("state_version", metadata, Column("version", Integer, primary_key=True, autoincrement=False))
"""One row: the number of the last migration. Made before the first one."""

setting = Table(
    "setting",
    metadata,
    Column("name", String(190), primary_key=True),
    Column("value", Text, nullable=False),
    Column("changed_at", Float(53), nullable=False),
)

node_seen = Table(
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
Index(
    "node_seen_identity",
    node_seen.c.host,
    node_seen.c.cluster_uuid,
    node_seen.c.node_uuid,
    node_seen.c.server_uuid,
    unique=True,
)

console_run = Table(
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

procedure_run = Table(
    "procedure_run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("begun_at", Float(53), nullable=False),
    Column("procedure", String(190), nullable=False),
    Column("cluster_id", String(190), nullable=False),
    Column("title", Text, nullable=False),
)

procedure_entry = Table(
    "procedure_entry",
    metadata,
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", Float(53), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("step_id", String(190), nullable=False),
    Column("data", Text(16_000_000).with_variant(Text(), "sqlite", "postgresql"), nullable=False),
)

position_seen = Table(
    "position_seen",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("host", String(190), nullable=False),
    Column("cluster_uuid", String(64), nullable=False),
    Column("source", String(32), nullable=False),
    Column("seqno", BigInteger, nullable=False),
    Column("at", Float(53), nullable=False),
    Column("read_by", String(190), nullable=False),
    Column("top_seqno", BigInteger, nullable=False),
    Column("top_at", Float(53), nullable=False),
    Column("top_read_by", String(190), nullable=False),
)
"""One row a (host, cluster, source): the newest position read, and the highest ever. It never grows by polls."""
Index("position_seen_key", position_seen.c.host, position_seen.c.cluster_uuid, position_seen.c.source, unique=True)

two_primaries = Table(
    "two_primaries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("cluster_uuid", String(64), nullable=False, index=True),
    Column("cluster_name", String(190), nullable=False),
    Column("sides", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("first_seen", Float(53), nullable=False),
    Column("last_seen", Float(53), nullable=False),
    Column("seen_by", String(190), nullable=False),
    Column("settled_at", Float(53)),
    Column("settled_by", String(190), nullable=False),
    Column("settled_words", Text, nullable=False),
)

change_mark = Table(
    "change_mark",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("about", String(64), nullable=False, index=True),
    Column("name", String(190), nullable=False),
    Column("before_start", Float(53), nullable=False),
    Column("before_end", Float(53), nullable=False),
    Column("after_start", Float(53), nullable=False),
    Column("after_end", Float(53), nullable=False),
    Column("made_at", Float(53), nullable=False),
    Column("made_by", String(190), nullable=False),
)
"""`about`: a mark of the inventory's file, or of the recording, whose samples the stretches are of."""
