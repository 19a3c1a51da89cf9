"""The Primary views that a node went through, as its own error log tells them. Pure parsers and the read.

Since Galera 4 every change of a Primary Component is an event of the history itself: it has a seqno, it is sent by IST
like a write set, and each node prints it as a block 'View:' with the state UUID, that seqno and the members' UUIDs
(wsrep-lib, src/view.cpp; read so on the lab, MariaDB 10.11.18 with Galera 26.4.23). So two
nodes of one past print the same block for the same seqno, and after a fork they don't. Galera 3 prints no such block.

What stands where a client's words can stand is left out (connections/programs/read_programs.py), and it may have been a
view: what is kept begins after the newest such place, so that a view that is missing makes no past and no fork.

An SST, a state of another past in the data folder and a start from an older state cut the list: what is left of it is
the past of the data, not of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from services.connections.programs.read_programs import LEFT_OUT, START_LEFT_OUT
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.galera.log_peers import MET
from services.facts.logs.error_log import split_line
from services.facts.reading import words

LOG_LIMIT_S = 30.0
"""The program ends itself before (timeout 20)."""
MOST_VIEWS = 400
_MOST_LINE = 1_000

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"\s*id: ({_UUID}):(-?[0-9]{{1,18}})\s*$")
_STATUS = re.compile(r"\s*status: (\S+)\s*$")
_MEMBER = re.compile(rf"\s*\d+: ({_UUID}), (.*)$")
_COMPONENT = re.compile(r"New COMPONENT: primary = yes, bootstrap = (yes|no), my_idx = \d+, memb_num = (\d{1,6})")
_READ = re.compile(r"read (\d{1,18}) (\d{1,18})")
_FROM_STORAGE = re.compile(r"Recovered view from SST:\s*$")
_STATE_AT = re.compile(rf"SST received: ({_UUID}):(-?[0-9]{{1,18}})\s*$")
_COPY_COMES = re.compile(r"Prepared IST receiver for 0-\d+")


@dataclass(frozen=True, slots=True)
class PrimaryView:
    """One Primary Component.

    Attributes:
        seqno: the place of the change itself in the history: the last write set of the view before has a lower one.
        members: (UUID of this start of the node, wsrep_node_name), sorted by UUID.
        by_hand: it was made Primary by a person ('bootstrap = yes'), not by a majority.
    """

    state_uuid: str
    seqno: int
    members: tuple[tuple[str, str], ...]
    by_hand: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the members' node names, sorted."""
        return tuple(sorted(name for _, name in self.members))

    def is_same(self, other: PrimaryView) -> bool:
        """Return whether both nodes speak of one event."""
        ours, theirs = ({uuid for uuid, _ in view.members} for view in (self, other))
        return (self.state_uuid, self.seqno, ours) == (other.state_uuid, other.seqno, theirs)


def views_read(unit: str, log: str) -> CommandRead:
    """Return the read of the lines about views: of the unit's journal, or of a log file where `log` names one.

    Newest first, so that a log that is longer than the read's limits loses its oldest part.
    """
    return commands.VIEWS_OF_FILE.read(log, sudo=True) if log else commands.VIEWS_OF_JOURNAL.read(unit, sudo=True)


def how_far(lines_newest_first: Iterable[str]) -> tuple[int, int] | None:
    """Return (bytes, refused logins in them) that the read came through before it ended; None where it doesn't say."""
    told = [found for line in lines_newest_first if (found := _READ.fullmatch(line))]
    return (int(told[-1][1]), int(told[-1][2])) if told else None


def parse_views(lines_newest_first: Iterable[str]) -> tuple[PrimaryView, ...]:
    """Return the views of the node's past, oldest first, at most the newest 400; what can't be read is skipped."""
    log = _Lineage()
    for raw in reversed(tuple(lines_newest_first)):
        if raw in {LEFT_OUT, START_LEFT_OUT}:
            log = _Lineage()
            continue
        if raw.startswith(MET):  # another thread's word may stand within a block
            continue
        log.take(split_line(raw[:_MOST_LINE], 0.0)[1])
    log.close()
    return tuple(log.views[-MOST_VIEWS:])


@dataclass(slots=True)
class _Lineage:
    """The views so far, and the block that is being read."""

    views: list[PrimaryView] = field(default_factory=list)
    state_uuid: str = ""
    seqno: int = -1
    status: str = ""
    members: list[tuple[str, str]] = field(default_factory=list)
    from_storage: bool = False
    by_hand_of: int = 0  # members of the component that a person made Primary, 0: none

    def take(self, message: str) -> None:
        """Take one line's message."""
        if found := _MEMBER.match(message):
            if self.state_uuid:
                self.members.append((found[1], words(found[2], 255)))
            return
        if found := _STATUS.match(message):
            self.status = found[1]
            return
        storage = self.from_storage
        self.close()
        if found := _ID.match(message):
            self.state_uuid, self.seqno, self.from_storage = found[1], int(found[2]), storage
        elif _FROM_STORAGE.search(message):
            self.from_storage = True
        elif found := _STATE_AT.search(message):
            self.views = [v for v in self.views if v.state_uuid == found[1] and v.seqno <= int(found[2])]
        elif _COPY_COMES.search(message):
            self.views = []
        elif found := _COMPONENT.search(message):
            self.by_hand_of = int(found[2]) if found[1] == "yes" else 0

    def close(self) -> None:
        """End the block: a Primary view becomes the newest; what stood at its seqno or above was another past."""
        uuid, members, primary = self.state_uuid, tuple(sorted(self.members)), self.status == "primary"
        self.state_uuid, self.members, self.status = "", [], ""
        storage, self.from_storage = self.from_storage, False
        if not uuid or not primary or not members or self.seqno < 0:
            return
        by_hand = not storage and self.by_hand_of == len(members)
        view = PrimaryView(uuid, self.seqno, members, by_hand)
        if storage:
            self._stored(view)
            return
        if by_hand:
            self.by_hand_of = 0
        self.views = [v for v in self.views if v.state_uuid == uuid and v.seqno < view.seqno]
        self.views.append(view)
        del self.views[:-MOST_VIEWS]

    def _stored(self, view: PrimaryView) -> None:
        """Hold what the data folder says of its last view against the log: another one is another past."""
        if not any(view.is_same(known) for known in self.views):
            self.views = [view]
