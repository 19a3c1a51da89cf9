"""The file systems of a host, and what is free on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.reads import commands
from services.facts.machine.machine import parse_df
from services.facts.model import DiskFacts
from services.procedures.plan.part import Part, Reading

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts


@dataclass(frozen=True, slots=True)
class Volumes(Part):
    """Read with df, over SSH: the local file systems; () = not known."""

    disks: tuple[DiskFacts, ...] = ()

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        del host
        return cls(parse_df(reading.text("volumes", commands.DISKS.read(sudo=True)) or ""))

    def of(self, path: str) -> DiskFacts | None:
        """Return the file system that a path would be on, whether it is there yet or not; None = not known."""
        above = [disk for disk in self.disks if _is_below(path, disk.mount)]
        return max(above, key=lambda disk: len(disk.mount), default=None)


def _is_below(path: str, mount: str) -> bool:
    return mount in {"/", path} or path.startswith(mount.rstrip("/") + "/")
