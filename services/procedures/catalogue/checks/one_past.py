"""Do the members that serve now share one past, by what may be known of servers that are up? Pure.

Members of one Primary Component go on together; what each stands at is proven once more before it is started again
(`SameHistory`). That they are Synced shows nothing of a fork that an IST has hidden: only what was seen does.
"""

from __future__ import annotations

from services.discovery.families.galera.two_primaries import sides_words
from services.procedures.catalogue.checks.parts import checked, galera_of, known, unread
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts, HostFacts


def one_past(facts: Facts, nodes: tuple[str, ...], members: tuple[str, ...]) -> Check:
    """Say whether the nodes that go down and come back share the past of the members that stay. A fork blocks.

    Args:
        nodes: those that are stopped and started again; members: all that serve.
    """
    split = [
        f"two Primary Components were seen, and the split-brain is not settled: {sides_words(seen.sides)}"
        for seen in facts.two_primaries
        if sum(any(name in side for name in (*nodes, *members)) for side in seen.sides) > 1
    ]
    away = [f"{host.host} has the state UUID {_uuid(host)}" for host in known(facts, (*nodes, *members))
            if _uuid(host) not in {"", facts.cluster_id}]  # fmt: skip
    unsure = [unread(host, "the state UUID", "sql", "galera") for host in known(facts, nodes) if not _uuid(host)]
    unsure += [told for host in known(facts, (*nodes, *members)) if (told := _went_back(facts, host))]
    at = ", ".join(f"{host.host} at {_committed(host)}" for host in known(facts, nodes))
    calm = f"one Primary Component with {facts.cluster_id}: {at}; read again before each start"
    return checked(
        "HISTORY",
        "The nodes share one history",
        block=[*split, *away],
        warn=unsure,
        good=calm,
        why="An equal state UUID does not prove an equal history: an IST between diverged nodes succeeds, and their "
        "data differ.",
        try_=("Compare the rows of both sides, bring the losing side back by SST, then settle the split-brain.",)
        if split
        else (),
        commands=("pilothouse settle",) if split else (),
        absolute=True,
        to_read=True,
    )


def _uuid(host: HostFacts) -> str:
    galera = galera_of(host)
    return galera.state_uuid if galera is not None else ""


def _committed(host: HostFacts) -> int | None:
    galera = galera_of(host)
    return galera.last_committed if galera is not None else None


def _went_back(facts: Facts, host: HostFacts) -> str:
    """Return where our own history last saw a server further than it is: what was beyond is lost, or elsewhere.

    A look that another console made after this one says nothing of the kind.
    """
    memory = next((m for m in host.remembered if m.cluster_uuid == facts.cluster_id), None)
    now, asked = _committed(host), host.node.at if host.node is not None else 0.0
    if memory is None or memory.seqno is None or now is None or memory.seqno <= now or (memory.at or 0.0) >= asked:
        return ""
    seen = f"{host.host} was last seen at {memory.seqno} ({memory.origin})"
    return f"{seen}, but is now at {now}: the missing transactions are not accounted for"
