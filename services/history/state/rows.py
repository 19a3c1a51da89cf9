"""The values that go into and come out of the state, and how rows and snapshots become them."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from services.discovery.model import ClusterSnapshot
from services.types import KEEPS_IDENTITY


@dataclass(frozen=True, slots=True)
class NodeSighting:
    """A node as it was seen once.

    Attributes:
        host: inventory or discovered name.
        cluster_uuid: Galera's state uuid, the id of another cluster that keeps its own; '' where there is neither.
        node_uuid: gcomm uuid of this incarnation; server_uuid: MySQL's; '' where there is none.
        seqno: last committed seqno, None when it was not told; at: UTC epoch seconds.
    """

    host: str
    at: float
    cluster_uuid: str = ""
    node_uuid: str = ""
    server_uuid: str = ""
    seqno: int | None = None

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Return what makes two sightings the same incarnation."""
        return (self.host, self.cluster_uuid, self.node_uuid, self.server_uuid)


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """One incarnation of a node, as remembered. `seqno_at`: when that seqno was seen."""

    host: str
    cluster_uuid: str
    node_uuid: str
    server_uuid: str
    seqno: int | None
    seqno_at: float | None
    first_seen: float
    last_seen: float


@dataclass(frozen=True, slots=True)
class UncleanEnd:
    """A run of the console that did not end by itself: when it began, and when it was last known to live."""

    started_at: float
    alive_at: float
    machine: str
    pid: int
    version: str


def sightings(snapshot: ClusterSnapshot) -> tuple[NodeSighting, ...]:
    """Return what a snapshot tells of its nodes' identities; nodes whose server did not answer in it are left out."""
    found: list[NodeSighting] = []
    kept = snapshot.cluster_id if KEEPS_IDENTITY in snapshot.kind.traits else ""
    for node in snapshot.nodes:
        facts = node.facts
        if facts is None or facts.sql_at is None:
            continue
        galera, server = facts.galera, facts.server
        in_it = kept if facts.in_group or facts.mongo is not None else ""  # a replica behind it is not
        uuid = in_it if galera is None else galera.local_state_uuid or galera.state_uuid
        seqno = None if galera is None else galera.last_committed
        found.append(
            NodeSighting(
                host=node.host or facts.host,
                at=facts.sql_at,
                cluster_uuid=uuid,
                node_uuid="" if galera is None else galera.node_uuid,
                server_uuid="" if server is None else server.server_uuid,
                seqno=seqno if seqno is not None and seqno >= 0 else None,
            )
        )
    return tuple(s for s in found if s.cluster_uuid or s.node_uuid or s.server_uuid)


def memory_of(row: Any) -> NodeMemory:
    """Return a row of node_seen as a value."""
    return NodeMemory(
        row.host, row.cluster_uuid, row.node_uuid, row.server_uuid,
        row.seqno, row.seqno_at, row.first_seen, row.last_seen,
    )  # fmt: skip


def process_lives(pid: int) -> bool:
    """Tell whether a process of this number exists; True where that can't be asked (Windows: os.kill would end it)."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
