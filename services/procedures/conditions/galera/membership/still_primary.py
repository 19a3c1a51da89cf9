"""Enough members are one Primary Component."""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts.reading import count
from services.procedures.looking.component import Status
from services.procedures.looking.standing import silent, standing
from services.procedures.plan.condition import Answer, OfHosts, condition
from services.procedures.plan.looks import Asking

_MORE_LOOKS, _VIEW_CHANGE_S = 3, 0.7
"""How often members that tell different views are asked again, and after how long: a change reaches all within that."""


@condition("galera.still-primary", "the other members to stay Primary")
class StillPrimary(OfHosts):
    """At least `at_least` of `hosts` answer, and all that answer are Primary in one view with this state UUID."""

    at_least: int
    state_uuid: str

    def look(self, asking: Asking) -> Answer:
        """At least so many answer, and those that do are one Primary Component.

        While a view changes (a node joins) members that are asked a moment apart tell two: they are asked again.
        """
        answers = asking.each(self.hosts, asking.status)
        for _ in range(_MORE_LOOKS):
            if not _between_views(answers):
                break
            asking.clock.sleep(_VIEW_CHANGE_S)
            answers = asking.each(self.hosts, asking.status)
        alive = {h: s for h, s in answers.items() if not isinstance(s, UserError)}
        faults = []
        for host, status in alive.items():
            if status.get("wsrep_cluster_status") != "Primary":
                faults.append(f"{host} is {status.get('wsrep_cluster_status') or 'of no status'}, not Primary")
            elif status.get("wsrep_cluster_state_uuid", "").lower() != self.state_uuid.lower():
                faults.append(f"{host} has another state UUID: {status.get('wsrep_cluster_state_uuid') or 'none'}")
        if len({s.get("wsrep_cluster_conf_id", "") for s in alive.values()}) > 1:
            faults.append("their views differ")
        if faults:
            nobody = alive and not any(s.get("wsrep_cluster_status") == "Primary" for s in alive.values())
            told = ["no node that answers is Primary: the cluster accepts no writes"] if nobody else []
            return Answer(holds=False, evidence="; ".join([*told, *faults]))
        if len(alive) < self.at_least:
            return _too_few(self, asking, answers)
        return Answer(holds=True, evidence=f"{', '.join(alive)} are Primary in one view")


def _between_views(answers: Mapping[str, Status | UserError]) -> bool:
    """Return whether those that answer are all Primary, and tell more than one view."""
    alive = [status for status in answers.values() if not isinstance(status, UserError)]
    primary = all(status.get("wsrep_cluster_status") == "Primary" for status in alive)
    return primary and len({status.get("wsrep_cluster_conf_id", "") for status in alive}) > 1


def _too_few(condition: StillPrimary, asking: Asking, answers: Mapping[str, Status | UserError]) -> Answer:
    """Judge members of which nothing was heard: by what the others see, and by what their hosts say of them."""
    alive = [s for s in answers.values() if not isinstance(s, UserError)]
    why = {host: answer for host, answer in answers.items() if isinstance(answer, UserError)}
    seen = max((count(s.get("wsrep_cluster_size", "")) or 0 for s in alive), default=0)
    # The others may count a node that is not of `hosts`: whether a silent one still serves is asked of its host.
    found = asking.each(tuple(why), lambda host: standing(asking, host))
    down = [f"{h}: {s.words}" for h, s in found.items() if not isinstance(s, UserError) and not s.primary]
    unread = [silent(h, why[h]) for h, s in found.items() if isinstance(s, UserError)]
    said = "; ".join([f"only {len(alive)} of {condition.at_least} nodes answer", *down, *unread])
    if alive and seen < condition.at_least:
        return Answer(holds=False, evidence=f"{said}; the others see {seen}")
    return Answer(False if down else None, said)  # where nothing is known our own way to them may be broken
