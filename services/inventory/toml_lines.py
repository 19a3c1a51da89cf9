"""Where each table and key of a TOML text stands, so that a fault can name its line. tomllib tells values only."""

from __future__ import annotations

import re

from services.lines import lines_of

Place = tuple[str | int, ...]
"""("host", 0, "ssh", "user"): names of tables, the index inside an array of tables, the key."""

_HEADER = re.compile(r"(\[\[?+)\s*+([A-Za-z0-9_.\-\"' ]++)\s*+\]\]?+\s*+(?:#.*)?")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-.\"']+)\s*=")


def places(text: str) -> dict[Place, int]:
    """Return the line (from 1) of every header and key found.

    Headers and keys are searched line by line: what stands inside an inline table or a multi-line string is not found,
    and then `line_of` answers with the line of what encloses it.
    """
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    here: Place = ()
    for number, line in enumerate(lines_of(text), start=1):
        if header := _HEADER.fullmatch(line.strip()):
            names = _names(header[2])
            here = _inside(names[:-1], counts)
            last: Place = (*here, names[-1])
            if header[1] == "[[":
                counts[last] = counts.get(last, -1) + 1
                last = (*last, counts[last])
            here = last
            found.setdefault(here, number)
        elif key := _KEY.match(line):
            found.setdefault((*here, *_names(key[1])), number)
    return found


def line_of(place: Place, found: dict[Place, int]) -> int | None:
    """Return the line of `place`, or of the nearest thing around it."""
    for end in range(len(place), 0, -1):
        if place[:end] in found:
            return found[place[:end]]
    return None


def _inside(names: tuple[str, ...], counts: dict[Place, int]) -> Place:
    """Return the place of the last element of each array on the way: [host.ssh] belongs to the last [[host]]."""
    here: Place = ()
    for name in names:
        here = (*here, name)
        if here in counts:
            here = (*here, counts[here])
    return here


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
