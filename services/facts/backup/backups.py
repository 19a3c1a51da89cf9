"""What a folder of mariadb-backup or xtrabackup says of itself: kind, LSNs, position, versions. Pure parsers.

Sources: MariaDB KB "Files Created by mariadb-backup"; Percona XtraBackup manual, "xtrabackup_info". Seen with
mariadb-backup 10.11.18: a prepared full backup says `log-applied` (xtrabackup: `full-prepared`); two incrementals may
have the same from_lsn and to_lsn, where no checkpoint came between them: their order is told by last_lsn and time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from services.connections.observer.paths import is_clean
from services.connections.reads import commands
from services.connections.reads.read import CommandRead
from services.facts.galera.state_files import position_of
from services.facts.reading import count, words
from services.facts.replication import gtid
from services.lines import lines_of

BACKUPS_LIMIT_S = 40.0
MOST_BACKUPS = 64
_MOST_LINES = 20_000
_FULL, _PREPARED = "full-backuped", frozenset({"log-applied", "full-prepared"})
_INCREMENTAL = "incremental"
_GTID = re.compile(r"GTID of the last change '([0-9A-Za-z:,_\s-]{0,16384})'")
_MOST_TOLD = 16_384
"""Bytes of one file that the program tells."""
_BASE = re.compile(r"--incremental-basedir=([A-Za-z0-9/_.@:+,=-]+)")
_LISTED_GTID = re.compile(r"[0-9]{1,10}-[0-9]{1,10}-[0-9]{1,20}", re.ASCII)
_MOMENT = re.compile(r"[0-9]{6} [0-9]{1,2}:[0-9]{2}:[0-9]{2}", re.ASCII)
OWN = frozenset({"longer", "same", "other", "absent"})
_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})")


@dataclass(frozen=True, slots=True)
class Backup:
    """One folder of a backup; '' and None = not known.

    Attributes:
        path, real: the folder, and what it is without symbolic links; size: bytes of its files.
        links, hard: symbolic links (and .isl files), and files with several names inside; packed: compressed or
            encrypted files.
        metas, spent: `.meta` files of an incremental, and those whose `.delta` is gone: it was prepared with.
        options: what in its own option file no prepare is given, in words; '' where all is plain.
        writers: the folder of its whole path that others than root and the server may write into; '' for none.
        mount, free: the file system it is on.
        kind: backup_type; from_lsn, to_lsn, last_lsn: as its checkpoints say.
        uuid: of this backup; server, tool: versions as numbers; began, ended: as its info says, 'YYYY-MM-DD hh:mm:ss'.
        state_uuid, seqno: the cluster's position it stands at; gtid: of the last change in each domain; since: when
            the log was begun that tells it, 'YYMMDD h:mm:ss' in UTC, and by: its server's id; base: the folder that it
            was made against; log: name of the binary log then; own: what the host's data folder has under that
            name, a word of OWN: one with the same head and more behind it, one that ends with it, another one, none.
        partial, compressed, encrypted: as its info says.
    """

    path: str
    real: str = ""
    absent: bool = False
    size: int | None = None
    links: int | None = None
    hard: int | None = None
    packed: int | None = None
    metas: int | None = None
    spent: int | None = None
    options: str | None = None
    writers: str | None = None
    mount: str = ""
    free: int | None = None
    kind: str = ""
    from_lsn: int | None = None
    to_lsn: int | None = None
    last_lsn: int | None = None
    uuid: str = ""
    server: tuple[int, ...] = ()
    is_mariadb: bool = False
    tool: tuple[int, ...] = ()
    began: str = ""
    ended: str = ""
    state_uuid: str = ""
    seqno: int | None = None
    gtid: str = ""
    listed: str = ""
    since: str = ""
    by: int | None = None
    base: str = ""
    log: str = ""
    own: str = ""
    partial: bool | None = None
    compressed: bool | None = None
    encrypted: bool | None = None

    @property
    def is_guarded(self) -> bool:
        """Return whether nobody but root and the server's account can have laid it there."""
        return self.writers == ""

    @property
    def is_full(self) -> bool:
        """Return whether it is a full backup that nobody has prepared."""
        return self.kind == _FULL

    @property
    def is_prepared(self) -> bool:
        """Return whether it is a full backup that was prepared."""
        return self.kind in _PREPARED

    @property
    def is_incremental(self) -> bool:
        """Return whether it is an incremental."""
        return self.kind == _INCREMENTAL

    @property
    def is_linked(self) -> bool:
        """Return whether its files lie elsewhere: a symbolic link leads to it, or lies in it."""
        return bool(self.links) or (bool(self.real) and self.real != self.path)

    @property
    def is_packed(self) -> bool:
        """Return whether files of it are compressed or encrypted: by those that lie there.

        Its info says how it was made, and goes on saying so once it is unpacked; it counts where nobody counted files.
        """
        return self.packed > 0 if self.packed is not None else bool(self.compressed or self.encrypted)

    @property
    def log_number(self) -> int | None:
        """Return the number of the binary log then."""
        return count(self.log.rpartition(".")[2])

    @property
    def position(self) -> str:
        """Return 'UUID:seqno', '' for none."""
        return f"{self.state_uuid}:{self.seqno}" if self.state_uuid and self.seqno is not None else ""


def backups_read(datadir: str = "") -> CommandRead:
    """Return the read that looks for all backups on the disks of a host, held against the logs in its data folder."""
    if is_clean(datadir):
        return commands.BACKUPS_HELD_AGAINST.read(datadir, sudo=True)
    return commands.BACKUPS_FOUND.read(sudo=True)


def backup_read(path: str) -> CommandRead:
    """Return the read of the backup in one folder."""
    return commands.BACKUP_LOOKED_AT.read(path, sudo=True)


@dataclass(slots=True)
class _Block:
    plain: dict[str, str] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)


def parse_backups(text: str) -> tuple[Backup, ...]:
    """Return the backups that the program told of; one whose telling was cut short is left out."""
    found: list[Backup] = []
    block, file = _Block(), ""
    for line in lines_of(text)[:_MOST_LINES]:
        if line.startswith("| ") or line == "|":
            block.files.setdefault(file, []).append(line[2:])
            continue
        name, _, rest = line.partition(" ")
        if name == "backup":
            block, file = _Block({"backup": rest}), ""
        elif name == "file":
            file = rest
        elif name == "end" and block.plain.get("backup"):
            found.append(_backup(block))
            block = _Block()
        elif name:
            block.plain[name] = rest
    return tuple(found[:MOST_BACKUPS])


def _backup(block: _Block) -> Backup:
    plain, files = block.plain, block.files
    path = plain["backup"]
    if "absent" in plain:
        return Backup(path, absent=True)
    counts = [count(word) for word in plain.get("counts", "").split()] + [None] * 5
    disk = plain.get("disk", "").split(None, 5)
    points, info = _pairs(files.get("checkpoints", ())), _pairs(files.get("info", ()))
    position = position_of(" ".join(files.get("galera_info", ())[:1]).lower())
    server = info.get("server_version", "")
    log = " ".join(files.get("binlog_info", ())).split("\t")
    said = _GTID.search(" ".join(files.get("info", ())))
    gtids = newest(plain.get("gtids", "")) or whole_gtids(said[1] if said else log[2] if len(log) > 2 else "")
    base = _BASE.search(info.get("tool_command", ""))
    return Backup(
        path=path, real=plain.get("real", ""), size=count(plain.get("size", "")),
        links=counts[0], hard=counts[1], packed=counts[2], metas=counts[3], spent=counts[4],
        options=words(plain["options"], 400) if "options" in plain else None,
        writers=_writers(plain.get("writers")),
        mount=words(disk[5]) if len(disk) == 6 else "", free=count(disk[3]) if len(disk) == 6 else None,
        kind=words(points.get("backup_type", ""), 40), from_lsn=count(points.get("from_lsn", "")),
        to_lsn=count(points.get("to_lsn", "")), last_lsn=count(points.get("last_lsn", "")),
        uuid=words(info.get("uuid", ""), 64), server=version_of(server), is_mariadb="mariadb" in server.lower(),
        tool=version_of(info.get("tool_version", "")), began=words(info.get("start_time", ""), 19),
        ended=words(info.get("end_time", ""), 19), state_uuid=position[0] if position else "",
        seqno=position[1] if position and position[1] >= 0 else None,
        gtid=gtids, listed=every(plain.get("gtids", "")), since=moment(plain.get("since", "")),
        by=count(plain.get("by", "")), base=base[1] if base else "",
        log=words(log[0].strip(), 255), own=_own(plain), partial=_yes(info.get("partial")),
        compressed=_yes(info.get("compressed")), encrypted=_yes(info.get("encrypted")),
    )  # fmt: skip


def _own(plain: Mapping[str, str]) -> str:
    """Return what the data folder has of the backup's log; of one whose head was not understood nothing is known."""
    return plain.get("own", "") if plain.get("own") in OWN and "gtids" in plain else ""


def _writers(said: str | None) -> str | None:
    return None if not said else "" if said == "none" else words(said)


def moment(text: str) -> str:
    """Return a time as binary logs tell it, 'YYMMDD h:mm:ss', or '' where it is none."""
    if _MOMENT.fullmatch(text) is None:
        return ""
    try:
        datetime.strptime(text, "%y%m%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return ""
    return text


def newest(gtids: str) -> str:
    """Return the newest GTID of each domain of a binary log's Gtid list: the last of a domain in it, with commas.

    A list has one GTID a domain and server, the newest one of its domain last (rpl_gtid.cc, get_gtid_list).
    """
    found: dict[str, str] = {}
    for one in gtids.split(","):
        if _LISTED_GTID.fullmatch(one):
            found[one.partition("-")[0]] = one
    return ",".join(found.values())


def whole_gtids(sentence: str) -> str:
    """Return GTIDs as a backup tells them, several sources on as many lines, in one; '' for a set that was cut.

    XtraBackup prints a set as the server does (Percona XtraBackup manual, "xtrabackup_binlog_info").
    """
    gtids = " ".join(sentence.split())
    cut = gtids.endswith(",") or len(sentence) >= _MOST_TOLD // 2
    return "" if cut or gtid.parse(gtids) is None else gtids


def every(gtids: str) -> str:
    """Return the GTIDs of a binary log's Gtid list, with commas: the newest one of each domain and server."""
    return ",".join(one for one in gtids.split(",") if _LISTED_GTID.fullmatch(one))


def version_of(text: str) -> tuple[int, ...]:
    """Return the three numbers of a version, () where there are none."""
    found = _VERSION.search(text)
    return tuple(int(one) for one in found.groups()) if found else ()


def _pairs(lines: Iterable[str]) -> Mapping[str, str]:
    """Return 'name = value' lines; the first of each name counts."""
    found: dict[str, str] = {}
    for line in lines:
        name, sign, value = line.partition("=")
        if sign:
            found.setdefault(name.strip(), value.strip())
    return found


def _yes(value: str | None) -> bool | None:
    """Return whether an info's field says yes: N, Y, or how it is done ('compressed = compressed')."""
    return None if not value else value.strip().upper() not in {"N", "NO", "0"}
