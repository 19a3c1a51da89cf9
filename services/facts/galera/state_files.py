"""The state a node left on its disk: grastate.dat, gvwstate.dat, the listing of the data folder. Pure parsers.

Formats: galera/galera/src/saved_state.cpp (grastate.dat 2.1), galera/gcomm/src/view.cpp (gvwstate.dat), ls(1) with
`-lAn --time-style=+%s`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.facts.reading import count, flag, whole_number
from services.lines import lines_of

ZERO_UUID = "00000000-0000-0000-0000-000000000000"
KEPT_ASIDE, KEPT_INSIDE = "kept-aside", "kept-inside"
"""Codes of the problem of a data folder: an older one is kept beside it, or inside it."""
KEPT = frozenset({KEPT_ASIDE, KEPT_INSIDE})
_WORDS = r"(?:[-0-9T:.+Z]+ +)*(?:\[[-A-Za-z0-9]+\] )*(?:WSREP: |(?<=\[WSREP\] ))Recovered position: "
_STATE = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:-?\d+"
RECOVERED = rf"^{_WORDS}({_STATE})"
"""A line of the provider's own. InnoDB prints names of tables there too ('Tablespace for table `shop`.`Recovered
position...` is set as discarded', MariaDB 10.11.18, tried): a name of 64 characters, with a line break in it or none,
has no room for this."""
NOT_RECOVERED = "not recovered: "
RECOVERED_OR_NOT = rf"^(?:{_WORDS})?((?<=Recovered position: ){_STATE}(?!(?s:.*)^{NOT_RECOVERED})|^{NOT_RECOVERED}.+)"
"""The same, or why a server could not tell: what is printed behind its own output counts before a position in it."""
OF_PROVIDER, AN_ERROR = "WSREP: ", "[ERROR]"
"""What a program on a host looks for in a server's log: that the provider wrote at all, and the first error."""
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_VIEW = re.compile(rf"^view_id:\s*\d+\s+({_UUID})\s+(\d+)", re.MULTILINE)
_MY_UUID = re.compile(rf"^my_uuid:\s*({_UUID})", re.MULTILINE)
_BY_HAND = re.compile(r"^bootstrap:\s*([01])\s*$", re.MULTILINE)
_END_OF_VIEW = re.compile(r"^#vwend\s*$", re.MULTILINE)
_MEMBER = re.compile(rf"^member:\s*({_UUID})", re.MULTILINE)
_LISTED = re.compile(r"(\S{10})\S*\s+\d+\s+(\d+)\s+\d+\s+(\d+)\s+(\d+)\s(.+)")
_LISTED_EXACTLY = re.compile(r"\S{10,11}\s+\d+\s+\d+\s+\d+\s+(\d+)\s+(\S+\s+\S+\s+[+-]\d{4})\s(.+)")
_POSITION = re.compile(rf"({_UUID.replace('A-F', '')}):(-?[0-9]{{1,18}})(?![0-9])")
_OF_THE_SERVER = re.compile(
    r"ib\w*|#ib_\S+|#innodb_\w+|undo_?\d+\S*|mysql\.ibd|aria_log[._]\w+|[\w.@-]{1,200}\.(?:\d{6,10}|index)"
)
_MOST = 4096
_MOST_LINES = 100_000
_PAGE = re.compile(r"gcache\.page\.\d{6,20}", re.ASCII)
"""A page's whole name (gcache_page_store.cpp: "gcache.page.%06zu"). Its folder is the account's: what only begins so
may go on with anything."""


@dataclass(frozen=True, slots=True)
class Grastate:
    """grastate.dat. `seqno` -1 means unknown, not nothing; a zero uuid means: was inconsistent or never a member."""

    uuid: str = ""
    seqno: int | None = None
    safe_to_bootstrap: bool | None = None

    @property
    def names_state(self) -> bool:
        """Return whether it names what the data are a part of: without that only an SST can come."""
        return self.uuid not in {"", ZERO_UUID}


def position_of(text: str) -> tuple[str, int] | None:
    """Return the first (UUID, seqno) of a text: --wsrep-recover's 'Recovered position: UUID:26221'; -1: not known.

    MariaDB KB "Galera Cluster: Recovering the Primary Component"; the UUID in small letters, as servers print it.
    """
    found = _POSITION.search(text)
    return (found.group(1), int(found.group(2))) if found is not None else None


def is_state_uuid(text: str) -> bool:
    """Return whether a text is a state's UUID as servers print it."""
    return re.fullmatch(_UUID, text) is not None and text == text.lower()


def only_a_server_writes(name: str) -> bool:
    """Return whether nobody but a server writes this file of a data folder; logs, which others rotate, are none.

    galera.cache is none either: a run takes it away itself where only an SST can come, and no server that runs leaves
    InnoDB's own files as they were.
    """
    return _OF_THE_SERVER.fullmatch(name) is not None


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
    uuid, seqno = pairs.get("uuid", "").lower(), whole_number(pairs.get("seqno", ""))
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


def is_whole_view(gvwstate: str) -> bool:
    """Return whether the text of a gvwstate.dat holds a view from its beginning to its end."""
    text = gvwstate[: _MOST * 16]
    return _VIEW.search(text) is not None and _END_OF_VIEW.search(text) is not None


def own_uuid(gvwstate: str) -> str:
    """Return which of its members the node of a gvwstate.dat itself is, '' when it does not say."""
    found = _MY_UUID.search(gvwstate[: _MOST * 16])
    return found.group(1).lower() if found is not None else ""


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
        if _PAGE.fullmatch(name):
            pages.append((name, count(found.group(3)) or 0, float(found.group(4))))
    return Listing(
        entries=len(names),
        pages=tuple(sorted(pages)),
        grastate="grastate.dat" in names,
        galera_cache="galera.cache" in names,
        sst_in_progress="sst_in_progress" in names or ".sst" in names,
        tablespace="ibdata1" in names,
    )


def parse_exact_listing(text: str) -> tuple[tuple[str, str, str], ...]:
    """Return (changed at, name, bytes) of each file of `ls -lAn --time-style=full-iso DIR`, as it is told."""
    lines = (_LISTED_EXACTLY.fullmatch(line) for line in lines_of(text))
    return tuple((found.group(2), found.group(3), found.group(1)) for found in lines if found is not None)
