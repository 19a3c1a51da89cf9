"""The positions that a choice was made by are held against what is there, right before what stands on them. Pure.

Between the recovery of the positions and the bootstrap lie questions, and a person may take hours to answer: a
colleague who starts nodes meanwhile makes the choice a wrong one (seen on the lab: rows were acknowledged on nodes that
then aborted with "Reversing history").
"""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue.galera.bootstrap_after_crash.party import Party
from services.procedures.catalogue.galera.shared.positions import standings
from services.procedures.catalogue.steps.restored.recovering import recover_if_it_can
from services.procedures.conditions.galera.data.at_rest import PositionMark, Unmoved
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.inside import of
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.pasts.positions import kept_name, mark_name

DATADIR = "/var/lib/mysql"


def stood(host: HostFacts, prefix: str = "") -> PositionMark:
    """Return the mark of a server that is stopped for good, before its position is recovered."""
    return PositionMark(host.host, host[DataFolder].path or DATADIR, f"{prefix}stopped-{host.host}")


def recovered(host: HostFacts, prefix: str = "") -> Step:
    """Let a server recover its position, and keep what shows later that it never ran since it was stopped."""
    mark = PositionMark(
        host.host, host[DataFolder].path or DATADIR, mark_name(host.host, prefix), since=stood(host, prefix).keep
    )  # fmt: skip
    return replace(recover_if_it_can(host, prefix), proof=(mark,))


def unmoved(
    party: Party,
    names: tuple[str, ...],
    *,
    prefix: str = "",
    safe: str = "",
    beside: tuple[str, ...] = (),
    starts: str = "start-",
) -> tuple[Unmoved, ...]:
    """Return what must hold of these nodes right before a step that stands on the choice between their positions.

    Args:
        prefix: of the recovery that counts; safe: the node that this run has marked as safe to bootstrap.
        beside: members that are up: one that has joined them by itself is no other side.
        starts: begins the ids of the steps that start them.
    """
    facts = party.facts
    last = {name: prefix if name in party.hosts else "" for name in names}  # nobody starts those left out in between
    return tuple(
        Unmoved(
            host=s.host,
            datadir=party.host(s.host)[DataFolder].path or DATADIR,
            state_uuid=facts.cluster_id,
            mark=mark_name(s.host, last[s.host]),
            recovered=kept_name(s.host, last[s.host]),
            position=facts.value(kept_name(s.host)) or "",
            rewritten=s.stale or not party.host(s.host)[DataFolder].names_state,
            safe=s.host == safe,
            own_start="bootstrap" if s.host == safe else f"{starts}{s.host}",
            hosts=beside,
        )
        for s in standings(facts, names)
    )


def looked_at(plan: Plan, party: Party) -> Party:
    """Return the party with those whose positions this plan recovers, those too that a person left out."""
    marked = {part.host for part in of(PositionMark, plan.steps) if isinstance(part, PositionMark) and part.since}
    return replace(party, looked=tuple(name for name in party.known if name in marked))
