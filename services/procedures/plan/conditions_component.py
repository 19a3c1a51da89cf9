"""What shows that a member has no Primary Component of its own beside the others, as data (see conditions.py)."""

from __future__ import annotations

from dataclasses import dataclass

TWO_PRIMARIES = "two-primaries"
"""The name under which a run keeps that it saw two Primary Components of its cluster."""

UNEXPECTED = "unexpected-member"
"""The name under which a run keeps that it saw a member which its plan does not count."""


@dataclass(frozen=True, slots=True)
class NothingWritten:
    """No write set was committed on the node since it was bootstrapped at the seqno `since`.

    Each change of its component takes a seqno too, and is counted by wsrep_cluster_conf_id from 1 on (Galera 4).
    """

    host: str
    since: int


@dataclass(frozen=True, slots=True)
class NotApart:
    """The node is no Primary Component of its own beside these hosts; a server that does not answer is none.

    Where it is one, the evidence is kept as a value of the run (TWO_PRIMARIES).
    """

    host: str
    hosts: tuple[str, ...]
    state_uuid: str
