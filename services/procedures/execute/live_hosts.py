"""The two roads to real hosts for one run: reading sessions of its own, changing ones only while armed (law 2).

What is called a host here is a plan's key. An instance's session goes over SSH to the host that carries it, and over
SQL to its own port or socket with its own account (HostEntry.of_instance); armed is the key, not all that its host has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from services.connections.host import HostSession
from services.connections.operator.session import HostOperator
from services.errors import BadInput, Refused
from services.i18n import tr

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.limits import Limits
    from services.connections.ports import ObserverSession, OperatorSession
    from services.connections.ssh.host_key_check import HostKeyPolicy
    from services.inventory.model import HostEntry
    from services.secrets import Vault


class LiveHosts:
    """`Hosts` (ports.py). Sessions belong to the thread that asks; arming and disarming may come from any."""

    def __init__(
        self,
        entry_of: Callable[[str], HostEntry | None],
        vault: Vault,
        clock: Clock,
        *,
        on_host_key: HostKeyPolicy | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Remember how to find hosts; nothing is opened yet.

        Args:
            entry_of: the entry of an inventory host or of a discovered member (HostEntry.for_member), else None.
        """
        self._entry_of = entry_of
        self._vault = vault
        self._clock = clock
        self._policy = on_host_key
        self._limits = limits
        self._lock = threading.Lock()
        self._observers: dict[str, HostSession] = {}
        self._rights: dict[str, HostSession] = {}
        self._operators: dict[str, HostOperator] = {}
        self._armed: tuple[str, ...] = ()
        self._closed = False

    def observer(self, host: str) -> ObserverSession:
        """Return the reading session of a host; BadInput for an unknown one."""
        entry = self._entry(host)
        with self._lock:
            if self._closed:
                raise Refused(tr("The run's connections are closed."), host=host)
            if host not in self._observers:
                self._observers[host] = HostSession(
                    entry, self._vault, clock=self._clock, on_host_key=self._policy, limits=self._limits
                )
            return self._observers[host]

    def accounts(self, host: str) -> frozenset[str]:
        """Return this console's SQL accounts on a host, for reading and for changes; BadInput for an unknown one."""
        sql = self._entry(host).sql
        return frozenset(name for name in (sql.user, sql.operator_user) if name) if sql is not None else frozenset()

    def rights_reader(self, host: str) -> ObserverSession:
        """Return a reading session (the allow-list holds for it too) with the account for changes; see ports.Hosts."""
        entry = self._entry(host)
        if entry.sql is None or entry.sql.operator_user is None:
            return self.observer(host)
        with self._lock:
            if self._closed:
                raise Refused(tr("The run's connections are closed."), host=host)
            if host not in self._rights:
                sql = replace(entry.sql, user=entry.sql.operator_user, password=entry.sql.operator_password)
                self._rights[host] = HostSession(
                    replace(entry, sql=sql), self._vault, clock=self._clock, on_host_key=self._policy,
                    limits=self._limits,
                )  # fmt: skip
            return self._rights[host]

    def operator(self, host: str) -> OperatorSession:
        """Return the changing session of a host; Refused unless armed for it."""
        entry = self._entry(host)
        with self._lock:
            if self._closed or host not in self._armed:
                raise Refused(tr("No procedure is armed for this host."), host=host)
            if host not in self._operators:
                self._operators[host] = HostOperator(entry, self._vault, on_host_key=self._policy, limits=self._limits)
            return self._operators[host]

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        """Allow operator sessions for these hosts; those of others are closed."""
        del run_id  # the port names it for those who show it; sessions are one run's anyway
        with self._lock:
            if self._closed:
                raise Refused(tr("The run's connections are closed."))
            self._armed = tuple(dict.fromkeys(hosts))
            dropped = [self._operators.pop(host) for host in set(self._operators) - set(hosts)]
        for session in dropped:
            session.close()

    def disarm(self) -> None:
        """Close all operator sessions and allow none; idempotent."""
        with self._lock:
            self._armed = ()
            dropped, self._operators = list(self._operators.values()), {}
        for session in dropped:
            session.close()

    @property
    def armed(self) -> tuple[str, ...]:
        """Return the hosts that are armed now."""
        return self._armed

    def close(self) -> None:
        """Disarm and close every session; idempotent."""
        self.disarm()
        with self._lock:
            self._closed = True
            observers = [*self._observers.values(), *self._rights.values()]
            self._observers, self._rights = {}, {}
        for session in observers:
            session.close()

    def _entry(self, host: str) -> HostEntry:
        entry = self._entry_of(host)
        if entry is None:
            raise BadInput(
                tr("Neither the inventory nor discovery knows a host called {host}.", host=host),
                try_=(tr("Add it to the inventory."),),
            )
        return entry
