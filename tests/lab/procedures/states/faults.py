"""What happens to a host while a procedure's long step runs, and how it ends: each fault with its inverse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.lab.estate.estate import Estate


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault on one host; `heal` ends it (a killed server stays down: the run or a person brings it back)."""

    name: str
    break_it: Callable[[Estate, str], None]
    heal: Callable[[Estate, str], None]

    def __str__(self) -> str:
        return self.name


def _ssh_dropped(estate: Estate, host: str) -> None:
    """Every session that is open ends; sshd takes new ones."""
    estate.host(host).sh("pkill -f '[s]shd: dba'; true")


def _sshd_killed(estate: Estate, host: str) -> None:
    estate.sshd_stop(host)
    _ssh_dropped(estate, host)


def _server_killed(estate: Estate, host: str) -> None:
    """SIGKILL alone, to a server that has just been started too: what systemd does about it is part of the fault."""
    estate.host(host).sh("for i in $(seq 50); do pkill -KILL -x -u mysql mariadbd && break; sleep 0.1; done; true")


def _nothing(estate: Estate, host: str) -> None:
    """It is over by itself, or for somebody to repair."""


FAULTS = (
    Fault("SSH dropped", _ssh_dropped, _nothing),
    Fault("sshd stopped", _sshd_killed, lambda estate, host: estate.sshd_start(host)),
    Fault("server killed", _server_killed, _nothing),
    Fault("disk filled", lambda estate, host: estate.fill(host), lambda estate, host: estate.unfill(host)),
    Fault("partition", lambda estate, host: estate.partition([host]), lambda estate, host: estate.heal()),
)
