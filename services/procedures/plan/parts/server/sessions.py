"""Who works on a server, and for how long its longest transaction is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import statements
from services.facts.reading import real
from services.facts.server.sessions import parse_sessions
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Sessions(Part):
    """Read from the process list and INNODB_TRX, over SQL. None = not known.

    Attributes:
        clients: how many, without the server's own and the console's; replicas: Binlog Dump sessions.
        longest_transaction_s: seconds.
        ddl: kinds of DDL and backup statements that run, cut, without values.
    """

    way: ClassVar[Way] = Way.SQL

    clients: int | None = None
    replicas: int | None = None
    longest_transaction_s: float | None = None
    ddl: tuple[str, ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        own = reading.one("processes", statements.OWN_USER)
        rows = reading.query("processes", statements.SESSIONS)
        if rows is None or own is None:
            return None
        found = parse_sessions(rows.rows, own)
        longest = reading.one("transactions", statements.LONGEST_TRANSACTION)
        return cls(
            clients=len(found.clients),
            replicas=found.replicas,
            longest_transaction_s=None if longest is None else real(longest or "0"),
            ddl=found.ddl,
        )
