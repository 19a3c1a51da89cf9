"""All tables of InnoDB have the same rows on two members, while others go on writing.

As in same_rows.py the donor's sum, the joiner's, and the donor's again; but all tables are taken, by root of each host
over the server's own socket, a batch at a time. Small tables are read whole. Of a large one, and of one that does not
stand still, 32 parts are taken, each with its own sum: those that stood still on the donor must be the same.

Rows of other engines Galera does not replicate: members may differ in them for years, so a difference is no fault. It
is told, by name. Small ones are read for that; a read locks out who writes to them, and some engines read elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from services.connections.reads import commands
from services.facts.backup.whole_data import Sum, Table, parse_sums
from services.procedures.conditions.server.files_paired import told
from services.procedures.conditions.server.same_defined import defined_on
from services.procedures.conditions.server.same_rows import TIMES, committed, reaches
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import AT_THE_END, Asking

LIMIT_S, SLICE_S = 320.0, 5.0
TRIES = 20
"""So often a table is tried, once a look at most."""
WHOLE, SAMPLED = "whole", "sampled"
_LOCAL, _BRIEF = frozenset({"Aria", "MyISAM", "ARCHIVE", "CSV"}), 64 * 2**20
"""Engines whose rows lie on the node itself, and up to how many bytes a table of theirs is read."""


def rows_of(host: str) -> str:
    """Return the name under which it is kept that all rows of a host were compared, and how."""
    return f"{AT_THE_END}rows of {host}"


@dataclass(slots=True)
class _Tried:
    """One table so far.

    Attributes:
        sampled: by parts; most: so often it is tried; tries: looks at it, looked: the number of the last; differed: how
            often it did; equal: True once it was; why: what was found last.
    """

    table: Table
    sampled: bool
    most: int = TRIES
    tries: int = 0
    looked: int = 0
    differed: int = 0
    equal: bool = False
    why: str = ""

    @property
    def over(self) -> bool:
        """Return whether no further try is made."""
        return self.equal or self.differed >= TIMES or self.tries >= self.most


@dataclass(slots=True)
class _Course:
    """What one attempt has found: its tables, the smallest first; those of other engines, and which are read; looks."""

    tried: list[_Tried] = field(default_factory=list)
    local: list[_Tried] = field(default_factory=list)
    others: tuple[Table, ...] = ()
    looks: int = 0

    @property
    def left(self) -> list[_Tried]:
        """Return what a further try is made of."""
        return [one for one in (*self.tried, *self.local) if not one.over]


@condition("server.same-sums", "all tables of {host} to be compared with another member's")
class SameSums(OfHost):
    """Each table of InnoDB has the same rows on `host` and `beside`, or the same parts where it is large.

    Attributes:
        whole_below: bytes; larger tables are sampled.
        accepted: tables that could not be compared hold too: a person chose that. A difference never does.
    """

    beside: str
    whole_below: int
    accepted: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host, self.beside}), keeps=frozenset({rows_of(self.host)}))

    def look(self, asking: Asking) -> Answer:
        """Compare for some seconds what is not known to be equal yet."""
        course = self._course(asking)
        if isinstance(course, str):
            return Answer(True, f"not compared, as you accepted: {course}") if self.accepted else Answer(None, course)
        course.looks += 1
        began = asking.clock.monotonic()
        while asking.clock.monotonic() - began < SLICE_S and (batch := self._next(course)):
            self._compare(asking, batch)
        return self._answer(course)

    def _course(self, asking: Asking) -> _Course | str:
        key = ("same-sums", self.host, self.beside)
        known = asking.memory.value(key)
        if isinstance(known, _Course):
            return known
        found = defined_on(asking, self.beside)
        if isinstance(found, str):
            return found
        local = (one for one in found.others if one.engine in _LOCAL and one.bytes <= min(_BRIEF, self.whole_below))
        course = _Course(
            [_Tried(one, one.bytes > self.whole_below) for one in found.rows],
            [_Tried(one, sampled=False, most=TIMES) for one in local],
            found.others,
        )
        asking.memory.keep(key, course)
        return course

    @staticmethod
    def _next(course: _Course) -> list[_Tried]:
        """Return the tables of the next reads: some small ones together, a large one alone; each once in a look."""
        left = [one for one in course.left if one.looked != course.looks]
        if not left:
            return []
        batch = [left[0]] if left[0].sampled else [one for one in left if not one.sampled][: commands.MOST_SUMMED]
        for one in batch:
            one.looked, one.tries = course.looks, one.tries + 1
        return batch

    def _compare(self, asking: Asking, batch: list[_Tried]) -> None:
        tables = tuple(one.table.digits for one in batch)
        first = _sums(asking, self.beside, SAMPLED if batch[0].sampled else WHOLE, tables)
        how = next((found.how for found in first.values() if found.how), WHOLE)
        reached = reaches(asking, self.host, committed(asking, self.beside))
        ours = _sums(asking, self.host, how, tables) if reached else {}
        reached = reached and reaches(asking, self.beside, committed(asking, self.host))
        again = _sums(asking, self.beside, how, tables) if reached else {}
        for one in batch:
            if not reached:
                one.why = f"{one.table.name}: {self.host} and {self.beside} did not reach each other's position"
                continue
            none = Sum(why="not reported")
            digits = one.table.digits
            self._judge(one, first.get(digits, none), ours.get(digits, none), again.get(digits, none))

    def _judge(self, one: _Tried, first: Sum, ours: Sum, again: Sum) -> None:
        name = one.table.name
        if first.why or again.why:
            one.why = f"{name}: {self.beside} returns no sum ({first.why or again.why})"
            return
        if ours.why:
            one.differed += 1
            one.why = f"{name} returns no sum on {self.host} ({ours.why})"
            return
        still = {part for part in {*first.parts, *again.parts} if first.parts.get(part) == again.parts.get(part)}
        wrong = sorted(part for part in still if ours.parts.get(part) != first.parts[part])
        more = [part for part in ours.parts if part not in first.parts and part not in again.parts]
        if wrong or more:
            one.differed += 1
            one.why = f"{name} differs: {_rows(ours)} rows on {self.host}, {_rows(first)} on {self.beside}"
            one.why += " in the parts that were read" if one.sampled else ""
        elif still:
            one.equal, one.why = True, ""
        else:
            one.why = f"{name} changes all the time on {self.beside}"
            one.sampled = True

    def _answer(self, course: _Course) -> Answer:
        tried, both = course.tried, f"{self.host} and {self.beside}"
        differ = tuple(one.why for one in tried if one.differed >= TIMES)
        if differ:
            return Answer(holds=False, evidence=told(differ), final=True, lines=differ[:40])
        equal = [one for one in tried if one.equal]
        parts = sum(one.sampled for one in equal)
        said = f"{len(equal)} of {len(tried)} tables are equal on {both}"
        said += f", {parts} of them by samples" if parts else ""
        said += self._other_engines(course)
        done = Answer(None, said, done=float(len(equal)), total=float(len(tried)), unit="tables")
        if course.left:
            return done
        left = [one.why for one in tried if not one.equal]
        if left and not self.accepted:
            return replace(done, evidence=f"{said}; not known, and cannot become known: {told(left)}", final=True)
        if left:
            if any(one.differed for one in tried if not one.equal):
                return replace(done, evidence=f"{said}; not known: {told(left)}", final=True)
            said = f"{said}; not compared, as you accepted: {told(left)}"
        return replace(done, holds=True, evidence=said, kept=((rows_of(self.host), f"{said}."),))

    def _other_engines(self, course: _Course) -> str:
        """Return in words which tables of other engines are alike, and which are as they were restored."""
        alike = {one.table.digits for one in course.local if one.equal}
        unlike = [f"{one.name} ({one.engine})" for one in course.others if one.digits not in alike]
        if not course.others:
            return ""
        said = f"; Galera does not replicate the rows of {len(course.others)} of other engines: "
        said += f"{len(alike)} equal" if alike else ""
        return said + (", " if alike and unlike else "") + (f"as restored {told(unlike)}" if unlike else "")


def _sums(asking: Asking, host: str, how: str, tables: tuple[str, ...]) -> Mapping[str, Sum]:
    output = asking.run(host, commands.ROWS_SUMMED.read(how, *tables, sudo=True), limit_s=LIMIT_S)
    return parse_sums(output.text) if output.exit_code == 0 else {}


def _rows(found: Sum) -> int:
    return sum(int(head) for part in found.parts.values() if (head := part.partition("-")[0]).isdecimal())
