"""The numbers of serverStatus by their place in it, as metric key -> float: "mongo.opcounters.insert". Pure.

The same server always gives the same keys; texts, moments and truths are left out. Left out as well are parts that have
a number for each command, lock or size of memory block: hundreds that nobody charts.
Source: MongoDB manual, "serverStatus"; replies of 3.2.5 (tests/unit/recorded/mongodb-3.2.5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from services.connections.mongo.document import Document

_LEFT_OUT = frozenset({"commands", "tcmalloc", "locks", "repl", "sharding", "storageEngine", "security", "tcMalloc"})
_KEPT_BELOW = "metrics"
"""Below it 'repl' is numbers: what was applied, what is buffered."""
_MOST_DEEP = 5
MOST_NUMBERS = 1_500
"""3.2.5 has 400, servers of today some 1,200 without what is left out."""
_ODD = re.compile(r"[^A-Za-z0-9]+")


def status_values(status: Document) -> dict[str, float]:
    """Return the numbers, at most 1,500, the first ones."""
    found: dict[str, float] = {}
    for name, value in _numbers(status, "mongo", 0):
        if len(found) >= MOST_NUMBERS:
            break
        found[name] = value
    return found


def _numbers(inside: Document, place: str, depth: int) -> Iterator[tuple[str, float]]:
    for name, value in inside.items():
        if name in _LEFT_OUT and not (name == "repl" and place.endswith(f".{_KEPT_BELOW}")):
            continue
        here = f"{place}.{word_of(name)}"
        if isinstance(value, dict):
            if depth < _MOST_DEEP:
                yield from _numbers(value, here, depth + 1)
        elif isinstance(value, int | float) and not isinstance(value, bool) and not _is_moment(name):
            number = float(value)
            if math.isfinite(number):
                yield here, number


def word_of(name: str) -> str:
    """Return a name as one word that a formula can hold: "bytes currently in the cache" has underscores."""
    return _ODD.sub("_", name).strip("_") or "_"


def _is_moment(name: str) -> bool:
    """Return whether it is a date (decoded to seconds) or a process's number: neither is a measure of anything."""
    return name in {"localTime", "pid"} or name.endswith(("Date", "_finished"))
