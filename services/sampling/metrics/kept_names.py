"""Which names of numbers a host may bring into the history: the first ones, and no more than hosts have.

Each name that was ever sampled takes room in memory for as long as the console runs, and in the history's list of names
for ever. A server with every engine has 2,000 status variables, a host with a hundred disks as many counters; one that
makes up new names each second would grow without end.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from services.facts.model import Problem
from services.i18n import tr

MOST_NAMES = 5_000
MOST_LETTERS = 200


class KeptNames:
    """The names of one host so far. Its threads share it."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._known: set[str] = set()
        self._lock = threading.Lock()
        self.refused = False

    def kept(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """Return the values whose names are known or still fit; the same object where all of them do."""
        with self._lock:
            if values.keys() <= self._known:
                return values
            new = [name for name in values if name not in self._known]
            fit = [name for name in new if len(name) <= MOST_LETTERS][: self._most - len(self._known)]
            self._known.update(fit)
            if len(fit) == len(new):
                return values
            self.refused = True
            return {name: value for name, value in values.items() if name in self._known}

    def problem(self) -> Problem | None:
        """Return what to tell where names were refused."""
        if not self.refused:
            return None
        return Problem(
            "numbers",
            tr(
                "This host reports too many or too long names of numbers: those after the first {most}, or "
                "longer than {letters} characters, are not kept.",
                most=self._most,
                letters=MOST_LETTERS,
            ),
            "too-many-names",
        )
