"""The programs that bring a backup, on scripted hosts: what they leave, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.errors import UserError
from services.procedures.catalogue.galera.bringing.programs import (
    CLEAR_PLACE,
    MAKE_PLACE,
    MARK,
    SEND_HOST,
    SEND_NOW,
    TAKE_IN,
)

if TYPE_CHECKING:
    from services.facts.backups import Backup
    from tests.faults.scripted.cluster import Cluster, Host

PROGRAMS = frozenset({CLEAR_PLACE, MAKE_PLACE, SEND_HOST, SEND_NOW, TAKE_IN})
PLACE = "/var/lib/pilothouse/pilothouse-brought-"
_UNIT = "pilothouse-bring-4444.service"


def performed(cluster: Cluster, host: Host, argv: list[str]) -> str:
    """Do what the program does, and return what it prints."""
    text, place, words = argv[2], argv[4], argv[5:]
    if text in {CLEAR_PLACE, MAKE_PLACE}:
        host.files = {path: said for path, said in host.files.items() if not path.startswith(f"{place}/")}
        host.files.pop(place, None)
        if text == MAKE_PLACE:
            host.files |= {place: "", f"{place}/{MARK}": "pilothouse"}
        return ""
    if f"{place}/{MARK}" not in host.files:
        raise UserError("exit code 3", host=host.name)
    if text == TAKE_IN:
        return _taken_in(host, place, words)
    to = next((one for one in cluster.hosts.values() if _UNIT in one.units), None)
    if to is None:
        raise UserError("failed: nobody listens", host=host.name)
    pairs = {one.files.get(f"{place}/cert.pem") for one in (host, to)}
    assert len(pairs) == 1, "each end has its own certificate"
    assert None not in pairs
    assert not to.running
    to.files[f"{place}/.came"] = "whole"
    return "completed OK!\nthe node says: unpacked\nsent: whole" if text == SEND_NOW else "sent: whole"


def _taken_in(host: Host, place: str, words: list[str]) -> str:
    """What came gets its names; once more it is there already."""
    names = words[1:]
    if host.files.pop(f"{place}/.came", None) is not None:
        host.files |= {f"{place}/{name}": "" for name in names}
    missing = [name for name in names if f"{place}/{name}" not in host.files]
    if missing:
        raise UserError(f"failed: {missing} did not come", host=host.name)
    return f"came: {len(names)} folders, 100000000 bytes"


def found(host: Host, backups: tuple[Backup, ...]) -> tuple[Backup, ...]:
    """Return these backups and those that were brought: the same ones, in the run's own folder."""
    brought = (path for path in sorted(host.files) if path.startswith(PLACE))
    named = {path.rpartition("/")[2]: path for path in brought}
    again = (replace(one, path=named[name], real=named[name]) for one in backups
             if (name := one.path.rpartition("/")[2]) in named)  # fmt: skip
    return (*backups, *again)
