"""The state a node left on its disk: grastate.dat, gvwstate.dat, the listing of the data folder. Pure parsers.

Formats: galera/galera/src/saved_state.cpp (grastate.dat 2.1), galera/gcomm/src/view.cpp (gvwstate.dat), ls(1) with
`-lAn --time-style=+%s`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.facts.reading import count, flag, whole
from services.lines import lines_of
from services.procedures.plan.host_facts import Grastate

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_VIEW = re.compile(rf"^view_id:\s*\d+\s+({_UUID})\s+(\d+)", re.MULTILINE)
_BY_HAND = re.compile(r"^bootstrap:\s*([01])\s*$", re.MULTILINE)
_MEMBER = re.compile(rf"^member:\s*({_UUID})", re.MULTILINE)
_LISTED = re.compile(r"(\S{10})\S*\s+\d+\s+(\d+)\s+\d+\s+(\d+)\s+(\d+)\s(.+)")
_MOST = 4096
_MOST_LINES = 100_000


def parse_grastate(text: str) -> Grastate | None:
    """Return grastate.dat, None for a damaged one: no UUID, or no whole line with a number as seqno.

    The server writes UUID, seqno and safe_to_bootstrap in this order (saved_state.cpp): what a full disk or a crash cut
    off in the middle of the seqno shows a lower number than the true one, and only its missing line end tells.
    """
    pairs = {}
    for line in text[:_MOST].splitlines(keepends=True):
        name, colon, value = line.partition(":")
        if colon and line.endswith(("\n", "\r")) and not line.lstrip().startswith("#"):
            pairs[name.strip()] = value.strip()
    uuid, seqno = pairs.get("uuid", "").lower(), whole(pairs.get("seqno", ""))
    if not re.fullmatch(_UUID, uuid) or seqno is None:
        return None
    return Grastate(uuid, seqno, flag(pairs.get("safe_to_bootstrap", "")))


def parse_gvwstate(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return (view id as 'UUID:number', the members' UUIDs), None when the text holds no view."""
    found = _VIEW.search(text[: _MOST * 16])
    if found is None:
        return None
    members = tuple(m.group(1).lower() for m in _MEMBER.finditer(text[: _MOST * 16]))
    return f"{found.group(1).lower()}:{found.group(2)}", members


def made_by_hand(gvwstate: str) -> bool | None:
    """Return whether gvwstate.dat says that a person made its view Primary; None when it does not say."""
    found = _BY_HAND.search(gvwstate[: _MOST * 16])
    return None if found is None else found.group(1) == "1"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a data folder shows: how many entries, gcache pages (name, bytes, changed at), files that mean something."""

    entries: int = 0
    pages: tuple[tuple[str, int, float], ...] = ()
    grastate: bool = False
    galera_cache: bool = False
    sst_in_progress: bool = False  # a joiner's file, or the .sst folder it streams into; wsrep_sst.pid is a donor's too
    tablespace: bool = False


def parse_listing(text: str) -> Listing:
    """Return what `ls -lAn --time-style=+%s DIR` shows."""
    names: list[str] = []
    pages = []
    for line in lines_of(text)[:_MOST_LINES]:
        found = _LISTED.match(line)
        if found is None:
            continue
        name = found.group(5).partition(" -> ")[0]
        names.append(name)
        if name.startswith("gcache.page."):
            pages.append((name, count(found.group(3)) or 0, float(found.group(4))))
    return Listing(
        entries=len(names),
        pages=tuple(sorted(pages)),
        grastate="grastate.dat" in names,
        galera_cache="galera.cache" in names,
        sst_in_progress="sst_in_progress" in names or ".sst" in names,
        tablespace="ibdata1" in names,
    )
