"""The checks of a drain through HAProxy: every node found, somebody else there to serve, and the right to say so."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import checked, unseen_processes
from services.procedures.catalogue.steps.haproxy_places import open_places, places_of
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.machine.balancers import Balancers

NONE_SEEN = "no load balancer found on the hosts of the inventory"
NAMES = {"proxysql": "ProxySQL", "maxscale": "MaxScale", "mysqlrouter": "MySQL Router"}
ADMIN = "stats socket /run/haproxy/admin.sock mode 660 level admin"


def haproxy_checks(facts: Facts, nodes: tuple[str, ...]) -> tuple[Check, ...]:
    """Return the checklist of a drain through HAProxy."""
    return (_found(facts, nodes), _others(facts, nodes), _may_drain(facts))


def balancers(facts: Facts, drain: str) -> Check:
    """A balancer that does not know of the restart sends clients to a closed port."""
    seen = sorted({f"{b} on {h.host}" for h in facts.hosts for b in h[Balancers].found})
    kinds = {b for h in facts.hosts for b in h[Balancers].found}
    notified = {"person": kinds, "haproxy": {"haproxy"}}.get(drain, set())
    missing = sorted(kinds - notified)
    others = [NAMES[kind] for kind in missing if kind != "haproxy"]
    untold = "".join(f"; this procedure does not notify {other}" for other in others)
    blind = unseen_balancers(facts)
    unknown = bool(blind) and drain != "person"
    return Check(
        code="BALANCER",
        title="The load balancer removes the node first",
        verdict=Verdict.WARN if missing or unknown else Verdict.PASS,
        not_known=unknown and not missing,
        evidence="; ".join([(", ".join(seen) or NONE_SEEN) + untold, *blind]),
        why="A health check that only connects still reports the node as up while it refuses statements.",
        try_=_advice(missing or blind),
    )


def unseen_balancers(facts: Facts) -> list[str]:
    """Return of which hosts it is not known that no balancer runs there, and why."""
    hosts = sorted(facts.hosts, key=lambda host: host.host)
    return [f"not known for {host.host}: {why}" for host in hosts for why in unseen_processes(host, Balancers)]


def _advice(missing: list[str]) -> tuple[str, ...]:
    if not missing:
        return ()
    if missing == ["haproxy"]:
        return ("Let HAProxy drain each node, or choose to remove each node from the load balancer yourself.",)
    return ("Choose to remove each node from the load balancer yourself: the run asks you before each node.",)


def _found(facts: Facts, nodes: tuple[str, ...]) -> Check:
    lacking = [node for node in nodes if not open_places(facts, node)]
    places = [f"{node}: {_words(facts, node)}" for node in nodes]
    return checked(
        "HAPROXY-NODES",
        "HAProxy has every node in a backend",
        block=lacking,
        evidence="; ".join(places) or "no node",
        why="A node is identified by its address and port; HAProxy cannot drain a node that it does not have.",
        try_=("Choose another way to drain the node, or add the node to the backend.",),
    )


def _words(facts: Facts, node: str) -> str:
    found = [
        f"{place.name} on {place.host}"
        + (" (drained before this run: stays drained)" if place.server.ordered_out else "")
        for place in places_of(facts, node)
    ]
    return ", ".join(found) or "in no backend"


def _others(facts: Facts, nodes: tuple[str, ...]) -> Check:
    alone = sorted(
        {
            f"{place.server.backend} on {place.host} has no server up except {place.server.name}"
            for node in nodes
            for place in open_places(facts, node)
            if not place.others
        }
    )
    total = len({(p.host, p.haproxy.socket, p.server.backend) for node in nodes for p in open_places(facts, node)})
    return checked(
        "HAPROXY-OTHERS",
        "Each backend has another server that is up",
        block=alone,
        good=f"each of the {total} backends has another server up",
        why="If the only server of a backend is drained, its clients cannot connect.",
        try_=("Start another server of the backend, or add one.",),
    )


def _may_drain(facts: Facts) -> Check:
    lacking, levels = [], []
    for host in facts.hosts:
        for one in host[Balancers].haproxies:
            where = f"{one.socket or 'HAProxy'} on {host.host}"
            levels.append(f"{where}: {one.fault or f'level {one.level}, HAProxy {one.version}'}")
            if one.level != "admin":
                lacking.append(where)
    return checked(
        "HAPROXY-LEVEL",
        "The stats sockets allow draining",
        block=bool(lacking) or not levels,
        evidence="; ".join(levels) or "no HAProxy was read",
        why="HAProxy accepts commands only on a socket with level admin; an HAProxy that is skipped keeps sending "
        "clients.",
        try_=(f"Add this to the global section of haproxy.cfg, and reload HAProxy: {ADMIN}",
              "Install socat on that host if it is missing."),
    )  # fmt: skip
