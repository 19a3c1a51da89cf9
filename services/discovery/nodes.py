"""A node while the snapshot is being made: its identity, its facts, and how fresh each road to it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.discovery.model import NodeView
from services.facts.model import GaleraFacts, MachineFacts, NodeFacts, ReplicationFacts, ServerFacts
from services.i18n import tr
from services.types import Flavour, Reach

STALE_S = 10.0
"""Seconds without an answer after which a road no longer counts as fresh, whatever was last said of it."""
MOST_HISTORY = 32
"""Ids that one node is known to have had: each restart gives another in its group."""


@dataclass(slots=True)
class Node:
    """One node in the making. `placeholder` nodes are known only by what others say; they have no host."""

    node_id: str
    name: str
    facts: NodeFacts | None
    at: float
    previous: NodeView | None = None
    history: tuple[str, ...] = ()
    cluster: str = ""
    component: str = ""
    seen_by: tuple[str, ...] = ()
    address: str = ""
    arbitrator: bool = False
    behind: bool = False  # a plain server that replication hangs on a Galera cluster, or that is written beside it
    spare: bool = False  # written into a cluster, runs no server, and nobody ever heard of one there
    addresses: frozenset[str] = field(default_factory=frozenset)
    stale_s: float = STALE_S  # so long an answer counts
    segment: int | None = None  # of its group; the last known one while it does not answer

    @property
    def host(self) -> str:
        """Return the host's key in the facts, '' for a placeholder."""
        return self.facts.host if self.facts is not None else ""

    @property
    def only_named(self) -> bool:
        """Return whether it is an instance that the inventory names and that nobody reads."""
        return self.facts is not None and bool(self.facts.kind)

    @property
    def server(self) -> ServerFacts | None:
        """Return the server's identity, possibly old."""
        return self.facts.server if self.facts is not None else None

    @property
    def galera(self) -> GaleraFacts | None:
        """Return the node's own view of its group, possibly old."""
        return self.facts.galera if self.facts is not None else None

    @property
    def replication(self) -> ReplicationFacts | None:
        """Return the asynchronous channels, possibly old."""
        return self.facts.replication if self.facts is not None else None

    @property
    def machine(self) -> MachineFacts | None:
        """Return the host's facts, possibly old."""
        return self.facts.machine if self.facts is not None else None

    @property
    def reach(self) -> Reach:
        """Return how far the console got."""
        return self.facts.reach if self.facts is not None else Reach.NOT_TRIED

    @property
    def port(self) -> int | None:
        """Return the server's port, None where it tells none that can be one."""
        return self.server.port if self.server is not None else 3306

    @property
    def asked_port(self) -> int | None:
        """Return the port of its host at which the console asks it, None where it asks at none."""
        return self.facts.asked_port if self.facts is not None else None

    @property
    def sql_fresh(self) -> bool:
        """Return whether SQL answers now."""
        return self.facts is not None and self.reach in {Reach.FULL, Reach.SQL_ONLY} and self._within(self.facts.sql_at)

    @property
    def ssh_fresh(self) -> bool:
        """Return whether SSH answers now."""
        return self.facts is not None and self.reach in {Reach.FULL, Reach.SSH_ONLY} and self._within(self.facts.ssh_at)

    def _within(self, moment: float | None) -> bool:
        return moment is not None and abs(self.at - moment) <= self.stale_s

    @property
    def speaks(self) -> str:
        """Return what its server is asked over, for sentences."""
        return self.facts.speaks if self.facts is not None else "SQL"

    @property
    def daemon(self) -> str:
        """Return what the server's program is called."""
        if self.facts is not None and self.facts.mongo is not None:
            return "mongos" if self.facts.mongo.server.role == "router" else "mongod"
        flavour = self.server.flavour if self.server is not None else Flavour.UNKNOWN
        unit = self.machine.unit if self.machine is not None else ""
        if flavour is Flavour.MARIADB or (flavour is Flavour.UNKNOWN and unit.startswith("mariadb")):
            return "mariadbd"
        return tr("the database server") if flavour is Flavour.UNKNOWN and not unit else "mysqld"

    def why(self, part: str) -> str:
        """Return the sentence of the problem of a part, '' when there is none."""
        problems = self.facts.problems if self.facts is not None else ()
        return next((p.sentence for p in problems if p.part == part), "")

    def why_bare(self, part: str) -> str:
        """Return the same without what changes while one waits (when the next attempt is due)."""
        problems = self.facts.problems if self.facts is not None else ()
        return next((p.bare or p.sentence for p in problems if p.part == part), "")

    def code(self, part: str) -> str:
        """Return the code of the problem of a part."""
        problems = self.facts.problems if self.facts is not None else ()
        return next((p.code for p in problems if p.part == part), "")
