"""What a start needs besides data and option files: room for temporary files, names that resolve, its command line.

The unit's own pre-start script and the scripts of an SST make their files with mktemp(1) in $TMPDIR or /tmp (Debian's
galera_recovery, MariaDB's wsrep_sst_common); the server puts temporary tables into `tmpdir`. A node that stops with no
room there does not come up again. Names are asked of getent(1), as the server's own resolver would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.reads import commands
from services.facts import reads
from services.facts.machine.machine import parse_df, parse_resolved, resolved
from services.facts.server.option_files import named_hosts
from services.facts.server.start_line import StartLine, start_line
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.variables import Variables

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

TMP = "/tmp"  # noqa: S108 - its room is read, nothing is written there
BOOTSTRAP_UNIT = "mysql@bootstrap.service"
"""The unit that a bootstrapped PXC node runs under (PXC manual, "Bootstrap the first node")."""
NAMED_HERE = ("wsrep_cluster_address", "wsrep_node_address", "wsrep_sst_receive_address")
_MOST_NAMES = 16


@dataclass(frozen=True, slots=True)
class Starting(Part):
    """Read with df, getent and `systemctl show`, over SSH.

    Attributes:
        temporary: folders for temporary files: path, free bytes; () = not read.
        names: names in the option files: does the host resolve it?
        addresses: such a name -> the addresses that the host resolves it to.
        line: what systemd gives the server's start besides; None = not read.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Options, Variables, Unit)

    temporary: tuple[tuple[str, int | None], ...] = ()
    names: tuple[tuple[str, bool | None], ...] = ()
    line: StartLine | None = None
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        rooms = tuple((path, _free(reading, path)) for path in temporary_folders(host))
        known = {name: _resolves(reading, name) for name in names_in_options(host)}
        names = tuple((name, there) for name, (there, _) in known.items())
        addresses = tuple((name, found) for name, (_, found) in known.items() if found)
        return cls(rooms, names, _line(reading, start_unit(host)), addresses)


def start_unit(host: HostFacts) -> str:
    """Return the unit that a node is started with: PXC's mysql@bootstrap would found a second cluster each time."""
    unit = host[Unit].name or "mariadb.service"
    return "mysql.service" if unit == BOOTSTRAP_UNIT else unit


def temporary_folders(host: HostFacts) -> tuple[str, ...]:
    """Return /tmp, and each folder of the server's `tmpdir` (several are joined by colons)."""
    given = host[Variables].value("tmpdir") or host[Options].option("mysqld", "tmpdir") or ""
    found = [path for part in given.split(":") if (path := reads.clean(part)) and part.startswith("/")]
    return tuple(dict.fromkeys((TMP, *found)))


def names_in_options(host: HostFacts) -> tuple[str, ...]:
    """Return the names (no addresses) that a host's own option files give its members and itself."""
    cluster, *own = (host[Options].option("mysqld", option) or "" for option in NAMED_HERE)
    return named_hosts(cluster, tuple(own))[:_MOST_NAMES]


def _line(reading: Reading, unit: str) -> StartLine | None:
    text = reading.text("start-line", commands.START_LINE_OF.read(unit, sudo=True))
    return start_line(text, unit) if text is not None else None


def _free(reading: Reading, path: str) -> int | None:
    found = parse_df(reading.text("temporary", commands.DISK.read(path, sudo=True)) or "")
    return found[0].free if found else None


def _resolves(reading: Reading, name: str) -> tuple[bool | None, tuple[str, ...]]:
    output = reading.run("names", commands.RESOLVED.read(name), limit_s=10.0)
    return (resolved(output.exit_code), parse_resolved(output.text)) if output is not None else (None, ())
