"""What goes wrong on scripted hosts while a step is under way, and how it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tests.faults.scripted import config_servers
from tests.faults.scripted.cluster import Cluster, Host


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault on one host.

    Attributes:
        hits: 'own' the step's host, 'other' another member that is Primary, 'disk' the host whose disk is watched.
        lasts: it stays until it is healed (otherwise it is over by itself).
        when: 'acting' as the act is announced, 'proving' while its outcome is waited for.
    """

    name: str
    what: str
    break_it: Callable[[Cluster, Host], None]
    hits: Literal["own", "other", "disk"] = "own"
    lasts: bool = True
    when: Literal["acting", "proving"] = "acting"


def _answer_lost(cluster: Cluster, host: Host) -> None:
    del cluster
    host.answer_lost = True


def _way_lost(cluster: Cluster, host: Host) -> None:
    del cluster
    host.back_in = 4


def _unreachable(cluster: Cluster, host: Host) -> None:
    del cluster
    host.reachable = False


def _killed(cluster: Cluster, host: Host) -> None:
    cluster.kill(host)


def _full(cluster: Cluster, host: Host) -> None:
    del cluster
    host.free = 0


def _partition(cluster: Cluster, host: Host) -> None:
    del cluster
    host.primary = False


def _no_start(cluster: Cluster, host: Host) -> None:
    del cluster
    host.fails_to_start = True


def _refuses(cluster: Cluster, host: Host) -> None:
    del cluster
    host.refuses = True


FAULTS = (
    Fault("SSH dropped before the act", "back after four tries", _way_lost, lasts=False),
    Fault(
        "SSH dropped behind the act",
        "it was done, its answer was lost; back after four tries",
        _answer_lost,
        lasts=False,
    ),
    Fault("sshd stopped", "no way to the host as the act begins", _unreachable),
    Fault(
        "sshd stopped in the wait", "no way to the host while the outcome is waited for", _unreachable, when="proving"
    ),
    Fault("server killed", "kill -9 as the act begins; nothing restarts it", _killed),
    Fault("server killed in the wait", "kill -9 while the outcome is waited for", _killed, when="proving"),
    Fault("another member killed", "kill -9 of a member that is not the step's", _killed, "other"),
    Fault("partition", "another member is no more Primary", _partition, "other"),
    Fault("disk filled", "no free space: of the frozen node, else of the step's host", _full, "disk"),
    Fault("start fails", "the server does not come up", _no_start),
    Fault("act refused", "every act on the host fails before it begins", _refuses),
)


@dataclass(slots=True)
class Broken:
    """A fault that came, on this host, with what the host was then."""

    fault: Fault
    host: Host
    was_running: bool
    free: int

    def heal(self, cluster: Cluster) -> None:
        """End the fault as a person would: the way is back, the disk is free, a server that was killed is started."""
        host = self.host
        host.reachable, host.refuses, host.fails_to_start, host.answer_lost = True, False, False, False
        host.free, host.back_in = self.free, 0
        if config_servers.is_one(cluster):
            config_servers.heal(cluster, host, was_running=self.was_running)
            return
        if cluster.replica_set:
            host.running, host.primary = self.was_running, host.member  # a mongos is in no set
            return
        if host.running and not host.primary and cluster.primaries():
            host.primary = True
        if "killed" in self.fault.name and self.was_running:
            cluster.start(host)


def break_at(cluster: Cluster, fault: Fault, victim: Host) -> Broken:
    """Let the fault come now."""
    broken = Broken(fault, victim, victim.running, victim.free)
    fault.break_it(cluster, victim)
    return broken
