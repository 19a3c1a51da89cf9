"""Every position ever read of a node, whoever read it: the newest and the highest of each source. Rows, not judgement.

When a whole cluster has crashed, what was once read is evidence: a node that recovers less than was ever seen of it
has lost something, or has another history by now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, and_, desc, insert, select, update
from sqlalchemy.exc import IntegrityError

from services.errors import StoreError
from services.history.state import schema
from services.history.state.file import speaking, writing

_LONGEST_NAME = 190


@dataclass(frozen=True, slots=True)
class PositionSeen:
    """A position that somebody read once.

    Attributes:
        cluster_uuid: the state UUID; seqno: 0 or more (an unknown one, -1, is no position).
        source: where it stood: 'running' (the server's status), 'grastate' (grastate.dat), 'recovered'
            (--wsrep-recover), 'binlog' (the last Xid of its binary log).
        read_by: 'watch', 'topology', 'check', 'plan', or 'run 47'.
    """

    host: str
    cluster_uuid: str
    source: str
    seqno: int
    at: float
    read_by: str


@dataclass(frozen=True, slots=True)
class PositionMemory:
    """What is remembered of one (host, cluster, source): the newest position read, and the highest ever read."""

    host: str
    cluster_uuid: str
    source: str
    seqno: int
    at: float
    read_by: str
    top_seqno: int
    top_at: float
    top_read_by: str


def write_positions(engine: Engine, name: str, seen: Iterable[PositionSeen]) -> None:
    """Keep positions; those without a cluster or with a seqno below 0 are none. Raises StoreError."""
    kept = [one for one in seen if one.cluster_uuid and one.seqno >= 0]
    if not kept:
        return
    try:
        _write_once(engine, name, kept)
    except StoreError as problem:
        # Two consoles on one server's database may both find no row and insert: the second finds the row now.
        if not isinstance(problem.__cause__, IntegrityError):
            raise
        _write_once(engine, name, kept)


def read_positions(engine: Engine, name: str, host: str) -> tuple[PositionMemory, ...]:
    """Return what is remembered of a host, the newest first. Raises StoreError."""
    rows = schema.position_seen
    with speaking(name), engine.connect() as connection:
        found = connection.execute(select(rows).where(rows.c.host == host).order_by(desc(rows.c.at), rows.c.source))
        return tuple(_memory(row) for row in found)


def _write_once(engine: Engine, name: str, seen: list[PositionSeen]) -> None:
    with writing(engine, name) as connection:
        for one in seen:
            _keep(connection, one)


def _keep(connection: Connection, one: PositionSeen) -> None:
    rows, by = schema.position_seen, one.read_by[:_LONGEST_NAME]
    same = and_(rows.c.host == one.host, rows.c.cluster_uuid == one.cluster_uuid, rows.c.source == one.source)
    if connection.execute(select(rows.c.id).where(same)).first() is None:
        newest = {"seqno": one.seqno, "at": one.at, "read_by": by}
        key = {"host": one.host, "cluster_uuid": one.cluster_uuid, "source": one.source}
        top = {"top_seqno": one.seqno, "top_at": one.at, "top_read_by": by}
        connection.execute(insert(rows).values(**key, **newest, **top))
        return
    # Each by a condition of its own: a slow reader never puts an older position over a newer one, or a lower on top.
    newer = and_(same, rows.c.at <= one.at)
    connection.execute(update(rows).where(newer).values(seqno=one.seqno, at=one.at, read_by=by))
    higher = and_(same, rows.c.top_seqno < one.seqno)
    connection.execute(update(rows).where(higher).values(top_seqno=one.seqno, top_at=one.at, top_read_by=by))


def _memory(row: Any) -> PositionMemory:
    return PositionMemory(
        row.host, row.cluster_uuid, row.source, row.seqno, row.at, row.read_by,
        row.top_seqno, row.top_at, row.top_read_by,
    )  # fmt: skip
