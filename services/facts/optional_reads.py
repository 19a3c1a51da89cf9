"""What a look at a server may go without: a read that fails costs itself alone, and why is told until it succeeds.

Every error counts alike: a missing right, a statement that hangs (SHOW SLAVE STATUS of old servers waits for a STOP
SLAVE; MySQL manual, "SHOW REPLICA STATUS Statement": today's does not), a session that ended on the way. That the
server answers is told by its status.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from services.connections.ports import ObserverSession, Rows
from services.connections.reads.read import SqlRead
from services.errors import QueryFailed, UserError
from services.facts.model import CHANNELS, Problem
from services.i18n import tr

RIGHT_MISSING = "right-missing"
"""Code of a read that the account may not make."""
_DENIED = frozenset({1142, 1143, 1227, 1370})
"""ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_…, ER_SPECIFIC_ACCESS_…, ER_PROCACCESS_… (MySQL error reference)."""
_SLOWER = frozenset({CHANNELS, "replicas", "members", "processes", "variables"})
"""Parts that are not read each second: what hindered them holds until their next turn."""

T = TypeVar("T")
Failed = Mapping[str, Problem]
"""A read's name -> why it gave nothing last."""


def attempt(call: Callable[[], T]) -> T | UserError:
    """Return what a call gives, or its error."""
    try:
        return call()
    except UserError as error:
        return error


class OptionalReads:
    """Makes the reads of one look that it may go without.

    Args:
        failed: what the looks before could not read; of parts that are read each time nothing is kept.
    """

    def __init__(self, session: ObserverSession, limit_s: float, failed: Failed | None = None) -> None:
        self._session = session
        self._limit_s = limit_s
        self._failed = {name: told for name, told in (failed or {}).items() if told.part in _SLOWER}

    def ask(self, read: SqlRead | None, part: str, right: str = "") -> Rows | None:
        """Return the rows; None where there is nothing to read, or it failed, which is told from then on.

        Args:
            right: what the account needs for it, as the product calls it.
        """
        if read is None:
            return None
        return self.of(read.name, part, lambda session: session.query(read, limit_s=self._limit_s), right)

    def of(self, name: str, part: str, call: Callable[[ObserverSession], T], right: str = "") -> T | None:
        """Return what a call gives that reads, as `ask` does."""
        found = attempt(lambda: call(self._session))
        if isinstance(found, UserError):
            self._failed[name] = not_read(part, found, right)
            return None
        self._failed.pop(name, None)
        return found

    @property
    def failed(self) -> dict[str, Problem]:
        """Return what could not be read, for the next look."""
        return self._failed

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return why, each once."""
        return tuple(dict.fromkeys(self._failed.values()))


def not_read(part: str, error: UserError, right: str = "") -> Problem:
    """Return why a part was not read, with the right that the account lacks where that is why."""
    denied = isinstance(error, QueryFailed) and error.errno in _DENIED
    if not denied:
        return Problem(part, error.sentence, error.code)
    sentence = error.sentence
    if right:
        sentence = tr("the account does not have the {right} privilege: {why}", right=right, why=error.sentence)
    return Problem(part, sentence, RIGHT_MISSING)
