"""What the tests of the changing road share: the three logins of a real estate, armed hosts, an actor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from services.clock import SystemClock
from services.inventory.model import HostEntry
from services.procedures.execute.acting import RealActor
from services.procedures.execute.live_hosts import LiveHosts
from tests.lab.connections.connecting import LIMITS, PILOT, SUDO, entry, vault, with_sql
from tests.lab.estate.estate import Estate

LOGINS = ("root", "dba", "dbapw")
RUN = "47"
CLOCK = SystemClock()


def operated(estate: Estate, host: str, login: str = "dba") -> HostEntry:
    """The entry with the operator's account, as root, as dba (sudo without) or dbapw (sudo with a password)."""
    made = with_sql(entry(estate, host, user=login), operator_user="pilot", operator_password=PILOT)
    assert made.ssh is not None
    if login == "root":
        return replace(made, ssh=replace(made.ssh, sudo="none"))
    if login == "dbapw":
        return replace(made, ssh=replace(made.ssh, sudo="password", sudo_password=SUDO))
    return made


def hosts_of(estate: Estate, *entries: HostEntry) -> LiveHosts:
    """Hosts for a run over these entries."""
    known = {made.name: made for made in entries}
    return LiveHosts(known.get, vault(estate), CLOCK, limits=LIMITS)


@contextlib.contextmanager
def armed(estate: Estate, *entries: HostEntry) -> Iterator[LiveHosts]:
    """Hosts that are armed, and closed at the end."""
    hosts = hosts_of(estate, *entries)
    hosts.arm(RUN, tuple(made.name for made in entries))
    try:
        yield hosts
    finally:
        hosts.close()


@contextlib.contextmanager
def actor(estate: Estate, *entries: HostEntry, run: str = RUN) -> Iterator[RealActor]:
    """An actor over armed hosts."""
    with armed(estate, *entries) as hosts:
        yield RealActor(hosts, run, CLOCK)
