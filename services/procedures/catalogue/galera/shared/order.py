"""In which order members restart, and who shall be the donor of each. Pure."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import arbitrators
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.server.sessions import Sessions


def order_of(facts: Facts) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the hosts in order, and why each stands where it does: the writer last."""
    members = member_hosts(facts)
    writer = writer_of(facts)
    segments = {name: segment_of(facts, name) for name in members}
    home = segments.get(writer)
    reasons: dict[str, str] = {}
    rank: dict[str, tuple[int, int, str]] = {}
    for name in members:
        replicas = facts.host(name)[Sessions].replicas or 0
        sessions = facts.host(name)[Sessions].clients or 0
        if name == writer:
            place, reason = 3, f"the writer goes last ({sessions} client sessions)"
        elif replicas:
            place, reason = 2, f"{replicas} asynchronous replica{' follows' if replicas == 1 else 's follow'} it"
        elif segments[name] != home:
            place, reason = 1, f"it is in another segment ({segments[name]})"
        else:
            place, reason = 0, f"{sessions} client session{'' if sessions == 1 else 's'}, no replicas"
        rank[name], reasons[name] = (place, sessions, name), reason
    return tuple(sorted(members, key=lambda n: rank[n])), reasons


def writer_of(facts: Facts) -> str:
    """Return the member with the most client sessions (names break a tie); '' when no count is known."""
    counted = [(facts.host(name)[Sessions].clients, name) for name in member_hosts(facts)]
    known = [(count, name) for count, name in counted if count is not None]
    return max(known, default=(0, ""))[1]


def segment_of(facts: Facts, name: str) -> int | None:
    """Return gmcast.segment of a member, None when it isn't known."""
    node = facts.host(name).node
    return node.galera.segment if node is not None and node.galera is not None else None


def donor_for(facts: Facts, node: str, restarted: tuple[str, ...]) -> str:
    """Return the best donor: the node's segment, not restarted in this run, the deepest cache."""

    def worth(name: str) -> tuple[bool, bool, int, str]:
        seen = facts.host(name).node
        galera = seen.galera if seen is not None else None
        cached = galera.cached_downto if galera is not None and galera.cached_downto is not None else 2**63
        same = segment_of(facts, name) == segment_of(facts, node)
        return (same, name not in restarted, -cached, name)

    others = [name for name in member_hosts(facts) if name != node]
    return max(others, key=worth, default="")


def enough_members(facts: Facts, members: tuple[str, ...]) -> Check:
    """Three members keep a majority while one is away; two don't. An arbitrator is a vote like any other."""
    votes = arbitrators(facts)
    verdict = Verdict.PASS if len(members) + votes >= 3 else Verdict.BLOCK
    return Check(
        code="CLUSTER-SIZE",
        title="At least three members",
        verdict=verdict,
        evidence=f"{len(members)}: {', '.join(members)}" + (f"; arbitrators: {votes}" if votes else ""),
        why="With two members, the remaining one has no majority if it loses the other before that one has left.",
        try_=() if verdict is Verdict.PASS else ("Add a node or an arbitrator first.",),
    )
