"""Preflight results: pass, warn or block, each with evidence and why; and which blocks a person may override."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from services.visible import visible


class Verdict(Enum):
    """The outcome of one check."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Remedy:
    """One of the procedure's questions, answered so that the check passes.

    Attributes:
        advice: what that answer does, without a full stop.
        field: the question's name; values: any one of them will do. A terminal names both as --input takes them, a
            window by the question's title.
    """

    advice: str
    field: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the checklist.

    Attributes:
        code: stable, upper case, the name an override gives: 'DISK-FREE'.
        title: what is checked; evidence: the values read, from which host; why: why it matters.
        try_: what to do about it; answers: which questions of the procedure, answered how, would do.
        commands: what is typed at a terminal for it; a window has its own way.
        host: '' when it concerns the cluster.
        absolute: a block against certain data loss: no override exists for it.
        to_read: a person chooses by it: shown also where it passed and other things need to be read first.
        each: the title said of all its hosts at once ('Each node has time to stop'), where each has its own check.
        not_known: nothing speaks against it, and what it asks for could not be read: never told as passed.
    """

    code: str
    title: str
    verdict: Verdict
    evidence: str
    why: str = ""
    try_: tuple[str, ...] = ()
    host: str = ""
    absolute: bool = False
    to_read: bool = False
    answers: tuple[Remedy, ...] = ()
    commands: tuple[str, ...] = ()
    each: str = ""
    not_known: bool = False

    @property
    def unknown(self) -> bool:
        """Return whether it is told as 'not known': what could not be read is no pass, and no warning either."""
        return self.not_known and self.verdict is not Verdict.BLOCK

    @property
    def result(self) -> str:
        """Return the outcome in a word: the verdict's, or 'not known'."""
        return "not known" if self.unknown else self.verdict.value

    def __post_init__(self) -> None:
        """Let no name or log line in it show other than what it is, wherever it is shown."""
        for name in ("title", "evidence", "why", "host"):
            object.__setattr__(self, name, visible(getattr(self, name)))
        object.__setattr__(self, "try_", tuple(map(visible, self.try_)))


@dataclass(frozen=True, slots=True)
class Override:
    """A person's word that a block is accepted: its code and the reason, kept in journal and report."""

    code: str
    reason: str


def standing_blocks(checks: tuple[Check, ...], overrides: tuple[Override, ...]) -> tuple[Check, ...]:
    """Return the blocks that still stand. An override without a reason, or of an absolute block, counts for nothing."""
    accepted = {o.code for o in overrides if o.reason.strip()}
    return tuple(c for c in checks if c.verdict is Verdict.BLOCK and (c.absolute or c.code not in accepted))
