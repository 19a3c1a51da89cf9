"""Where marks of changes are kept: in the state store beside the history, or (a demo) for as long as the window stands.

Every call may read or write a file: the window makes them on a worker.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from services.history.marked_change import ChangeMark, Stretch, name_taken, refuse_order
from services.sampling.change.naming import good_name

if TYPE_CHECKING:
    from services.history.state.change_marks import ChangeMarks


class MarkShelf(Protocol):
    """Marks of the samples that are looked at. Every method raises StoreError."""

    @property
    def lasts(self) -> bool:
        """Return whether marks outlast this window."""

    def all(self) -> tuple[ChangeMark, ...]:
        """Return the marks, the newest first; those that came with a recording have the number 0."""

    def keep(self, name: str, before: Stretch, after: Stretch) -> ChangeMark:
        """Keep two stretches; raise BadInput for a name or stretches that can't be kept."""

    def remove(self, number: int) -> bool:
        """Remove a mark; return whether there was one."""


@dataclass(frozen=True, slots=True)
class StateShelf:
    """Marks of an inventory's or a recording's samples (`about`), in the state file of this data folder.

    Attributes:
        recorded: what came with the recording: shown, and not removed.
    """

    file: Path
    about: str
    recorded: tuple[ChangeMark, ...] = ()
    lasts = True

    def all(self) -> tuple[ChangeMark, ...]:
        """Return the marks; looking makes no file."""
        if not self.file.exists():
            return self.recorded
        with self._marks() as marks:
            return (*marks.all(), *self.recorded)

    def keep(self, name: str, before: Stretch, after: Stretch) -> ChangeMark:
        """Keep two stretches with who sits here."""
        from services.procedures.service.person import person_here

        named = good_name(name)
        refuse_order(before, after)  # before a file is made
        with self._marks() as marks:
            return marks.keep(named, before, after, person_here())

    def remove(self, number: int) -> bool:
        """Remove a mark."""
        if not self.file.exists():
            return False
        with self._marks() as marks:
            return marks.remove(number)

    @contextmanager
    def _marks(self) -> Iterator[ChangeMarks]:
        from app.compose import open_state

        with open_state(self.file) as state:
            yield state.change_marks(self.about)


@dataclass(slots=True)
class SessionShelf:
    """Marks in memory: of a demo, which leaves nothing behind."""

    recorded: tuple[ChangeMark, ...] = ()
    _kept: list[ChangeMark] = field(default_factory=list)
    _last: int = 0
    lasts = False

    def all(self) -> tuple[ChangeMark, ...]:
        """Return the marks."""
        return (*reversed(self._kept), *self.recorded)

    def keep(self, name: str, before: Stretch, after: Stretch) -> ChangeMark:
        """Keep two stretches."""
        named = good_name(name)
        refuse_order(before, after)
        if any(mark.name == named for mark in self._kept):
            raise name_taken(named)
        self._last += 1
        self._kept.append(ChangeMark(self._last, named, before, after, time.time()))
        return self._kept[-1]

    def remove(self, number: int) -> bool:
        """Remove a mark."""
        found = [mark for mark in self._kept if mark.number == number]
        self._kept = [mark for mark in self._kept if mark.number != number]
        return bool(found)
