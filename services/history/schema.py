"""The tables of a history file, as SQLAlchemy Core knows them. The files themselves are made by migrations/.

A test compares these definitions with a migrated file, so that the two can't drift apart.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, Table, Text, text

metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

server = Table("server", metadata, Column("id", Integer, primary_key=True), Column("name", Text, nullable=False))
Index("server_name", server.c.name, unique=True)

metric = Table("metric", metadata, Column("id", Integer, primary_key=True), Column("key", Text, nullable=False))
Index("metric_key", metric.c.key, unique=True)

epoch = Table("epoch", metadata, Column("id", Integer, primary_key=True), Column("text", Text, nullable=False))
Index("epoch_text", epoch.c.text, unique=True)

journal = Table(
    "journal",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("server", Integer, nullable=False),
    Column("chunk", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("shift", Float, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("whole", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

block = Table(
    "block",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("server", Integer, nullable=False),
    Column("start", Float, nullable=False),
    Column("stop", Float, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("minutes", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
Index("block_place", block.c.server, block.c.start)

rollup = Table(
    "rollup",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("server", Integer, nullable=False),
    Column("metric", Integer, nullable=False),
    Column("day", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
Index("rollup_place", rollup.c.server, rollup.c.metric, rollup.c.day, unique=True)

still = Table(
    "still",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("server", Integer, nullable=False),
    Column("hour", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
Index("still_place", still.c.server, still.c.hour, unique=True)

snapshot = Table(
    "snapshot",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("base", Integer),
    Column("data", LargeBinary, nullable=False),
)
Index("snapshot_place", snapshot.c.at)

event = Table(
    "event",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("stop", Float),
    Column("spans", Integer, nullable=False),
    Column("key", Text, nullable=False),
    Column("data", Text, nullable=False),
)
Index("event_place", event.c.at)
Index("event_key", event.c.key, sqlite_where=text("key != ''"))
