"""Version 5: the stretches before and after a change that a person marked. Frozen; imports nothing of ours."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, MetaData, String, Table
from sqlalchemy.engine import Connection

metadata = MetaData()

Table(
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


def upgrade(connection: Connection) -> None:
    """Make the table."""
    metadata.create_all(connection)
