"""Watch rules that several procedures share. Pure."""

from __future__ import annotations

from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.model import WatchRule
from services.procedures.plan.parts.galera.data_folder import DataFolder

PAUSED_SHARE, EVERY_S = 0.9, 10.0
"""Nine tenths of ten seconds: a node that catches up may hold the writers up for moments, not for good."""

DISK_SHARE, DISK_MOST = 0.02, 2**30
"""A fiftieth of a file system, at most a gibibyte: what a server needs to stop in order."""


def disk(host: HostFacts, code: str, sentence: str, from_step: str, to_step: str) -> WatchRule:
    """Pause before the next act, and say so at once, when a host's data disk comes near its end."""
    least = min(int((host[DataFolder].disk.size or 0) * DISK_SHARE) or DISK_MOST, DISK_MOST)
    return WatchRule(
        code=code,
        condition=FreeDisk(host.host, host[DataFolder].path or "/var/lib/mysql", least),
        sentence=sentence,
        from_step=from_step,
        to_step=to_step,
        every_s=EVERY_S,
    )


def flow_control(member: str, moved: str, from_step: str, to_step: str, prefix: str = "") -> WatchRule:
    """Pause before the next act while flow control all but stops the cluster's writes.

    Args:
        member: a node that stays up: flow control is told by each member alike; moved: the one that may hold them up.
    """
    return WatchRule(
        code=f"{prefix}FLOW-CONTROL",
        condition=FlowControlBelow(member, PAUSED_SHARE),
        sentence=f"Flow control nearly stops the cluster's writes while {moved} is moved.",
        from_step=from_step,
        to_step=to_step,
        every_s=EVERY_S,
    )
