"""What a condition is: data that can be proven of hosts, and what it declares of itself, whatever it is called.

A condition stands in one file with all that is known of it (decision 0064). Who reads a plan asks what a condition
declares, never which one it is. `Kept` names a value that an earlier step kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar, dataclass_transform

from services.procedures.plan.looks import Asking

Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Kept:
    """A value of the run, kept by an earlier step under this name."""

    name: str


Number = int | Kept


@dataclass(frozen=True, slots=True)
class Answer:
    """What a look at a condition found.

    Attributes:
        holds: True, False, or None when it could not be read (then `evidence` says why).
        evidence: one sentence with the value read: 'wsrep_desync is ON', never a secret.
        final: it can never hold any more: don't wait on.
        lines: raw evidence (log lines), newest last.
        done, total, unit, left_s: progress where there is one ('write sets', 'bytes').
        kept: values read by the way, by their `keep` name.
        stays: it is so already, and only has to stay so for a while: nothing holds that up.
        ended: a server that has ended is why: who else serves is worth a look.
        doubt: what stands against it is not shown to be wrong: a run rests for a person, and takes nothing dear back.
    """

    holds: bool | None
    evidence: str
    final: bool = False
    lines: tuple[str, ...] = ()
    done: float | None = None
    total: float | None = None
    unit: str = ""
    left_s: float | None = None
    kept: tuple[tuple[str, str], ...] = ()
    ended: bool = False
    doubt: bool = False
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """What a condition is to the invariants, the rehearsal and the report. All but `touches` are seldom needed.

    Attributes:
        touches: hosts that it reads; who is only declared away is not touched.
        enough_of: those of them of whom one that answers is enough.
        keeps: names under which its answers keep values of the run.
        lasts_s: for so many seconds it must be so without a break before it holds; 0: one look shows it.
        since_steps: steps of the run that it looks back to, beside values that are `Kept`.
        patterns: regular expressions that a look searches with.
        stops: hosts whose server it shows to be down (one left); joins: hosts that it shows to be members.
        no_quorum: it shows that no quorum is there: nobody serves.
        declared_off: hosts that a person has declared powered off or fenced, in order.
        shows_past_of: hosts whose history it shows to be that of the others, or that there is none to lose.
        holds_position_of: hosts whose position it holds against what the plan knows, while their server runs.
        holds_data_of: the same of data at rest, by the marks it uses (`uses_marks`).
        marks: names of the marks that it keeps; recovered: hosts whose position was recovered when it keeps them.
        stands: subjects of which it tells a state that lasts and that others may change ('server n1'): the newest proof
            of each is looked at again before what relies on it, and at the end of the plan.
        down: hosts whose server it shows to be stopped.
        told_by: hosts of whose servers one must run for it to be told: with all of them proven to be down nobody tells
            it, and nothing relies on it until one is up again.
    """

    touches: frozenset[str]
    enough_of: frozenset[str] = NOBODY
    keeps: frozenset[str] = NOBODY
    lasts_s: float = 0.0
    since_steps: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    stops: frozenset[str] = NOBODY
    joins: frozenset[str] = NOBODY
    no_quorum: bool = False
    declared_off: tuple[str, ...] = ()
    shows_past_of: frozenset[str] = NOBODY
    holds_position_of: frozenset[str] = NOBODY
    holds_data_of: frozenset[str] = NOBODY
    uses_marks: frozenset[str] = NOBODY
    marks: frozenset[str] = NOBODY
    recovered: frozenset[str] = NOBODY
    stands: frozenset[str] = NOBODY
    down: frozenset[str] = NOBODY
    told_by: frozenset[str] = NOBODY


@dataclass(frozen=True, slots=True)
class Condition(ABC):
    """One thing that can be proven.

    `@condition` gives it its tag and its words.
    """

    tag: ClassVar[str]
    words: ClassVar[str]

    @abstractmethod
    def declared(self) -> Declared:
        """Return what invariants, rehearsal and report may know of it."""

    @abstractmethod
    def look(self, asking: Asking) -> Answer:
        """Return what one look at the hosts found. May raise UserError: then nothing is known."""

    def waits_for(self) -> str:
        """Return what must become true: 'the server of n1 to be stopped'."""
        return self.words


@dataclass(frozen=True, slots=True)
class OfHost(Condition):
    """A condition of one host; others that it reads too it declares."""

    host: str

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset({self.host}))

    def waits_for(self) -> str:
        """See Condition."""
        return self.words.format(host=self.host)


@dataclass(frozen=True, slots=True)
class OfHosts(Condition):
    """A condition of several hosts together."""

    hosts: tuple[str, ...]

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts))


def names(*given: str) -> frozenset[str]:
    """Return the names that are there: '' is none."""
    return frozenset(given) - {""}


Kind = TypeVar("Kind", bound=Condition)


@dataclass_transform(frozen_default=True)
def condition(tag: str, words: str) -> Callable[[type[Kind]], type[Kind]]:
    """Make a class a condition: frozen data with a tag and words.

    Args:
        tag: 'family.name', under which journals keep it for ever.
        words: what it waits for as a DBA says it: ends the sentence 'waits for ...'; {host} stands for its host.
    """

    def made(kind: type[Kind]) -> type[Kind]:
        kind.tag, kind.words = tag, words
        return dataclass(frozen=True, slots=True)(kind)

    return made
