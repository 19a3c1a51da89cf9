"""The process of a MongoDB server, as ps(1) and proc(5) tell it. Pure."""

from __future__ import annotations

import re

from services.connections.read_programs import MONGODB_DAEMONS
from services.facts.reading import count
from services.lines import lines_of

_GROUP = re.compile(r"^(?:0::|\d{1,3}:name=systemd:)/([^\n]{1,500})$", re.MULTILINE)
_UNIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9@:_.-]{0,200}\.service")
_PROGRAM = re.compile(r"/[A-Za-z0-9/_.+-]{0,255}/mongo[ds][A-Za-z0-9_.+-]{0,30}")
_MOST = 200
_SHOWN = ("storage", "systemLog", "processManagement", "replication", "sharding")
_ALONE = frozenset({"net.port", "net.bindIp", "net.ipv6", "security.keyFile", "security.authorization",
                    "security.clusterAuthMode"})  # fmt: skip


def parse_processes(text: str) -> tuple[int, ...]:
    """Return the pids of `ps -C mongod,mongos -o pid= -o stat= -o comm=`, without zombies."""
    rows = (line.split() for line in lines_of(text)[:_MOST])
    found = ((count(row[0]), row[1]) for row in rows if len(row) >= 3 and row[2] in MONGODB_DAEMONS)
    return tuple(pid for pid, state in found if pid is not None and not state.startswith("Z"))


def is_program(path: str) -> bool:
    """Return whether a file is called like a MongoDB server's program, its path of plain characters."""
    return _PROGRAM.fullmatch(path) is not None


def unit_of(cgroup: str) -> str:
    """Return the system's unit out of /proc/PID/cgroup ('0::/system.slice/mongod.service'), '' where it is none's.

    The units of a user's own manager lie below user@1000.service: systemd's of the system knows another one, or none,
    by that name.
    """
    found = _GROUP.search(cgroup)
    *slices, last = found.group(1).rstrip().split("/") if found is not None else [""]
    others = any(not one.endswith(".slice") or one == "user.slice" for one in slices)
    return "" if others or not _UNIT.fullmatch(last) or last.startswith("user@") else last


def may_be_shown(setting: str) -> bool:
    """Return whether a setting of a configuration file, by its dotted name, may be looked at: none of these is a
    password (net.ssl has some)."""
    return setting.partition(".")[0] in _SHOWN or setting in _ALONE
