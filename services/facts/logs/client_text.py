"""What clients wrote into a server's error log, told apart from the server's own lines. Pure.

A server logs statements, names and messages as they came, line breaks and all: a refused login's name (MariaDB,
log_warnings 2), a statement that failed (`Query: '…'`, on its origin and twice on every applier), an event's SIGNAL, a
database's name. What can stand there is the client's, whatever it looks like; tried with MariaDB 10.11.18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.connections.programs.read_programs import (
    CLIENT_SPEAKS,
    DATABASE_NAMED,
    FAR,
    FILE_NAME_LENGTH,
    FOLDER_NAMED,
    MYSQL_CODE,
    MYSQL_SPEAKS,
    NAME_LENGTH,
    NEAR,
    ONE_MESSAGE_S,
    QUERY_PRINTED,
    STAMP,
)
from services.facts.logs.json_log import plain_line
from services.lines import lines_of

LEFT_OUT = "(a client's words, left out)"
LEFT_OUT_MORE = "(a client's words, left out; a state transfer may stand there)"
LEFT_OUT_REQUEST = "(a client's words, left out; a request of a state transfer may stand there)"

JOURNAL = re.compile(
    r"(?P<at>\d{9,11}\.\d{1,9}) \S{1,255} (?P<by>\S{1,255}?\[\d{1,10}\]|[^:]{0,300}): (?P<message>.*)", re.DOTALL
)
"""A line of `journalctl -o short-unix`: the host's epoch seconds, the process that wrote it ('mariadbd[162]'), what.

An identifier may have colons in it (SyslogIdentifier=, systemd.exec(5)): its number ends it.

journald takes the process from the kernel: what a client makes a server log is the server's, and never systemd's or
that of the script of an SST (man systemd.journal-fields(7), _PID; seen with systemd 252).
"""
_SYSTEMD = "systemd["
_DENIED = "Access denied for user "
_STAMP = STAMP.replace("]+", "]{1,20}").replace(" +[", " {1,20}[")
"""With a bound to each repeat, which awk does not know everywhere."""
_DENIED_OWN = re.compile(rf"(?:^|: ){_STAMP}\[(?:Warning|Note)\] .{{0,100}}{_DENIED}")
_DENIED_ALONE = re.compile(rf"{_STAMP}\[(?:Warning|Note)\] (?:\[[\w-]{{1,20}}\] ){{0,2}}Access denied for user '")
_DENIED_PLAIN = re.compile(rf"{_DENIED}'[\w.@%-]{{0,80}}'@'[\w.:%-]{{0,255}}'")
_NAME_ENDS = "(using password: "
_MOST_LINE = 4000
_REFUSED_LENGTH = 130
"""A user's name has 128 characters at most (MariaDB KB, "Identifier Names")."""
_SPEAKS = re.compile(CLIENT_SPEAKS)
_PRINTED = re.compile(QUERY_PRINTED)
_MYSQL, _MYSQL_SPEAKS = re.compile(MYSQL_CODE), re.compile(MYSQL_SPEAKS)
_NAMES = re.compile(DATABASE_NAMED)
_FOLDER = re.compile(FOLDER_NAMED)
_MAY_END = re.compile(r"(?:\047|blob data\])$")
"""How the last line of the complaint about a folder's name ends, or may: journalctl doesn't show each one."""
_PLAIN_DATABASE = re.compile(
    rf"^[^']{{0,200}}{DATABASE_NAMED}[\w$.-]{{0,64}}' user: '[\w.@%-]{{0,80}}' host: '[\w.:%-]{{0,255}}' [(]"
)
_PLAIN_NAMES = re.compile(r"(?:`[\w$.-]{1,64}`[^`']{0,300}){1,8}")
"""Names in backticks that are plain stay readable; what follows them may be the rest of one all the same."""
_CODE = re.compile(r"rror[_ ]code: \d{1,6}$")
_STAMPED = re.compile(r"\d{4}-\d\d-\d\d[T ]|\d{6} ")
"""A server's own line. What comes before the next one is a client's for sure (a script's lines apart)."""
_SCRIPT = "WSREP_SST"
_OF_TRANSFERS = re.compile(r"ransfer|SST|IST|synced|Shift|mbstream")
_REQUEST = re.compile(r"requested state transfer|wsrep_sst_|Prepared IST")


def without_client_text(lines: Iterable[str], *, begins_inside: bool = False) -> tuple[str, ...]:
    """Return a log's lines, oldest first, without what clients wrote into them.

    What begins within the longest message after a client's first word is left out; the server's own line keeps what
    stands before that word, and says that something was left out, and whether it can have told of a state transfer.

    Args:
        begins_inside: the lines were cut off a longer log: what stands first may be the middle of a client's text.
    """
    whole = tuple(plain_line(line) for line in lines)
    shown = _after_refused(whole)
    for index, line in _after_words(whole, begins_inside=begins_inside).items():
        if index in shown:
            shown[index] = line
    return tuple(line for _, line in sorted(shown.items()) if line)


def own_lines(text: str, most: int) -> tuple[str, ...]:
    """Return the lines of a log that are the server's own words.

    Args:
        most: how many lines were asked for: as many may have been cut off a longer log, in the middle of a client's.
    """
    lines = lines_of(text)
    return without_client_text(lines, begins_inside=len(lines) >= most)


@dataclass(slots=True)
class _Process:
    """How far a process has written, and to where what it wrote last may be a client's words.

    `owner`: the line that tells what was left out behind it; `stamped`: a server's own line stood there since.
    """

    until: int
    here: int = 0
    at: float | None = None
    owner: int = -1
    stamped: bool = False

    def inside(self, at: float | None) -> bool:
        """Return whether what is written now may belong to a client's words."""
        return self.here < self.until and (at is None or self.at is None or at <= self.at + ONE_MESSAGE_S)

    def speaks(self, end: int, at: float | None, *, inside: bool) -> None:
        """Note that a client's words begin here, and how far they can go."""
        self.until = max(self.until, end)
        self.at = at if not inside else None if at is None or self.at is None else max(at, self.at)


def _after_words(lines: tuple[str, ...], *, begins_inside: bool) -> dict[int, str]:
    """Return what becomes of the lines that clients wrote: the server's part of one, '' for a line of theirs."""
    changed: dict[int, str] = {}
    written: dict[str, _Process] = {}
    told = tuple(_told(line) for line in lines)
    for index, (line, (by, at, message)) in enumerate(zip(lines, told, strict=True)):
        if by.startswith(_SYSTEMD):
            continue
        one = written.setdefault(by, _Process(NEAR if begins_inside else 0))
        inside = one.inside(at)
        where, reach = _speaks(message[:_MOST_LINE]) if not _DENIED_ALONE.match(message) else (0, 0)
        if reach == FILE_NAME_LENGTH:
            reach = _named(told, index, where + reach) - where
        if reach:
            one.speaks(one.here + where + reach, at, inside=inside)
        if inside:
            changed[index] = ""
            one.stamped = not reach and (one.stamped or _STAMPED.match(message) is not None)
            if one.owner >= 0 and (one.stamped or _SCRIPT in line):
                changed[one.owner] = _more(changed[one.owner], line)
        elif reach and not (_PLAIN_DATABASE.search(message) or _PLAIN_NAMES.fullmatch(message, where)):
            code = _CODE.search(message[-40:])
            own = line[: len(line) - len(message) + where]
            changed[index] = f"{own}{LEFT_OUT}{f', e{code[0]}' if code else ''}"
            one.owner, one.stamped = index, False
        one.here += len(message) + 1
    return changed


def _told(line: str) -> tuple[str, float | None, str]:
    """Return who wrote a line, '' for not known, when, and what."""
    found = JOURNAL.match(line)
    return (found["by"], float(found["at"]), found["message"]) if found else ("", None, line)


def _named(told: tuple[tuple[str, float | None, str], ...], index: int, most: int) -> int:
    """Return how far the complaint about a folder's name can go: its last line ends with a quote."""
    by, length, end = told[index][0], 0, 0
    for other, _, message in told[index:]:
        if other != by:
            continue
        length += len(message) + 1
        end = length if _MAY_END.search(message[-20:]) else end
        if length > most:
            break
    return end or most


def _speaks(message: str) -> tuple[int, int]:
    """Return where in a message a client's words begin and how far they can go on; (0, 0) where none do."""
    near, far = _SPEAKS.search(message), _PRINTED.search(message)
    tag = _MYSQL.search(message)
    if far is None and tag is not None and _MYSQL_SPEAKS.search(message, tag.end()):
        far = tag
    if far is not None:
        return (min(far.start(), near.start()) if near else far.start()), FAR
    if near is not None:
        named = _FOLDER.search(message)
        return near.start(), FILE_NAME_LENGTH if named is not None and named.start() < near.start() else NEAR
    if found := _NAMES.search(message):
        return found.end(), NAME_LENGTH
    return 0, 0


def _more(own: str, line: str) -> str:
    """Return the server's part of a line with a word of what else was left out behind it."""
    if _REQUEST.search(line):
        return own.replace(LEFT_OUT_MORE, LEFT_OUT_REQUEST).replace(LEFT_OUT, LEFT_OUT_REQUEST)
    return own.replace(LEFT_OUT, LEFT_OUT_MORE) if _OF_TRANSFERS.search(line) else own


def _after_refused(lines: tuple[str, ...]) -> dict[int, str]:
    """Return the lines, by their place, without what a client that was refused wrote into them as its name.

    What stands within a name's length before the end of one, back to the server's own line, is the client's. A plain
    name stays readable.
    """
    kept: list[tuple[int, str]] = []
    ends: list[tuple[int, int, bool]] = []  # (place in kept, where in the log, whether no line of the server's own)
    here = own_seen = 0
    for index in range(len(lines) - 1, -1, -1):
        line, before = lines[index], here
        here += len(_told(line)[2]) + 1
        ends = [end for end in ends if before - end[1] <= _REFUSED_LENGTH]
        closes = _NAME_ENDS in line
        if _DENIED in line and _DENIED_OWN.search(line[:_MOST_LINE]):
            ends = _drop(kept, ends, opened=not closes)
            own_seen = here
            if closes:
                ends.append((len(kept), here, False))
            plain = _DENIED_PLAIN.search(line) is not None
            kept.append((index, line if plain else f"{line[: line.index(_DENIED)]}{_DENIED}'…'"))
        elif closes:
            ends.append((len(kept), here, True))
        else:
            kept.append((index, line))
    _drop(kept, [end for end in ends if end[1] > own_seen], opened=False)  # the log may begin inside a name
    return dict(kept)


def _drop(
    kept: list[tuple[int, str]], ends: list[tuple[int, int, bool]], *, opened: bool
) -> list[tuple[int, int, bool]]:
    """Take away what was kept from the newest end of a name on that may belong to the line that is looked at."""
    place = next((place for place, _, bare in ends if bare or opened), len(kept))
    del kept[place:]
    return [(min(place, end[0]), end[1], end[2]) for end in ends]
