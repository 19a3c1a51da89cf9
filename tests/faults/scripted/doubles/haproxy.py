"""The double of what a HAProxy says of its servers."""

from __future__ import annotations

from services.procedures.conditions.haproxy.server import BalancerServer
from tests.faults.scripted.double import Look, double


@double(BalancerServer)
def balancer_server(own: BalancerServer, look: Look) -> bool:
    host = look.hosts[own.host]
    out = host.orders[own.server] != "ready"
    empty = own.at_most is None or own.patience_s > 0 or host.sessions[own.server] <= own.at_most
    states = {"free": not out, "drained": out, "serving": not out and look.hosts[own.server].primary}
    return empty and states[own.state]
