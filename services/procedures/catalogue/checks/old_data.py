"""The old data of a node that gets others in their place: kept, and no other past than the members'."""

from __future__ import annotations

from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.galera.add_node.joiner_state import beyond, position_of
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.forked import history_of
from services.procedures.catalogue.steps.restoring import aside_path
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts


def old_data(facts: Facts, joiner: str) -> Check:
    """The joiner's old data are kept; what nobody else has is settled before, by add-node, which writes it out."""
    uuid, seqno = position_of(facts, joiner)
    pasts = [history_of(facts, joiner, name) for name in member_hosts(facts)] if uuid == facts.cluster_id else []
    forked = next((one for one in pasts if one.outcome == "forked"), None)
    more = beyond(facts, joiner)
    said = [f"{joiner} and the cluster have parted: {forked.evidence}"] if forked is not None else []
    said += [f"{joiner} has {more} write sets that no member has"] if more else []
    at = f"the old data ({uuid}:{seqno if seqno is not None else 'not known'})" if uuid else "what lies there"
    kept = f"{at} will be kept as {aside_path(facts.host(joiner))}"
    return Check(
        code="OLD-DATA",
        title=f"The old data of {joiner} are kept, and are no other past",
        verdict=verdict(said),
        evidence="; ".join([*said, kept]),
        why="What only the old data hold would be out of the cluster for good, kept aside and forgotten.",
        try_=("Settle it with add-node, which writes out what only this node has.",) if said else (),
        host=joiner,
        to_read=True,
    )
