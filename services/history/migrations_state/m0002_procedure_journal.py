"""Version 2: the write-ahead journal of procedure runs. Frozen; imports nothing of ours.

`data` is JSON text. Text(16000000) becomes MEDIUMTEXT or LONGTEXT on MySQL and MariaDB, whose TEXT ends at 64 KiB
(MySQL manual, "The BLOB and TEXT Types"); PostgreSQL and SQLite know no length there.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, String, Table, Text
from sqlalchemy.engine import Connection

metadata = MetaData()

Table(
    "procedure_run",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("begun_at", Float(53), nullable=False),
    Column("procedure", String(190), nullable=False),
    Column("cluster_id", String(190), nullable=False),
    Column("title", Text, nullable=False),
)

Table(
    "procedure_entry",
    metadata,
    Column("run_id", Integer, primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", Float(53), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("step_id", String(190), nullable=False),
    Column("data", Text(16_000_000).with_variant(Text(), "sqlite", "postgresql"), nullable=False),
)


def upgrade(connection: Connection) -> None:
    """Make the tables."""
    metadata.create_all(connection)
