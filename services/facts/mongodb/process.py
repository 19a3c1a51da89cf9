"""The process of a MongoDB server, as ps(1) and proc(5) tell it. Pure."""

from __future__ import annotations

import re

from services.connections.read_programs import MONGODB_DAEMONS
from services.facts.reading import count
from services.lines import lines_of

_UNIT = re.compile(r"/([A-Za-z0-9][A-Za-z0-9@:_.-]{0,200}\.service)\s*$", re.MULTILINE)
_PROGRAM = re.compile(r"/[A-Za-z0-9/_.+-]{1,255}")
_MOST = 200
_SHOWN = ("storage", "systemLog", "processManagement", "replication", "sharding")
_ALONE = frozenset({"net.port", "net.bindIp", "net.ipv6", "security.keyFile", "security.authorization",
                    "security.clusterAuthMode"})  # fmt: skip


def parse_processes(text: str) -> tuple[int, ...]:
    """Return the pids of `ps -C mongod,mongos -o pid= -o stat= -o comm=`, without zombies."""
    rows = (line.split() for line in lines_of(text)[:_MOST])
    found = ((count(row[0]), row[1]) for row in rows if len(row) >= 3 and row[2] in MONGODB_DAEMONS)
    return tuple(pid for pid, state in found if pid is not None and not state.startswith("Z"))


def program_of(cmdline: str) -> str:
    """Return the program's whole path out of /proc/PID/cmdline, '' where it does not tell one."""
    first = cmdline.partition("\0")[0].strip()
    return first if _PROGRAM.fullmatch(first) else ""


def unit_of(cgroup: str) -> str:
    """Return the unit out of /proc/PID/cgroup ('0::/system.slice/mongod.service'), '' where it is none's."""
    found = _UNIT.search(cgroup)
    return found.group(1) if found is not None else ""


def may_be_shown(setting: str) -> bool:
    """Return whether a setting of a configuration file, by its dotted name, may be looked at: none of these is a
    password (net.ssl has some)."""
    return setting.partition(".")[0] in _SHOWN or setting in _ALONE
