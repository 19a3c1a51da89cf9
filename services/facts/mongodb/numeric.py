"""The numbers of serverStatus by their place in it, as metric key -> float: "mongo.opcounters.insert". Pure.

The same server always gives the same keys; texts, moments and truths are left out. Left out as well are parts that have
a number for each command, lock or size of memory block: hundreds that nobody charts.
Source: MongoDB manual, "serverStatus"; replies of 3.2.5 (tests/unit/recorded/mongodb-3.2.5).
"""

from __future__ import annotations

import functools
import math
import re
from typing import cast

from services.connections.mongo.document import Document

_LEFT_OUT = frozenset({"commands", "tcmalloc", "locks", "repl", "sharding", "storageEngine", "security", "tcMalloc"})
_KEPT_BELOW = "metrics"
"""Below it 'repl' is numbers: what was applied, what is buffered."""
_MOST_DEEP = 5
MOST_NUMBERS = 1_500
"""3.2.5 has 400, servers of today some 1,200 without what is left out."""
_MOST_NAME = 120
"""Letters. The longest of 3.2.5 has 60; longer ones would be kept, by the thousand, as words and as series."""
_ODD = re.compile(r"[^A-Za-z0-9]+")


def status_values(status: Document) -> dict[str, float]:
    """Return the numbers, at most 1,500, the first ones."""
    found: dict[str, float] = {}
    _collect(status, "mongo", 0, found)
    return found


def _collect(inside: Document, place: str, depth: int, found: dict[str, float]) -> None:
    """Put the numbers of a document, and of those within it, into `found`: plainly, for it is done each second."""
    for name, value in inside.items():
        if len(found) >= MOST_NUMBERS:
            return
        kind = type(value)
        if len(name) > _MOST_NAME:
            continue
        if kind is dict:
            if depth < _MOST_DEEP and _is_kept(name, place):
                _collect(cast("Document", value), f"{place}.{word_of(name)}", depth + 1, found)
        elif (kind is int or kind is float) and not _is_moment(name):
            number = float(cast("float", value))
            if math.isfinite(number) and _is_kept(name, place):
                found[f"{place}.{word_of(name)}"] = number


def _is_kept(name: str, place: str) -> bool:
    return name not in _LEFT_OUT or (name == "repl" and place.endswith(f".{_KEPT_BELOW}"))


@functools.lru_cache(maxsize=4096)
def word_of(name: str) -> str:
    """Return a name as one word that a formula can hold: "bytes currently in the cache" has underscores."""
    return _ODD.sub("_", name).strip("_") or "_"


def _is_moment(name: str) -> bool:
    """Return whether it is a date (decoded to seconds) or a process's number: neither is a measure of anything."""
    return name in {"localTime", "pid"} or name.endswith(("Date", "_finished"))
