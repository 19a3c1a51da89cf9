"""What a start needs besides data and option files: room for temporary files, names that resolve, its command line.

The unit's own pre-start script and the scripts of an SST make their files with mktemp(1) in $TMPDIR or /tmp (Debian's
galera_recovery, MariaDB's wsrep_sst_common); the server puts temporary tables into `tmpdir`. A node that stops with no
room there does not come up again. Names are asked of getent(1), as the server's own resolver would.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import replace

from services.connections.reads import commands
from services.facts.machine import parse_df
from services.facts.option_files import group_members
from services.facts.start_line import StartLine, start_line
from services.procedures.gather.reader import Reader
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.starting import start_unit, temporary_folders

NAMED_HERE = ("wsrep_cluster_address", "wsrep_node_address", "wsrep_sst_receive_address")
_MOST_NAMES = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}", re.ASCII)
_FOUND, _UNKNOWN = 0, 2
"""getent(1): 2 is 'one or more supplied keys could not be found'."""


def with_starting(host: HostFacts, reader: Reader) -> HostFacts:
    """Read the room in the folders for temporary files, and which names of the option files the host resolves."""
    rooms = [(path, _free(reader, path)) for path in temporary_folders(host)]
    known = [(name, _resolves(reader, name)) for name in names_in_options(host)]
    return replace(host, temporary=tuple(rooms), names=tuple(known), start_line=_start_line(reader, start_unit(host)))


def names_in_options(host: HostFacts) -> tuple[str, ...]:
    """Return the names (no addresses) that a host's own option files give its members and itself."""
    cluster, *own = (host.option("mysqld", option) or "" for option in NAMED_HERE)
    parts = [*sorted(group_members(cluster)), *(text.partition(":")[0] for text in own if text.count(":") <= 1)]
    wanted = [part for part in parts if _NAME.fullmatch(part) and part.upper() != "AUTO" and not _is_address(part)]
    return tuple(dict.fromkeys(wanted))[:_MOST_NAMES]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _start_line(reader: Reader, unit: str) -> StartLine | None:
    text = reader.text("start-line", commands.START_LINE_OF.read(unit, sudo=True))
    return start_line(text, unit) if text is not None else None


def _free(reader: Reader, path: str) -> int | None:
    found = parse_df(reader.text("temporary", commands.DISK.read(path, sudo=True)) or "")
    return found[0].free if found else None


def _resolves(reader: Reader, name: str) -> bool | None:
    output = reader.run("names", commands.RESOLVED.read(name), limit_s=10.0)
    if output is None or output.exit_code not in {_FOUND, _UNKNOWN}:
        return None
    return output.exit_code == _FOUND
