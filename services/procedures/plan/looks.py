"""What a look at a condition is made with: the reading roads to hosts, the clock, and what the run has done so far.

Defined here, below the catalogue and the engine, so that a condition can stand in one file with its look. Who proves
on real hosts gives the roads (verify/); a look can't change a server by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from services.clock import Clock
from services.connections.ports import ObserverSession, Output
from services.connections.reads.read import CommandRead
from services.errors import UserError
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.part import Part
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.remembering import Memory

LIMIT_S = 8.0
SQL_LIMIT_S = 3.0
T = TypeVar("T")

LOOKED_AT: frozenset[type[Part]] = frozenset({DataFolder, Options, Unit})
"""The parts of the facts that looks are made with: they are read for every plan and every run. What else a look takes
from them (the size of a donor's data, to tell progress) is there where the plan's own card needs it."""

AT_THE_END = "told at the end: "
"""Begins the names of kept values that are sentences: they follow what a run that is done says."""
TWO_PRIMARIES = "two-primaries"
"""The name under which a run keeps that it saw two Primary Components of its cluster."""
UNEXPECTED = "unexpected-member"
"""The name under which a run keeps that it saw a member which its plan does not count."""

LEFT = "left by the undo of "
"""Begins the names of values: what an undo left, one for a step."""
LOST = "lost by the undo of "
"""Begins the names of values: what a person gave up by accepting the undo of a step."""
NOT_BACK = "not taken back by the undo of "
"""Begins the names of values: a sentence of what an undo could not take back and a person has to see to."""


@dataclass(frozen=True, slots=True)
class Past:
    """What the run has done so far, for conditions that look back.

    Attributes:
        kept: values; began: step id -> wall time its latest act began (workstation clock, UTC epoch seconds).
    """

    kept: Mapping[str, str]
    began: Mapping[str, float]


class Asking(Protocol):
    """What one look is made with: named reads of hosts, the plan's facts, the run's past, the clock, earlier looks."""

    @property
    def clock(self) -> Clock:
        """Return the clock of the run."""

    @property
    def facts(self) -> Facts | None:
        """Return what the plan was made from: data folders, units, the size of a donor's data; None where unknown."""

    @property
    def past(self) -> Past:
        """Return what the run has done so far."""

    @property
    def memory(self) -> Memory:
        """Return what the looks before this one left, in the same attempt."""

    def session(self, host: str) -> ObserverSession:
        """Return a host's reading session; BadInput for an unknown host."""

    def run(self, host: str, read: CommandRead, *, limit_s: float = LIMIT_S) -> Output:
        """Run a read, one for root as root and where that is not allowed as the login. Raises UserError."""

    def status(self, host: str) -> dict[str, str]:
        """Return the server's status. Raises UserError."""

    def variable(self, host: str, name: str) -> str | None:
        """Return a global variable's text, None when the server has none of that name. Raises UserError."""

    def each(self, hosts: tuple[str, ...], read: Callable[[str], T]) -> dict[str, T | UserError]:
        """Return what `read` gives for each host, at once and joined; its error where it gives none."""


def not_back(kept: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return step id -> what was not taken back of it, of the values of a run."""
    return {name.removeprefix(NOT_BACK): said for name, said in kept if name.startswith(NOT_BACK) and said}
