"""Is a member in one Primary Component with the others, or has it one of its own beside theirs?

One component has one view: the same wsrep_cluster_conf_id, size and addresses on every member of it. Looks at several
servers are never at one instant: while a node joins, the views differ for a moment, and only what stays is a split.
Two Primary views that have no member in common are one at the first look: no joining goes by way of that.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts.galera.status import listed_addresses
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import TWO_PRIMARIES, Asking
from services.procedures.plan.remembering import MOST_GAP_S

Status = Mapping[str, str]
_STAYS_S = 8.0


def beside(host: str, status: Status, others: tuple[str, ...], state_uuid: str, asking: Asking) -> Answer:
    """Return whether a Primary member is in one view with one of the others that serves."""
    answers = asking.each(others, asking.status)
    serving = {
        name: found
        for name, found in answers.items()
        if not isinstance(found, UserError)
        and found.get("wsrep_cluster_status") == "Primary"
        and found.get("wsrep_cluster_state_uuid", "").lower() == state_uuid.lower()
    }
    size, key = status.get("wsrep_cluster_size", ""), ("apart", host)
    apart = [name for name, found in serving.items() if _view(found) != _view(status)]
    if serving and not apart:
        asking.memory.broke(key)
        together = ", ".join(serving)
        return Answer(holds=True, evidence=f"{host} is Primary, one of {size}, in one view with {together}")
    if not serving:
        asking.memory.broke(key)
        evidence = f"{host} is Primary, one of {size}, and none of {', '.join(others)} is seen in its component"
        return Answer(holds=None, evidence=evidence)
    evidence = f"{host} is a Primary Component of its own (one of {size}), {', '.join(apart)} are another"
    evidence += (
        ": two Primary Components, and each may take rows that the other never gets. Nothing more is changed: let "
    )
    evidence += (
        f"clients write to one side only, stop the server of the other ({host}: its rows stay on its disk), and "
    )
    evidence += "bring it back with add-node, which compares both pasts first"
    stays = asking.memory.held_s(key, asking.clock, MOST_GAP_S) >= _STAYS_S
    if not (stays or all(_members(serving[name]).isdisjoint(_members(status)) for name in apart)):
        return Answer(holds=None, evidence=evidence)
    return Answer(holds=False, evidence=evidence, final=True, kept=((TWO_PRIMARIES, evidence),))


def _view(status: Status) -> tuple[str, str, frozenset[str]]:
    return status.get("wsrep_cluster_conf_id", ""), status.get("wsrep_cluster_size", ""), _members(status)


def _members(status: Status) -> frozenset[str]:
    return frozenset(listed_addresses(status.get("wsrep_incoming_addresses", "")))
