"""Chosen tables have the same rows on two members, while others go on writing.

CHECKSUM TABLE on the donor, on the joiner, and on the donor again; between them each waits until the other's
wsrep_last_committed is reached. Where the donor's two sums are equal, the table stood still for as long as the joiner
was read, and the joiner's sum must be the same. A table that never stands still is 'not known', never equal. No FLUSH,
no lock, no session variable: what wsrep_sync_wait waits for is waited for here, on every product alike.

Sums of different versions may differ for the same rows (MySQL manual and MariaDB KB, "CHECKSUM TABLE").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from services.connections.ports import Rows, text
from services.connections.reads import statements
from services.errors import QueryFailed, UserError
from services.facts.reading import count
from services.procedures.conditions.server.comparable import generated, no_sum
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

POLL_S, REACH_S = 0.2, 10.0
TIMES = 3
"""A difference counts when it was found so often, with a donor that stood still each time."""
_NO_RIGHT, _NOT_THERE = frozenset({1044, 1142, 1143, 1227}), frozenset({1049, 1146})
"""The server's numbers for a right that lacks, and for a schema or a table that is not there."""


@condition("server.same-rows", "tables of {host} to be compared with another member's")
class SameRows(OfHost):
    """`tables` ('schema.table') of `host` are equal to those of `beside`.

    Attributes:
        limit_s: how long one CHECKSUM TABLE may take.
        accepted: tables that could not be compared hold too: a person chose that. A difference never does, nor does
            one that was found fewer times than count.
    """

    beside: str
    tables: tuple[str, ...]
    limit_s: float = 300.0
    accepted: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, self.beside}))

    def look(self, asking: Asking) -> Answer:
        """Compare each table that is not known to be equal yet."""
        found = [_judged(self, table, asking) for table in self.tables]
        lines = tuple(one.told for one in found)
        if differs := next((one for one in found if one.equal is False), None):
            return Answer(holds=False, evidence=differs.told, final=True, lines=lines)
        never = next((one for one in found if one.never), None)
        if never is not None and not self.accepted:
            return Answer(
                holds=None, evidence=f"not known, and cannot become known: {never.told}", final=True, lines=lines
            )
        unknown = [one.told for one in found if one.equal is None]
        said = self._said(len(found) - len(unknown), len(found))
        if not unknown:
            return Answer(holds=True, evidence=said, lines=lines)
        parted = any(one.differed for one in found)
        tried = (
            self.accepted and not parted and asking.memory.waited_s(("same-rows", self.host), asking.clock) > REACH_S
        )
        what = "not compared, as you accepted" if tried else "not known"
        return Answer(holds=True if tried else None, evidence=f"{said}; {what}: {'; '.join(unknown)}", lines=lines)

    def _said(self, equal: int, of: int) -> str:
        """Return how many are equal; where none is, that nothing was compared: nobody shall read 'equal' there."""
        both = f"{self.host} and {self.beside}"
        if not equal:
            return f"nothing was compared: no rows of {of} table{'' if of == 1 else 's'} could be compared on {both}"
        return f"{equal} of {of} tables are equal on {both}"


@dataclass(frozen=True, slots=True)
class _Found:
    """Of one table: equal, different, or None for not known; and what was read.

    Attributes:
        never: no later look can tell; differed: it did in a look so far.
    """

    equal: bool | None
    told: str
    never: bool = False
    differed: bool = False


def _judged(condition: SameRows, table: str, asking: Asking) -> _Found:
    """Return what is known of a table by this look and those before it: equal once is equal, different only thrice."""
    key = ("same-rows", condition.host, condition.beside, table)
    before = asking.memory.value(key)
    if isinstance(before, _Found) and before.equal:
        return before
    found = _compared(condition, table, asking)
    times = int(str(asking.memory.value((*key, "differs")) or 0)) + (found.equal is False)
    asking.memory.keep((*key, "differs"), times)
    if found.equal is False and times < TIMES:
        found = _Found(None, found.told)
    if found.equal is None and times:
        found = replace(found, differed=True)
    asking.memory.keep(key, found)
    return found


def _compared(condition: SameRows, table: str, asking: Asking) -> _Found:
    try:
        return _read(condition, table, asking)
    except QueryFailed as error:
        return _Found(None, f"{table}: {error.sentence}", never=error.errno in _NO_RIGHT | _NOT_THERE)
    except UserError as error:
        return _Found(None, f"{table}: {error.sentence}")


def _read(condition: SameRows, table: str, asking: Asking) -> _Found:
    sums = _sums(condition, table, asking)
    found = _Found(None, sums) if isinstance(sums, str) else _found(condition, table, *sums)
    columns = _generated(asking, condition.beside, table) if found.equal is False else ()
    return _Found(None, no_sum(table, columns), never=True) if columns else found


def _generated(asking: Asking, host: str, table: str) -> tuple[str, ...]:
    """Return a table's generated columns; none where they can't be read: the difference counts then."""
    try:
        return generated(asking, host, table)
    except UserError:
        return ()


def _sums(condition: SameRows, table: str, asking: Asking) -> tuple[str | None, str | None, str | None] | str:
    """Return what donor, joiner and donor again give; words where one does not get as far as the other."""
    joiner, donor = condition.host, condition.beside
    first = _sum(asking, donor, table, condition.limit_s)
    if not reaches(asking, joiner, committed(asking, donor)):
        return f"{table}: {joiner} did not reach what {donor} has committed"
    ours = _sum_there(asking, joiner, table, condition.limit_s)
    if not reaches(asking, donor, committed(asking, joiner)):
        return f"{table}: {donor} did not reach what {joiner} has committed"
    return first, ours, _sum(asking, donor, table, condition.limit_s)


def _found(condition: SameRows, table: str, first: str | None, ours: str | None, again: str | None) -> _Found:
    joiner, donor = condition.host, condition.beside
    if first is None or again is None:
        none = first is None and again is None
        return _Found(
            None, f"{table}: {donor} returns no checksum (the table does not exist there, or has an error)", never=none
        )
    if first != again:
        return _Found(None, f"{table} changes all the time on {donor}")
    if ours == first:
        return _Found(equal=True, told=f"{table}: {ours} on both")
    return _Found(
        equal=False, told=f"{table} differs: {ours or 'none (no such table?)'} on {joiner}, {first} on {donor}"
    )


def _sum(asking: Asking, host: str, table: str, limit_s: float) -> str | None:
    """Return a table's checksum; None where the server gives NULL: there is no such table, or an error in it."""
    schema, _, name = table.partition(".")
    return checksum_of(asking.session(host).query(statements.CHECKSUM.read(schema, name), limit_s=limit_s))


def checksum_of(rows: Rows) -> str | None:
    """Return the number of a CHECKSUM TABLE's reply, None where it has none."""
    found = text(rows.rows[0][-1]) if rows.rows and rows.rows[0] and rows.rows[0][-1] is not None else ""
    return found if count(found) is not None else None


def _sum_there(asking: Asking, host: str, table: str, limit_s: float) -> str | None:
    """The same where another member has the table: one that is not there at all is None too."""
    try:
        return _sum(asking, host, table, limit_s)
    except QueryFailed as error:
        if error.errno in _NOT_THERE:
            return None
        raise


def committed(asking: Asking, host: str) -> int | None:
    """Return what a member has committed, None where it does not tell."""
    return count(asking.status(host).get("wsrep_last_committed", ""))


def reaches(asking: Asking, host: str, seqno: int | None) -> bool:
    """Wait until a member has committed a seqno; False where it does not within some seconds, or it is not known."""
    return seqno is not None and _until(asking, lambda: (committed(asking, host) or 0) >= seqno)


def _until(asking: Asking, so: Callable[[], bool]) -> bool:
    began = asking.clock.monotonic()
    while not so():
        if asking.clock.monotonic() - began > REACH_S:
            return False
        asking.clock.sleep(POLL_S)
    return True
