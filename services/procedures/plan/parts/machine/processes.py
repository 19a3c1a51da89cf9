"""What runs on a host beside its server: scripts of an earlier transfer, programs that copy a server's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.absence import lists_others, sees_others
from services.facts.machine import system
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Processes(Part):
    """Read with ps, over SSH.

    Attributes:
        sst_orphans: pid, seconds, command line; backups: programs that copy data: 'mariadb-backup (pid 7)'.
        hidden: the login does not see the processes of others: that nothing was found says nothing. None: no table of
            processes was read.
    """

    sst_orphans: tuple[tuple[int, float, str], ...] = ()
    backups: tuple[str, ...] = ()
    hidden: bool | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        del host
        table = reading.shared("ps", commands.PROCESSES)
        if table is None:
            return cls()
        return cls(system.orphans(table), system.backups(table), not lists_others(table))


def others_seen(reading: Reading, part: str) -> bool:
    """Return whether the login sees the processes of others: else an empty list is no word of a server.

    part: under which it is noted that it could not be asked.
    """
    first = reading.run(part, commands.FIRST_PROCESS)
    return first is not None and sees_others(first)
