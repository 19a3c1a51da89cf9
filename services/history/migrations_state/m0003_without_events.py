"""Version 3: without two tables that no released program ever wrote. Frozen; imports nothing of ours.

Events live in the history of samples; an inventory's change is seen where its file is read.
"""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table
from sqlalchemy.engine import Connection

metadata = MetaData()
for name in ("event_log", "inventory_used"):
    Table(name, metadata, Column("id", Integer, primary_key=True))


def upgrade(connection: Connection) -> None:
    """Drop the tables."""
    metadata.drop_all(connection)
