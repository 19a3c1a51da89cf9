"""What a host's server is started with, as its own files say it: the unit, the folders for temporary files. Pure."""

from __future__ import annotations

from services.facts import reads
from services.procedures.plan.host_facts import HostFacts

TMP = "/tmp"  # noqa: S108 - its room is read, nothing is written there
BOOTSTRAP_UNIT = "mysql@bootstrap.service"
"""The unit that a bootstrapped PXC node runs under (PXC manual, "Bootstrap the first node")."""


def start_unit(host: HostFacts) -> str:
    """Return the unit that a node is started with: PXC's mysql@bootstrap would found a second cluster each time."""
    unit = host.unit or "mariadb.service"
    return "mysql.service" if unit == BOOTSTRAP_UNIT else unit


def temporary_folders(host: HostFacts) -> tuple[str, ...]:
    """Return /tmp, and each folder of the server's `tmpdir` (several are joined by colons)."""
    given = host.variable("tmpdir") or host.option("mysqld", "tmpdir") or ""
    found = [path for part in given.split(":") if (path := reads.clean(part)) and part.startswith("/")]
    return tuple(dict.fromkeys((TMP, *found)))
