"""What the observing account may read of a server's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.ports import text
from services.connections.reads import statements
from services.facts.server.read_rights import ReadRights, parse_read_rights
from services.procedures.plan.part import Part, Reading, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Reader(Part):
    """Read with SHOW GRANTS, as the observing account itself.

    Attributes:
        rights: what they say; None = they were not read.
    """

    way: ClassVar[Way] = Way.SQL

    rights: ReadRights | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        del host
        rows = reading.query("reader", statements.GRANTS)
        return cls(parse_read_rights(tuple(text(row[0]) for row in rows.rows if row))) if rows is not None else None
