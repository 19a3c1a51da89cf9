"""What a host can do in a transfer: its cores, AES in its processor, memory that is free or would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from services.connections.ports import Output
from services.connections.reads import commands
from services.facts.machine import capability
from services.facts.machine.machine import parse_host_files, parse_process
from services.facts.server.tablespaces import available_memory
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.machine.processes import others_seen

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

CPUINFO, LOADAVG = commands.CONTENT.read("/proc/cpuinfo"), commands.CONTENT.read("/proc/loadavg")


@dataclass(frozen=True, slots=True)
class Capability(Part):
    """Read from /proc over SSH. None = not known.

    Attributes:
        cores: processors; aes: the processor has AES instructions.
        memory: bytes of all memory; memory_free: MemAvailable; memory_server: bytes that its server holds now, which
            are free while it joins.
        load: of the last five minutes.
    """

    cores: int | None = None
    aes: bool | None = None
    memory: int | None = None
    memory_free: int | None = None
    memory_server: int | None = None
    load: float | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        del host
        processors = reading.text("cpuinfo", CPUINFO) or ""
        memory = reading.text("meminfo", commands.MEMORY) or ""
        listing = reading.run("server-process", commands.SERVER_PROCESS)
        _, pid = parse_process(listing.text) if listing is not None else ("", None)
        status = reading.text("server-memory", commands.CONTENT.read(f"/proc/{pid}/status")) if pid is not None else ""
        return cls(
            capability.cores_of(processors),
            capability.has_aes(processors),
            parse_host_files(memory).memory,
            available_memory(memory),
            capability.resident(status or "") if pid is not None else _no_server(reading, listing),
            capability.load_of(reading.text("load", LOADAVG) or ""),
        )


def _no_server(reading: Reading, listing: Output | None) -> int | None:
    """Return 0 where everybody's processes were seen and no server is among them."""
    return 0 if listing is not None and others_seen(reading, "server-process") else None
