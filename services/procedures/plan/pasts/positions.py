"""The positions that a run had servers recover: kept by the run under a name for each host. Pure."""

from __future__ import annotations

from services.facts.galera.state_files import NOT_RECOVERED, ZERO_UUID, position_of
from services.procedures.plan.host_facts import Facts


def kept_name(host: str, prefix: str = "") -> str:
    """Return the name under which a run keeps a host's recovered position."""
    return f"{prefix}recovered-{host}"


def stood_name(stopped_at: str) -> str:
    """Return the name under which a run keeps what the data were like when it stopped a node (PositionMark).

    Args:
        stopped_at: the name under which it kept the node's position.
    """
    return f"stood-{stopped_at}"


def mark_name(host: str, prefix: str = "") -> str:
    """Return the name under which a run keeps what a host's data looked like when its position was recovered."""
    return f"{prefix}looked-{host}"


def tail_name(host: str) -> str:
    """Return the name under which a run keeps the last Xid of a host's binary log."""
    return f"binlog-{host}"


def not_recovered(facts: Facts, host: str) -> str:
    """Return why this run could not have a server recover its position; '' where it could, or did not try."""
    words = facts.value(kept_name(host)) or ""
    return words.removeprefix(NOT_RECOVERED) if words.startswith(NOT_RECOVERED) else ""


def recovered_position(facts: Facts, host: str) -> tuple[str, int | None] | None:
    """Return (uuid, seqno) that this run had a server recover; ('', None) for none usable; None: it told nothing."""
    told = facts.value(kept_name(host))
    if told is None or told.startswith(NOT_RECOVERED):
        return None
    found = position_of(told)
    return ("", None) if found is None or found[0] == ZERO_UUID or found[1] < 0 else found
