"""What the program told that read a backup and its binary logs on a host, each word checked before it is a fact. Pure.

The program is catalogue/galera/rejoin_from_binlogs/survey_program.py; what its facts mean is judged by binlog/chain.py.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from services.facts.backup.backups import every, moment, newest
from services.facts.binlog.chain import MOST_STRETCHES, RECENT, Backup, ChainFile, Wrong

_FIELD = re.compile(r"([a-z]{2,12})=([A-Za-z0-9_.,:@+~-]{1,16000})")
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[A-Za-z0-9_.@-]{1,200}\.\d{6,10}")
_GTID = re.compile(r"\d{1,10}-\d{1,10}-\d{1,20}")
_WHEN = re.compile(r"([0-9]{6}),([0-9]{1,2}:[0-9]{2}:[0-9]{2}),([0-9]{1,10})")
_RECENT = re.compile(r"([0-9]{1,18})~([0-9]{6})~([0-9]{1,2}:[0-9]{2}:[0-9]{2})~([0-9]{1,10})")
_REFUSED = {
    "BACKUP": "BACKUP-UNREAD", "LEFT": "REPLAY-LEFT", "NOBACKUP": "BACKUP-ABSENT", "NOLOGS": "BINLOGS-ABSENT",
}  # fmt: skip
MOST_FILES = 5_000
_FIELDS = 39


def parse_survey(text: str) -> tuple[Backup, tuple[ChainFile, ...]] | Wrong:
    """Return the backup and the files that the program told, or why it told none."""
    if text.startswith("refused "):
        what, _, why = text.removeprefix("refused ").partition(" ")
        return Wrong(_REFUSED.get(what, "BINLOG-UNREAD"), why[:300])
    first, *lines = [line for line in text.split(";") if line.strip()] or [""]
    backup, files = _backup(first), [_file(line) for line in lines[:MOST_FILES]]
    if backup is None or not files or len(lines) > MOST_FILES or None in files:
        return Wrong("BINLOG-UNREAD", "what the program told of the files can not be read")
    return backup, tuple(file for file in files if file is not None)


def _backup(line: str) -> Backup | None:
    word, _, rest = line.strip().partition(" ")
    told = dict(_FIELD.findall(rest))
    version, seqno = _VERSION.match(told.get("version", "")), told.get("stands", "")
    if word != "backup" or _UUID.fullmatch(told.get("uuid", "")) is None or not _is_number(seqno):
        return None
    named = told.get("log", "-")
    return Backup(
        uuid=told["uuid"].lower(),
        seqno=int(seqno),
        version=version[0] if version is not None else "",
        file="" if named == "-" else named,
        position=int(told["position"]) if named != "-" and _is_number(told.get("position", "")) else None,
        kind=told.get("kind", "unknown"),
        size=int(told["size"]) if _is_number(told.get("size", "")) else 0,
        links=int(told["links"]) if _is_number(told.get("links", "")) else None,
        old_links=int(told["oldlinks"]) if _is_number(told.get("oldlinks", "")) else None,
        gtid=newest(told.get("gtids", "")),
        listed=every(told.get("gtids", "")),
        since=moment(told.get("since", "").replace("~", " ")),
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,18}", text) is not None


def _file(line: str) -> ChainFile | None:
    word, _, rest = line.strip().partition(" ")
    name, _, rest = rest.partition(" ")
    told = dict(_FIELD.findall(rest))
    version, when = _VERSION.match(told.get("version", "")), _when(told.get("when", ""))
    kind, _, after = told.get("ending", "").partition(":")
    if word != "file" or _NAME.fullmatch(name) is None or version is None or len(told) < _FIELDS:
        return None
    listed = () if told.get("list", "none") in {"none", "-"} else tuple(told["list"].split(","))
    named = (*listed, *(one for one in (told.get("gtid"), told.get("endgtid"), told.get("belowof")) if one != "-"))
    if not all(isinstance(one, str) and _GTID.fullmatch(one) for one in named):
        return None

    def number(key: str) -> int | None:
        value = told.get(key, "-")
        return int(value) if _is_number(value) else None

    def count(key: str) -> int:
        return number(key) or 0

    return ChainFile(
        name=name, size=count("size"), version=version[0],
        begins_after=listed,
        first=number("first"), below=number("below"), below_end=number("belowend"), above=number("above"),
        above_from=number("abovefrom"), loose=count("zoneddl"), loose_rows=count("zonerows"),
        at_backup=count("zoneat") > 0, count=count("count"),
        last=number("last"), last_end=number("lastend"), gtid=told["gtid"],
        when=when, end_gtid=told["endgtid"],
        head=count("headddl"), tail=count("tailddl"), statements=count("ddl"), local=count("local"),
        in_rows=count("stmts"), in_rows_at=number("stmtat"), xa=count("xa"), back=count("back"),
        missing=count("missing"), stretches=_stretches(told["hole"]), stretched=count("holes"),
        recent=_recent(told["recent"]), writer=number("by"), ending=kind, next_name=after, reached=count("reached"),
        odd=told["odd"] != "0", cut=told["torn"] != "0", broken=told["broken"] != "0",
        invoked=count("users"),
        invoked_at=number("userat"), begun=_epoch(told.get("begun", "")), at_startup=count("startup") > 0,
        below_gtid=told["belowof"], below_when=_when(told.get("belowwhen", "")),
    )  # fmt: skip


def _when(text: str) -> tuple[str, str, int] | None:
    found = _WHEN.fullmatch(text)
    return (found[1], found[2], int(found[3])) if found is not None else None


def _epoch(text: str) -> int | None:
    """Return a time as the program tells it, in UTC, as epoch seconds."""
    try:
        return int(datetime.strptime(text, "%y%m%d,%H:%M:%S").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _stretches(text: str) -> tuple[tuple[int, int, int], ...]:
    """Return what can be read of them: what can't is untold, and refused for that."""
    found = (re.fullmatch(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,9})", one) for one in text.split(","))
    return tuple((int(one[1]), int(one[2]), int(one[3])) for one in found if one is not None)[:MOST_STRETCHES]


def _recent(text: str) -> tuple[tuple[int, int, str], ...]:
    found = (_RECENT.fullmatch(one) for one in text.split(","))
    return tuple((int(one[1]), int(one[4]), f"{one[2]} {one[3]}") for one in found if one is not None)[-RECENT:]
