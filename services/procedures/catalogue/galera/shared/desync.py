"""The checks that only desync-for-backup has: who stays, who reads old data meanwhile, what a read lock waits for."""

from __future__ import annotations

from services.procedures.catalogue.checks.haproxy import NAMES, unseen_balancers
from services.procedures.catalogue.checks.parts import checked, unread, verdict
from services.procedures.catalogue.galera.shared.order import writer_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.haproxy_places import open_places
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.machine.balancers import Balancers
from services.procedures.plan.parts.server.sessions import Sessions

LONGEST_S = 30.0
"""A read lock waits for the statements that run, and everything behind it waits too (page disk-snapshot-node, P5)."""


def others_stay(facts: Facts, node: str) -> Check:
    """Two full members besides the node can lose one of them; one alone is the last donor."""
    others = tuple(h for h in member_hosts(facts) if h != node)
    few = len(others) < 2
    return checked(
        "OTHERS-STAY",
        "Enough full members stay",
        block=few,
        evidence=f"{len(others)} besides {node}: {', '.join(others) or 'none'}",
        why="A desynced node is never chosen as a donor and serves old data: with only one other member, "
        "no donor is left for a third node.",
        try_=("Add a node first, or make the backup at a quiet time and override this check by its code.",),
    )


def clients(facts: Facts, node: str, *, drained: bool) -> Check:
    """What reads from the node reads old data; what writes on it meets more conflicts."""
    host = facts.host(node)
    clients_seen = []
    places = [f"{place.name} on {place.host}" for place in open_places(facts, node)]
    sessions = host[Sessions].clients
    if not drained:
        clients_seen += [f"HAProxy sends it clients ({', '.join(places)})"] if places else []
        others = [(h.host, NAMES[kind]) for h in facts.hosts for kind in h[Balancers].found if kind in NAMES]
        clients_seen += [f"{name} runs on {host} and is not notified" for host, name in others]
        if sessions:
            writer = ", more than any other member: it may be the writer" if writer_of(facts) == node else ""
            clients_seen.append(f"{sessions} client session{'' if sessions == 1 else 's'} on it now{writer}")
    blind = [] if drained else [f"a balancer: {why}" for why in unseen_balancers(facts)]
    blind += [unread(host, "the process list", "processes", "sql")] if sessions is None else []
    return Check(
        code="CLIENTS",
        title=f"No client needs current data from {node}",
        verdict=verdict((), [*clients_seen, *blind]),
        not_known=bool(blind) and not clients_seen,
        evidence="; ".join([*clients_seen, *blind])
        or (f"HAProxy sends its clients to other nodes ({', '.join(places)})" if drained else f"none on {node}"),
        why="A desynced node falls behind: it returns old data, and writes on it conflict more often.",
        try_=("Choose a node without clients, or remove it from the load balancer for the backup.",)
        if clients_seen or blind
        else (),
        host=node,
    )


def long_statements(facts: Facts, node: str) -> Check:
    """FLUSH TABLES WITH READ LOCK and BACKUP STAGE wait for what is open, and hold up whoever comes after them."""
    host, longest = facts.host(node), facts.host(node)[Sessions].longest_transaction_s
    open_long = [unread(host, "the longest transaction", "transactions", "sql")] if longest is None else []
    if longest is not None and longest >= LONGEST_S:
        open_long.append(f"a transaction is open for {longest:.0f} s on {node}")
    return checked(
        "LONG-TRANSACTIONS",
        "The backup's lock does not wait long",
        warn=open_long,
        good=f"the longest transaction on {node} is open for {longest or 0:.0f} s",
        why="The backup's read lock waits for it, and later statements wait for the lock.",
        try_=("Let it end before you start the backup.",),
        host=node,
    )
