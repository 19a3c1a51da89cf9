"""The roads of a look on real hosts (plan/looks.py): Observer sessions, several hosts at once, never a change."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from services.clock import Clock
from services.connections.ports import ObserverSession, Output
from services.connections.reads.read import CommandRead
from services.errors import BadInput, SudoFailed, UserError
from services.facts.server.cut_texts import read_variable
from services.procedures.engine.ports import Hosts
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.looks import LIMIT_S, SQL_LIMIT_S, Past, T
from services.procedures.plan.remembering import Memory

MOST_AT_ONCE = 16


@dataclass(slots=True)
class Roads:
    """See looks.Asking: the roads of one look, the past of the run, and what earlier looks of the attempt left."""

    hosts: Hosts
    clock: Clock
    facts: Facts | None = None
    past: Past = field(default_factory=lambda: Past({}, {}))
    memory: Memory = field(default_factory=Memory)

    def session(self, host: str) -> ObserverSession:
        """Return a host's reading session; BadInput for an unknown host."""
        return self.hosts.observer(host)

    def run(self, host: str, read: CommandRead, *, limit_s: float = LIMIT_S) -> Output:
        """Run a read, one for root as root and where that is not allowed as the login. Raises UserError."""
        session, read = self.session(host), read.in_c_locale()
        if read.sudo:
            with contextlib.suppress(SudoFailed):
                return session.run(read, limit_s=limit_s)
        return session.run(read.as_root(sudo=False), limit_s=limit_s)

    def status(self, host: str) -> dict[str, str]:
        """Return the server's status. Raises UserError."""
        return self.session(host).status(limit_s=SQL_LIMIT_S)

    def variable(self, host: str, name: str) -> str | None:
        """Return a global variable's whole text, None when the server has none of that name. Raises UserError."""
        if not re.fullmatch(r"[a-z0-9_]+", name):
            raise BadInput(f"{name!r} is not the name of a variable.", host=host)
        return read_variable(lambda read: self.session(host).query(read, limit_s=SQL_LIMIT_S), name)

    def each(self, hosts: tuple[str, ...], read: Callable[[str], T]) -> dict[str, T | UserError]:
        """Return what `read` gives for each host, at once and joined; its error where it gives none."""

        def one(host: str) -> T | UserError:
            try:
                return read(host)
            except UserError as error:
                return error

        if not hosts:
            return {}
        with ThreadPoolExecutor(min(MOST_AT_ONCE, len(hosts)), thread_name_prefix="pilothouse-proof") as pool:
            return dict(zip(hosts, pool.map(one, hosts), strict=True))
