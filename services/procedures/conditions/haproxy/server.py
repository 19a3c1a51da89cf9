"""Conditions about a balancer: what the HAProxy on a host makes of one server, asked at its stats socket."""

from __future__ import annotations

from typing import Literal

from services.facts.haproxy import HaproxyServer, parse_show, show_read
from services.procedures.plan.condition import NOBODY, Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking

LIMIT_S = 12.0


@condition("haproxy.server", "HAProxy on {host}")
class BalancerServer(OfHost):
    """The HAProxy with this stats socket on `host` treats a server of a backend so.

    Attributes:
        state: 'serving' (it takes new sessions: UP or not checked), 'free' (nobody has set it to drain or maintenance;
            it may be down), 'drained' (set to drain or maintenance).
        at_most: sessions it may still have; None: they don't count.
        patience_s: above 0 the sessions are only waited for so long, and the condition holds then all the same.
    """

    socket: str
    backend: str
    server: str
    state: Literal["serving", "free", "drained"]
    at_most: int | None = None
    patience_s: float = 0.0

    def declared(self) -> Declared:
        """See Condition."""
        lasts = self.state == "serving"  # who is out of it for a while comes back
        stands = frozenset({f"balanced {self.host} {self.backend} {self.server}"}) if lasts else NOBODY
        return Declared(frozenset({self.host}), stands=stands)

    def look(self, asking: Asking) -> Answer:
        """Ask HAProxy for the server's state and sessions."""
        found = parse_show(self.socket, asking.run(self.host, show_read(self.socket), limit_s=LIMIT_S))
        if found.fault:
            return Answer(holds=None, evidence=f"HAProxy on {self.host}: {found.fault}")
        place = f"{self.backend}/{self.server}"
        server = next((s for s in found.servers if (s.backend, s.name) == (self.backend, self.server)), None)
        if server is None or server.admin is None:
            return Answer(holds=None, evidence=f"HAProxy on {self.host} reports no state of {place}")
        sessions = "an unknown number of sessions" if server.sessions is None else f"{server.sessions} sessions"
        evidence = f"{place} is {_word(server)} with {sessions} in HAProxy on {self.host}"
        if not _is(server, self):
            return Answer(holds=False, evidence=evidence)
        if self.at_most is None:
            return Answer(holds=True, evidence=evidence)
        if server.sessions is None:
            return Answer(holds=None, evidence=evidence)
        if server.sessions <= self.at_most:
            return Answer(holds=True, evidence=evidence)
        return _patient(self, asking, evidence)


def _patient(condition: BalancerServer, asking: Asking, evidence: str) -> Answer:
    """Sessions are still open: that holds only when they were waited for long enough."""
    if condition.patience_s <= 0:
        return Answer(holds=False, evidence=evidence)
    waited = asking.memory.waited_s(condition, asking.clock)
    shown = f"{evidence}, waited for {waited:.0f} of {condition.patience_s:g} s"
    return Answer(
        waited >= condition.patience_s, shown, done=min(waited, condition.patience_s), total=condition.patience_s,
        unit="s",
    )  # fmt: skip


def _is(server: HaproxyServer, condition: BalancerServer) -> bool:
    if condition.state == "serving":
        return server.serves
    return server.ordered_out is (condition.state == "drained")


def _word(server: HaproxyServer) -> str:
    """Return the status, with the order that a server which is down does not show."""
    out = server.ordered_out and not server.status.startswith(("DRAIN", "MAINT"))
    return f"{server.status}, set to drain or maintenance" if out else server.status
