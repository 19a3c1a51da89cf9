"""What a node's own traces tell of its past: its log's views, its binary log's newest transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts.binlog.marks import Mark
from services.facts.galera.log_peers import LogPeer
from services.facts.galera.other_server import NotRead, OtherServer
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.ran_alone import RanAlone
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


Other = OtherServer | RanAlone | NotRead | None
"""What tells of a server outside the cluster on a stopped node's data, or that it could not be read."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a node's own traces tell of its past (see plan/pasts/histories.py).

    Attributes:
        views: the Primary Components it was in, by its error log, oldest first.
        marks: the newest transactions of its binary log, oldest first.
        since: host -> its marks from the first of that host's newest ones on: to be laid beside them.
        at_turn: host -> its marks from where that host's Xids step back on (own_transactions.py).
        shared: host -> the last Xid that both binary logs have alike, where it was searched for.
        index: path of the binary log's index file, '' where there is no binary log, or it was not found.
        log_told: whether its newest marks were read, or no binary log is there: no marks are no transactions then.
        partial: its binary log has only what was written on the node itself (log_slave_updates is off).
        other_server: one with another log, or without the cluster, on its data, or that no answer came; None: nothing
            that was read tells of one.
        unread: what could not be read and why, one sentence each.
        peers: whom its provider met, by its error log.
    """

    views: tuple[PrimaryView, ...] = ()
    marks: tuple[Mark, ...] = ()
    since: tuple[tuple[str, tuple[Mark, ...]], ...] = ()
    at_turn: tuple[tuple[str, tuple[Mark, ...]], ...] = ()
    shared: tuple[tuple[str, int], ...] = ()
    index: str = ""
    log_told: bool = False
    partial: bool = False
    other_server: Other = None
    unread: tuple[str, ...] = ()
    peers: tuple[LogPeer, ...] = ()


@dataclass(frozen=True, slots=True)
class Traces(Part):
    """Read by looking/histories.py, of several hosts at once: what one tells depends on what the other has.

    Attributes:
        trace: None: not read, because nothing is compared with it.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (DataFolder, Options, Unit, Variables)

    trace: Trace | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """Return None: there is nothing to be read of one host alone."""
        del host, reading
        return None
