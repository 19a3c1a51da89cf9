"""Version 4: every position ever read of a node, and two Primary Components at once. Frozen; imports nothing of ours.

What version 1 kept of nodes (node_seen, one row an incarnation) is the first thing known of positions.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text, insert, select
from sqlalchemy.engine import Connection

metadata = MetaData()

position = Table(
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
Index("position_seen_key", position.c.host, position.c.cluster_uuid, position.c.source, unique=True)

Table(
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

_old = MetaData()
node = Table(
    "node_seen",
    _old,
    Column("id", Integer, primary_key=True),
    Column("host", String(190)),
    Column("cluster_uuid", String(64)),
    Column("seqno", BigInteger),
    Column("seqno_at", Float(53)),
)


def upgrade(connection: Connection) -> None:
    """Make the tables; what is known of nodes becomes their first positions."""
    metadata.create_all(connection)
    known: dict[tuple[str, str], list[tuple[float, int]]] = {}
    wanted = select(node).where(node.c.cluster_uuid != "", node.c.seqno.is_not(None), node.c.seqno_at.is_not(None))
    for row in connection.execute(wanted):
        known.setdefault((row.host, row.cluster_uuid), []).append((row.seqno_at, row.seqno))
    for (host, cluster), seen in known.items():
        at, seqno = max(seen)
        top_at, top = max(seen, key=lambda one: (one[1], one[0]))
        values = {"host": host, "cluster_uuid": cluster, "source": "running", "seqno": seqno, "at": at}
        by = {"read_by": "watch", "top_read_by": "watch"}
        connection.execute(insert(position).values(top_seqno=top, top_at=top_at, **values, **by))
