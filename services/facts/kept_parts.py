"""What one look did not read is kept from the last one, as old as it is."""

from __future__ import annotations

from dataclasses import replace

from services.connections.ports import Rows
from services.facts.galera.status import parse_members
from services.facts.model import KEPT_S, GaleraFacts, GaleraMember, ReplicationFacts


def kept_members(old: GaleraFacts | None, new: GaleraFacts, rows: Rows | None) -> tuple[GaleraMember, ...]:
    """Return the member list: the one just read, else the last one while the view it came from still holds."""
    if rows is not None:
        return parse_members(rows)
    same_view = old is not None and (old.conf_id, old.state_uuid) == (new.conf_id, new.state_uuid)
    return old.members if old is not None and same_view else ()


def kept_replication(
    old: ReplicationFacts | None,
    new: ReplicationFacts | None,
    *,
    channels_read: bool,
    replicas_read: bool,
    moments: tuple[float, float | None],
) -> ReplicationFacts | None:
    """Return replication after one look: what was not read this time is kept with the moment it was read at.

    Who replicates from here is forgotten when nobody has told it for too long; the channels stay, as old as they are.
    """
    at, variables_at = moments
    old = old or ReplicationFacts()
    if old.replicas_at is not None and at - old.replicas_at > KEPT_S:
        old = replace(old, replicas=(), replicas_at=None)
    if new is None:
        return old if old != ReplicationFacts() else None
    return replace(
        new,
        channels=new.channels if channels_read else old.channels,
        replicas=new.replicas if replicas_read or new.replicas else old.replicas,
        heartbeat_lag_s=old.heartbeat_lag_s,
        at=at if channels_read else old.at,
        replicas_at=at if replicas_read or new.replicas else old.replicas_at,
        gtid_at=variables_at if variables_at is not None else old.gtid_at,
    )
