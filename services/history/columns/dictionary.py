"""Numbers for names: servers, metric keys and epochs are stored once per file and meant by number everywhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from services.history.columns.hot import FIRST_ID
from services.history.recordings.bounds import MOST_NAME, MOST_NAMES

Kind = Literal["server", "metric", "epoch"]
INSERTS: dict[Kind, str] = {
    "server": "INSERT OR IGNORE INTO server (id, name) VALUES (?, ?)",
    "metric": "INSERT OR IGNORE INTO metric (id, key) VALUES (?, ?)",
    "epoch": "INSERT OR IGNORE INTO epoch (id, text) VALUES (?, ?)",
}
SELECTS: dict[Kind, str] = {
    "server": "SELECT id, name FROM server ORDER BY id",
    "metric": "SELECT id, key FROM metric ORDER BY id",
    "epoch": "SELECT id, text FROM epoch ORDER BY id",
}
COUNTS: dict[Kind, str] = {
    kind: f"SELECT count(*), coalesce(max(id), 0) FROM {kind}"  # noqa: S608 - names of tables, written here
    for kind in INSERTS
}
FINDS: dict[Kind, str] = {
    "server": "SELECT id FROM server WHERE name = ?",
    "metric": "SELECT id FROM metric WHERE key = ?",
    "epoch": "SELECT id FROM epoch WHERE text = ?",
}
UNIQUE: dict[str, str] = {
    "server_name": "CREATE UNIQUE INDEX IF NOT EXISTS server_name ON server (name)",
    "metric_key": "CREATE UNIQUE INDEX IF NOT EXISTS metric_key ON metric (key)",
    "epoch_text": "CREATE UNIQUE INDEX IF NOT EXISTS epoch_text ON epoch (text)",
}
"""Indexes that keep a writer from giving a name two numbers. Names are read all at once: no reader looks one up."""


MOST_OFFERED = MOST_NAMES // 2
"""Names that come from servers; the rest is room for the console's own: of a file the first MOST_NAMES are read."""


class Dictionary:
    """One kind of name. Thread-safe; what is new is handed to the writer once."""

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._next = FIRST_ID
        self._lock = threading.Lock()
        self._fresh: list[tuple[int, str]] = []
        self._left_out: Callable[[str], int | None] | None = None

    def load(
        self,
        rows: Iterable[Sequence[object]],
        last: int = 0,
        left_out: Callable[[str], int | None] | None = None,
    ) -> None:
        """Take over what a file has.

        Args:
            last: its largest number; left_out: finds the number of a name that is not among the rows.
        """
        with self._lock:
            self._left_out = left_out
            for number, name in rows:
                self._numbers[str(name)] = int(str(number))
                self._names[int(str(number))] = str(name)
            self._next = max(FIRST_ID, max(self._names, default=0) + 1, last + 1)

    def number(self, name: str) -> int:
        """Return the number of a name, giving it one when it is new."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        with self._lock:
            number = self._numbers.get(name)
            if number is None and self._left_out is not None and (number := self._left_out(name)) is not None:
                self._names[number] = name
                self._numbers[name] = number
            if number is None:
                number = self._next
                self._next += 1
                self._names[number] = name
                self._fresh.append((number, name))
                self._numbers[name] = number
            return number

    def offered(self, name: str) -> int | None:
        """Return the number of a name that a server gave; None for one that is new and too long, or one too many."""
        known = self._numbers.get(name)
        if known is None and len(name) <= MOST_NAME and len(self._numbers) < MOST_OFFERED:
            return self.number(name)
        return known

    def find(self, name: str) -> int | None:
        """Return the number of a name, None when the file has never seen it."""
        return self._numbers.get(name)

    def name(self, number: int) -> str:
        """Return the name of a number, '' when there is none."""
        return self._names.get(number, "")

    def names(self) -> tuple[str, ...]:
        """Return all names in the order they were first seen."""
        with self._lock:
            return tuple(self._names[number] for number in sorted(self._names))

    def take_fresh(self) -> list[tuple[int, str]]:
        """Return what the file doesn't have yet, and forget that it is new."""
        with self._lock:
            fresh, self._fresh = self._fresh, []
            return fresh
