"""What the console is not told of hosts that are watched over one way only: one event for each way. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.discovery.words import names
from services.events import Event
from services.i18n import tr_n
from services.inventory.model import HostEntry
from services.types import Health


def half_watched(seeds: Sequence[HostEntry], at: float) -> Iterator[Event]:
    """Yield what an SSH way, and an SQL way, would tell of the hosts that have none in the inventory."""
    without_ssh = sorted(seed.name for seed in seeds if seed.ssh is None and seed.sql is not None)
    without_sql = sorted(seed.name for seed in seeds if seed.sql is None and seed.ssh is not None)
    if without_ssh:
        text = tr_n(
            "{names} is watched only over SQL: an SSH connection would show its CPU, disks, clock, log and transfers",
            "{names} are watched only over SQL: SSH connections would show their CPU, disks, clocks, logs and "
            "transfers",
            len(without_ssh),
            names=names(without_ssh),
        )
        yield Event(at, "connection", text, Health.UNKNOWN)
    if without_sql:
        text = tr_n(
            "{names} is watched only over SSH: an SQL connection would show its state, replication, settings and load",
            "{names} are watched only over SSH: SQL connections would show their state, replication, settings and load",
            len(without_sql),
            names=names(without_sql),
        )
        yield Event(at, "connection", text, Health.UNKNOWN)
