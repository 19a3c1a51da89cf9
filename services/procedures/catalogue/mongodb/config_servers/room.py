"""Room for what a conversion makes: on every host, for every copy, asked for before anything is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from services.procedures.catalogue.checks.parts import checked, unread
from services.procedures.catalogue.mongodb.config_servers.folders import folders_of_copy, trial_of
from services.procedures.catalogue.mongodb.config_servers.party import WINDOW, Party
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.plan.checks import Check, Remedy
from services.procedures.plan.parts.machine.volumes import Volumes
from services.procedures.plan.parts.mongodb.data import MongoData

_GROWS, _JOURNAL = 1.1, 300_000_000
"""A copy grows while the run lasts; a server that starts on one makes journal files of 100 MB each (3.2.5)."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the metadata that a run makes: where, and how many bytes it may come to; None: not known."""

    host: str
    path: str
    bytes: int | None


def copies_of(party: Party) -> tuple[Copy, ...]:
    """Return every copy, by host: of the last config server, in a window beside each old folder, on each new host."""
    most = [party.facts.host(host)[MongoData].bytes for host in party.servers]
    whole = max((one for one in most if one is not None), default=None) if None not in most else None
    last = party.facts.host(party.last)[MongoData].bytes
    found = [Copy(party.last, party.backup, _grown(last)), Copy(party.last, trial_of(party.backup), _served(last))]
    if party.way == WINDOW:
        found += [Copy(host, party.new_data(host), _served(whole)) for host in party.servers]
    else:
        found += [Copy(host, party.data(host), _served(whole)) for host in party.new]
    return tuple(found)


def room_wanted(party: Party, *, window_only: bool = False) -> tuple[FreeDisk, ...]:
    """Return that there is room on each file system for all that a run makes on it.

    Args:
        window_only: for the folders that a window makes; the copy is made by then.
    """
    copied = {party.backup, trial_of(party.backup)} if window_only else set[str]()
    wanted = dict[tuple[str, str], int]()
    for one in copies_of(party):
        disk = party.facts.host(one.host)[Volumes].of(one.path)
        if disk is not None and one.bytes is not None and one.path not in copied:
            wanted[one.host, disk.mount] = wanted.get((one.host, disk.mount), 0) + one.bytes
    return tuple(FreeDisk(host, mount, total) for (host, mount), total in wanted.items())


def room(party: Party) -> Check:
    """The copy's folder is new, and every file system has room for all that the run makes on it."""
    data = party.facts.host(party.last)[MongoData]
    old_copy = [path for path in folders_of_copy(party) if data.holds(path)]
    faults = [f"{path} already exists: a copy from an earlier run is never reused" for path in old_copy]
    if not party.backup.startswith("/") or party.backup == "/":
        faults.append("the copy needs an absolute path")
    old = (data.path, party.new_data(party.last))
    if crossed := [path for path in old if _within(party.backup, path) or _within(path, party.backup)]:
        faults.append(
            f"{party.backup} is, contains or is inside {' and '.join(crossed)}: that would be no separate copy"
        )
    faults += dict.fromkeys(_lacking(party))
    good = "; ".join(f"{(one.bytes or 0) / 1e9:.2f} GB for {one.path} on {one.host}" for one in copies_of(party))
    return checked(
        "BACKUP-ROOM",
        "Every host has space for its copies of the metadata",
        block=faults,
        good=good,
        why="The copy is the last way back; a server tests it on a copy of it. A "
        "disk that fills up ends the run with everything stopped.",
        try_=("Free disk space there, or choose a folder on another disk.",),
        answers=(Remedy("Use a new folder; the old one is kept", "backup", (_free(party),)),) if old_copy else (),
        absolute=True,  # nothing to override: the first step asks for the same
    )


def _lacking(party: Party) -> Iterator[str]:
    for one in copies_of(party):
        host = party.facts.host(one.host)
        disk = host[Volumes].of(one.path)
        if one.bytes is None:
            yield unread(party.facts.host(_unmeasured(party)), "the size of the data folder", "data")
        elif disk is None or disk.free is None:
            yield f"the free disk of {one.host} could not be read"
    for wanted in room_wanted(party):
        disk = party.facts.host(wanted.host)[Volumes].of(wanted.path)
        if disk is not None and disk.free is not None and disk.free < wanted.at_least:
            paths = [one.path for one in copies_of(party) if one.host == wanted.host]
            yield (
                f"{disk.free / 1e9:.1f} GB are free at {disk.mount} on {wanted.host}, "
                f"{wanted.at_least / 1e9:.1f} GB are required for {', '.join(paths)}"
            )


def _unmeasured(party: Party) -> str:
    return next((host for host in party.servers if party.facts.host(host)[MongoData].bytes is None), party.last)


def _grown(size: int | None) -> int | None:
    return None if size is None else int(size * _GROWS)


def _served(size: int | None) -> int | None:
    return None if size is None else int(size * _GROWS) + _JOURNAL


def _free(party: Party) -> str:
    """Return the first path like the one that was wanted at which neither a copy lies nor what goes with it."""
    data = party.facts.host(party.last)[MongoData]
    paths = (f"{party.backup.rstrip('/')}-{number}" for number in range(2, 1000))
    return next(p for p in paths if not any(map(data.holds, folders_of_copy(replace(party, backup=p)))))


def _within(path: str, folder: str) -> bool:
    """Return whether a path is this folder, or lies in it."""
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
