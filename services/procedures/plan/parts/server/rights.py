"""What the account for changes may do on a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.ports import text
from services.connections.reads import statements
from services.facts.server.sessions import may_change
from services.procedures.plan.part import Part, Reading, Turn, Way

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_NO_LOGIN = frozenset({"auth-failed", "secret-missing"})


@dataclass(frozen=True, slots=True)
class Rights(Part):
    """Read with SHOW GRANTS, as the account for changes where the inventory names one.

    Attributes:
        may_change: it has the rights for SET GLOBAL; None = not known; evidence: by what, one phrase.
    """

    way: ClassVar[Way] = Way.ANY
    turn: ClassVar[Turn] = Turn.RIGHTS

    may_change: bool | None = None
    evidence: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part. Without an account for changes they go by the observer's own, else by root over the socket."""
        operator = reading.operator
        rows = (operator or reading).query("rights", statements.GRANTS)
        granted = tuple(text(row[0]) for row in rows.rows if row) if rows is not None else ()
        able, said = may_change(granted) if rows is not None else (False, "")
        if operator is not None and rows is None:
            code, sentence = operator.newest_problem
            if sentence:
                return cls(may_change=False if code in _NO_LOGIN else None, evidence=sentence)
        if not able and host.is_root and operator is None:
            able, said = True, "root over the server's socket"
        return cls(able if able or rows is not None else None, said)
