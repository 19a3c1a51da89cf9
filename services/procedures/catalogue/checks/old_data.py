"""The old data of a node that gets others in their place: kept, and no other past than the members', or not known."""

from __future__ import annotations

from services.procedures.catalogue.checks.joiner_state import (
    beyond,
    lies_in,
    nothing_left,
    position_of,
    seen_beyond,
)
from services.procedures.catalogue.checks.parts import verdict
from services.procedures.catalogue.steps.choices import member_hosts
from services.procedures.catalogue.steps.forked import history_of
from services.procedures.catalogue.steps.restored.restoring import aside_path
from services.procedures.plan.checks import Check
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.pasts.histories import among
from services.procedures.plan.pasts.histories_model import Histories


def old_data(facts: Facts, joiner: str) -> Check:
    """The joiner's old data are kept; what nobody else has is settled before, by add-node, which writes it out."""
    uuid, seqno = position_of(facts, joiner)
    pasts = [history_of(facts, joiner, name) for name in member_hosts(facts)] if uuid == facts.cluster_id else []
    forked = next((one for one in pasts if one.outcome == "forked"), None)
    more = beyond(facts, joiner)
    said = [f"the histories of {joiner} and the cluster have diverged: {forked.evidence}"] if forked is not None else []
    said += [f"{joiner} has {more} write sets that no member has"] if more else []
    unsure = [] if said else _unsure(facts, joiner, pasts)
    at = f"the old data ({uuid}:{seqno if seqno is not None else 'not known'})" if uuid else "the existing files"
    kept = f"{at} will be kept as {aside_path(facts.host(joiner))}"
    return Check(
        code="OLD-DATA",
        title=f"The old data of {joiner} are kept and do not diverge from the members' history",
        verdict=verdict(said, unsure),
        not_known=bool(unsure),
        evidence="; ".join([*said, *unsure, kept]),
        why="Transactions that exist only in the old data would be lost to the cluster.",
        try_=("Use add-node first: it saves the transactions that only this node has.",)
        if said
        else ("Keep the old data until their position is known: add-node reads it from the server.",)
        if unsure
        else (),
        host=joiner,
        to_read=True,
    )


def _unsure(facts: Facts, joiner: str, pasts: list[Histories]) -> list[str]:
    """Return why it is not known whether the old data hold what no member has: as steps/forked.py judges a past."""
    uuid, seqno = position_of(facts, joiner)
    lies, seen = lies_in(facts, joiner), seen_beyond(facts, joiner)
    if lies not in {"this cluster's", "state lost"} or nothing_left(facts, joiner):
        return []
    found = ["their state UUID is not known"] if not uuid else []
    found += [f"their position is not known: grastate.dat of {joiner} has no seqno"] if uuid and seqno is None else []
    found += (
        [f"{joiner} was last seen at {seen.seqno} ({seen.origin}), and no member has reached that seqno"]
        if seen
        else []
    )
    past = among(tuple(pasts)) if pasts else None
    if past is not None and past.outcome == "not known":
        found.append(f"it is not known whether they share the members' history: {past.evidence}")
    return found
