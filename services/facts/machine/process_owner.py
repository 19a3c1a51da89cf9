"""Whose process it is that is called like a database server, by its control group: never by its name alone.

The kernel tells each process's control group to everybody: '0::/system.slice/mariadb.service' (version 2), or several
with commas between (version 1, man cgroups(7)). systemd puts each unit's processes into a group of the unit's name
(systemd.resource-control(5)); those of a login are in 'session-N.scope', those of a person's own manager below
'user@UID.service'. Containers have a group of their own: docker, podman (libpod), Kubernetes, LXC, systemd-nspawn.
"""

from __future__ import annotations

import re

HAND, CONTAINER, PERSON = "by hand", "a container", "a person's own manager"
"""Whose a process is, where it is no unit's. '': not told."""
_MOST = 4000
_OF_CONTAINERS = re.compile(
    r"docker|libpod|kubepods|containerd|cri-o|crio|lxc|buildkit|garden|machine(?:\.slice|-.*\.scope)|ecs|podman"
    r"|systemd-nspawn@.*|.*\.libvirt-.*"
)
_NAMED = re.compile(r"(?:docker|libpod|crio|cri-containerd|nspawn|podman|buildkit)[-_.:].*|lxc\.(?:payload|monitor).*")
_SERVICE = re.compile(r"[A-Za-z0-9:_.\\@-]{1,247}\.service")
_PERSONS = re.compile(r"user@\d{1,10}\.service")
_DATABASE_UNITS = re.compile(r"(?:mariadb|mysqld?|mongod|mongos)(?:[@-].{0,200})?\.service")
"""Of the packages, instances too (mysqld@x, mariadb@x)."""


def owner_of(groups: str, own: str = "") -> str:
    """Return whose a process is: a unit's name, HAND, CONTAINER or PERSON; '' where it can't be told.

    Args:
        groups: its control groups as ps(1) or /proc/PID/cgroup tell them.
        own: those of the program that reads this: one that runs inside of a container sees its fellows there.
    """
    path, mine = _path(groups), _path(own)
    if not path.startswith("/"):
        return ""
    if (root := _container(path)) != _container(mine):
        return CONTAINER if root else ""
    services = [part for part in path.removeprefix(root).split("/") if _SERVICE.fullmatch(part)]
    if services and _PERSONS.fullmatch(services[0]):
        return PERSON
    return services[-1] if services else HAND


def is_of_database(owner: str) -> bool:
    """Return whether a unit's name is one that a package gives a database server."""
    return _DATABASE_UNITS.fullmatch(owner) is not None


def is_anothers(owner: str) -> bool:
    """Return whether a process is for sure none of the server that systemd starts on this host."""
    return owner in {CONTAINER, PERSON}


def _path(groups: str) -> str:
    """Return the group by which systemd and containers go: of version 2, else systemd's own, else the deepest one."""
    found = [part for part in re.split(r"[,\s](?=\d{1,4}:)|\n", groups[:_MOST].strip()) if part]
    whole = [part.split(":", 2) for part in found]
    paths = {parts[1]: parts[2] for parts in whole if len(parts) == 3}
    named = paths.get("name=systemd") or paths.get("")
    deepest = max(paths.values(), key=len, default="")
    return deepest if named in {None, "", "/"} else named or ""


def _container(path: str) -> str:
    """Return the path up to where a container of its own begins; '' for a process of the host itself."""
    parts = path.split("/")
    for index, part in enumerate(parts):
        if _OF_CONTAINERS.fullmatch(part) or _NAMED.fullmatch(part):
            return "/".join(parts[: index + 2] if _OF_CONTAINERS.fullmatch(part) else parts[: index + 1])
    return ""
