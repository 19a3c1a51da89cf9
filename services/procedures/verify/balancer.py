"""Conditions about a balancer: what the HAProxy on a host makes of one server, asked at its stats socket."""

from __future__ import annotations

from services.procedures.engine.ports import Past
from services.procedures.gather.haproxy import parse_show, show_read
from services.procedures.plan.conditions import Answer
from services.procedures.plan.conditions_balancer import BalancerServer
from services.procedures.plan.host_facts import HaproxyServer
from services.procedures.verify.asking import Asking

LIMIT_S = 12.0


def balancer_server(condition: BalancerServer, asking: Asking, past: Past) -> Answer:
    """Ask HAProxy for the server's state and sessions."""
    del past
    found = parse_show(condition.socket, asking.run(condition.host, show_read(condition.socket), limit_s=LIMIT_S))
    if found.fault:
        return Answer(holds=None, evidence=f"HAProxy on {condition.host}: {found.fault}")
    place = f"{condition.backend}/{condition.server}"
    server = next((s for s in found.servers if (s.backend, s.name) == (condition.backend, condition.server)), None)
    if server is None or server.admin is None:
        return Answer(holds=None, evidence=f"HAProxy on {condition.host} tells no state of {place}")
    sessions = "sessions not known" if server.sessions is None else f"{server.sessions} sessions"
    told = f"{place} is {_word(server)} with {sessions} in HAProxy on {condition.host}"
    if not _is(server, condition):
        return Answer(holds=False, evidence=told)
    if condition.at_most is None:
        return Answer(holds=True, evidence=told)
    if server.sessions is None:
        return Answer(holds=None, evidence=told)
    if server.sessions <= condition.at_most:
        return Answer(holds=True, evidence=told)
    return _patient(condition, asking, told)


def _patient(condition: BalancerServer, asking: Asking, told: str) -> Answer:
    """Sessions are still open: that holds only when they were waited for long enough."""
    if condition.patience_s <= 0:
        return Answer(holds=False, evidence=told)
    waited = asking.memory.waited_s(condition, asking.clock)
    shown = f"{told}, waited for {waited:.0f} of {condition.patience_s:g} s"
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
