"""What a procedure knows before it plans: read over Observer sessions only, frozen, secrets masked at parsing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from services.discovery.model import ClusterSnapshot
from services.facts.model import NodeFacts, Problem
from services.procedures.plan.part import Part
from services.types import Reach

AnyPart = TypeVar("AnyPart", bound=Part)


CLAIM = "grastate"
"""The source of a position that is a file's word alone, no server's, log's or recovery's."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What our own history knows of this host's position in a cluster, whoever read it and from wherever.

    The highest may be from before a bootstrap that left it behind, or from a side that lost; the newest may be lower
    than what the node has. Neither is a position of now.

    Attributes:
        seqno, at: the newest position read, and when; None: it was seen as a member, its position was never read.
        source: 'running', 'grastate', 'recovered', 'binlog'; by: 'watch', 'topology', 'check', 'plan', 'run 47'.
        top, top_at, top_source, top_by: the same of the highest position ever read.
        shown: the highest that a server, its recovery or its binary log told; None: none of them did, or it is `top`.
    """

    cluster_uuid: str
    seqno: int | None
    at: float | None
    source: str = ""
    by: str = ""
    top: int | None = None
    top_at: float | None = None
    top_source: str = ""
    top_by: str = ""
    shown: int | None = None

    @property
    def origin(self) -> str:
        """Return from where the newest position is, and by whom: 'running, watch'."""
        return ", ".join(word for word in (self.source, self.by) if word)

    @property
    def highest(self) -> int | None:
        """Return the highest seqno ever read, None where none was."""
        return max((s for s in (self.top, self.seqno) if s is not None), default=None)

    @property
    def proven(self) -> int | None:
        """Return the highest that is more than the word of a grastate.dat: whoever may write that file may forge it."""
        read = ((self.seqno, self.source), (self.top, self.top_source), (self.shown, ""))
        return max((seqno for seqno, source in read if seqno is not None and source != CLAIM), default=None)

    @property
    def claimed(self) -> int | None:
        """Return the highest that only a grastate.dat told, None where more than that has reached it."""
        highest, proven = self.highest, self.proven
        return highest if highest is not None and (proven is None or highest > proven) else None


@dataclass(frozen=True, slots=True)
class TwoPrimaries:
    """Two Primary Components of one state UUID, once seen at the same time: it stands until a person settles it.

    Attributes:
        sides: the hosts of each component; at: when it was seen (UTC epoch seconds); evidence: by what, one sentence.
    """

    cluster_uuid: str
    at: float
    sides: tuple[tuple[str, ...], ...]
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whom evidence names as a member of the cluster, and whom nobody asked: what it has is not known.

    Attributes:
        name: what a person calls it by: its node's name, else an address, else a UUID.
        names, addresses, uuids: all that it goes by; words of servers, files and logs, and no permission to ask.
        by: what names it: 'gvwstate.dat of s2'.
        retired: a person wrote into the inventory that it left for good.
        listening: where a member sees a listener of it, one sentence each: it is not off.
        maybe: hosts of which one may be it, by an earlier start: of a UUID alone no evidence tells whose it was.
    """

    name: str
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    retired: bool = False
    listening: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """Return its name with what tells it from others: 's3 (10.0.0.43)'."""
        rest = [one for one in (*self.names, *self.addresses, *self.uuids[:1]) if one != self.name]
        return f"{self.name} ({', '.join(rest[:3])})" if rest else self.name


@dataclass(frozen=True, slots=True)
class LockSeen:
    """A lock of some console on this host."""

    owner: str
    run_id: str
    since: float | None
    procedure: str
    cluster_id: str


@dataclass(frozen=True, slots=True)
class HostFacts:
    """One host as a procedure sees it: what every procedure knows of it, and the parts that this one asked for.

    `host[Unit].result` is a field of a part; of one that was not read it is that field's 'not known'.

    Attributes:
        node: what discovery read of it; node_name: wsrep_node_name, '' = not known.
        server_up: its server runs, or answers; is_root: the login is root or may become it; None = not known.
        remembered: its positions by our own history; lock: of some console on this cluster.
        parts: at most one of a kind (see plan/part.py); problems: what could not be read and why.
    """

    host: str
    address: str = ""
    node: NodeFacts | None = None
    node_name: str = ""
    server_up: bool | None = None
    is_root: bool | None = None
    remembered: tuple[Remembered, ...] = ()
    lock: LockSeen | None = None
    parts: tuple[Part, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __getitem__(self, kind: type[AnyPart]) -> AnyPart:
        """Return a part; the empty one, which knows nothing, where it was not asked for or could not be read."""
        return next((part for part in self.parts if isinstance(part, kind)), None) or kind()

    def with_part(self, part: Part) -> HostFacts:
        """Return the same host with this part, in the place of an older one of its kind."""
        others = tuple(one for one in self.parts if type(one) is not type(part))
        return replace(self, parts=(*others, part))


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything gathered for one procedure on one cluster.

    Attributes:
        at: UTC epoch seconds when gathering ended.
        cluster: the snapshot discovery gave, None when no member answers.
        members: hosts that are, or by our history and inventory were, members; candidates: other inventory hosts.
        hosts: facts of every host gathered, members first.
        kept: values that the run kept so far (for a continued plan).
    """

    at: float
    cluster_id: str
    cluster_name: str
    cluster: ClusterSnapshot | None = None
    expected: int | None = None
    members: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    hosts: tuple[HostFacts, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    two_primaries: tuple[TwoPrimaries, ...] = ()  # of this cluster, by our own history, not settled yet
    named: tuple[Named, ...] = ()  # members by some evidence that are no hosts here (plan/pasts/named.py)

    def addresses(self) -> dict[str, str]:
        """Return host -> the address at which it was read."""
        return {one.host: one.address for one in self.hosts}

    def host(self, name: str) -> HostFacts:
        """Return a host's facts; an empty record for one that was not gathered."""
        return next((h for h in self.hosts if h.host == name), HostFacts(host=name))

    def value(self, name: str) -> str | None:
        """Return a kept value."""
        return next((value for key, value in self.kept if key == name), None)


def nobody_answered(facts: Facts) -> bool:
    """Return whether hosts were asked and none gave an answer, over any way."""
    return bool(facts.hosts) and not any(_answered(host) for host in facts.hosts)


def _answered(host: HostFacts) -> bool:
    reached = host.node is not None and host.node.reach not in {Reach.NONE, Reach.NOT_TRIED}
    return reached or host.is_root is not None or host.server_up is not None
