"""Which balancers run on a host; of each HAProxy, by its configuration, what its stats socket answers."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.absence import lists_others
from services.facts.haproxy import (
    LEVELS,
    LIMIT_S,
    Haproxy,
    config_names,
    config_paths,
    parse_show,
    show_read,
    sockets_of,
)
from services.facts.machine import system
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_MOST_FILES = 16


@dataclass(frozen=True, slots=True)
class Balancers(Part):
    """Read with ps and over the stats sockets, over SSH.

    Attributes:
        hidden: only some processes were seen: it is not known that none runs. None: no table of processes was read.
        found: 'haproxy', 'proxysql', 'maxscale', 'mysqlrouter'.
        haproxies: one for each that runs; one with a fault where none could be read.
    """

    found: tuple[str, ...] = ()
    haproxies: tuple[Haproxy, ...] = ()
    hidden: bool | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        del host
        table = reading.shared("ps", commands.PROCESSES)
        if table is None:
            return cls()
        found = system.balancers(table)
        haproxies = _haproxies(reading, table) if "haproxy" in found else ()
        return cls(found, haproxies, not lists_others(table))


def _haproxies(reading: Reading, table: str) -> tuple[Haproxy, ...]:
    """Return each HAProxy of the host once, by the socket that may do most.

    Args:
        table: `ps` with pid, age and command line: its -f words name the configuration.
    """
    sockets = tuple(dict.fromkeys(path for file in _files(reading, table) for path in _sockets(reading, file)))
    found = tuple(parse_show(path, reading.run("haproxy", show_read(path), limit_s=LIMIT_S))
                  for path in sockets)  # fmt: skip
    if not found:
        return (Haproxy("", fault="no 'stats socket /...haproxy...' was found in its configuration"),)
    best: dict[object, Haproxy] = {}
    for one in found:
        key = one.pid or one.socket
        if key not in best or LEVELS.index(one.level) > LEVELS.index(best[key].level):
            best[key] = one
    return tuple(best.values())


def _files(reading: Reading, table: str) -> tuple[str, ...]:
    """Return the configuration's files; a folder stands for its *.cfg files (Management Guide 3, -f)."""
    found: list[str] = []
    for path in config_paths(table):
        if path.endswith(".cfg"):
            found.append(path)
            continue
        listing = reading.run("haproxy", commands.NAMES.read(path, sudo=True))
        names = config_names(listing.text) if listing is not None and listing.exit_code == 0 else ()
        found += [posixpath.join(path, name) for name in names]
    return tuple(found[:_MOST_FILES])


def _sockets(reading: Reading, file: str) -> tuple[str, ...]:
    output = reading.run("haproxy", commands.CONTENT.read(file, sudo=True))
    return sockets_of(output.text) if output is not None and output.exit_code == 0 else ()
