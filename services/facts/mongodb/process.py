"""The process of a MongoDB server, as ps(1) and proc(5) tell it. Pure."""

from __future__ import annotations

import re

from services.connections.programs.read_programs import MONGODB_DAEMONS
from services.facts.reading import count
from services.lines import lines_of

_GROUP = re.compile(r"^(?:0::|\d{1,3}:name=systemd:)/([^\n]{1,500})$", re.MULTILINE)
_UNIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9@:_.-]{0,200}\.service")
_PROGRAM = re.compile(r"/[A-Za-z0-9/_.+-]{0,255}/mongo[ds][A-Za-z0-9_.+-]{0,30}")
_MOST = 200
_SET = "replication.replSetName"
_PLACES = {
    "dbpath": "storage.dbPath",
    "storageEngine": "storage.engine",
    "replSet": _SET,
    "configdb": "sharding.configDB",
    "configsvrMode": "sharding.configsvrMode",
    "port": "net.port",
    "bind_ip": "net.bindIp",
    "keyFile": "security.keyFile",
    "clusterAuthMode": "security.clusterAuthMode",
    "sslMode": "net.ssl.mode",
    "config": "config",
    "f": "config",
}
_SWITCHES = {
    "configsvr": ("sharding.clusterRole", "configsvr"),
    "shardsvr": ("sharding.clusterRole", "shardsvr"),
    "auth": ("security.authorization", "enabled"),
}
REPLICA_SETS = ("replSetName", "replSet")
"""How a server's own options call the set that it was started for: by its file, and by its command line (3.2.5)."""
_SHOWN = ("storage", "systemLog", "processManagement", "replication", "sharding")
_ALONE = frozenset({"net.port", "net.bindIp", "net.ipv6", "security.keyFile", "security.authorization",
                    "security.clusterAuthMode"})  # fmt: skip


def parse_processes(text: str) -> tuple[int, ...]:
    """Return the pids of `ps -C mongod,mongos -o pid= -o stat= -o comm= -o user:32= -o uid=`, without zombies."""
    return tuple(pid for pid, _ in parse_owners(text))


def parse_owners(text: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """Return each of them with its user's name and number, as ps tells them: no word of the process's own."""
    rows = (line.split() for line in lines_of(text)[:_MOST])
    found = ((count(row[0]), row[1], frozenset(row[3:5])) for row in rows if len(row) >= 3 and row[2] in
             MONGODB_DAEMONS)  # fmt: skip
    return tuple((pid, owner) for pid, state, owner in found if pid is not None and not state.startswith("Z"))


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


def command_line(cmdline: str) -> dict[str, str]:
    """Return the settings that /proc/PID/cmdline gives, by the file's dotted names, and 'config', the file's path.

    An option there wins over the file (MongoDB manual, "Configuration File Options"); one dash is as good as two
    (options_parser.cpp). Options that no plan changes are passed over.
    """
    found: dict[str, str] = {}
    words = cmdline.rstrip("\0").split("\0")[1:]
    for at, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            continue
        if name in _SWITCHES:
            found[_SWITCHES[name][0]] = _SWITCHES[name][1]
        elif name in _PLACES:
            found[_PLACES[name]] = value if equals else next(iter(words[at + 1 :]), "")
    if _SET in found:
        found[_SET] = found[_SET].partition("/")[0]  # SET/SEED,SEED (MongoDB manual, "mongod", --replSet)
    return found


def option_of(setting: str) -> str:
    """Return what the option of a setting is called on a command line, '' for one that no plan changes."""
    return next((f"--{name}" for name, place in _PLACES.items() if place == setting), "")


def may_be_shown(setting: str) -> bool:
    """Return whether a setting of a configuration file, by its dotted name, may be looked at: none of these is a
    password (net.ssl has some)."""
    return setting.partition(".")[0] in _SHOWN or setting in _ALONE
