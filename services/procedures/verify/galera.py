"""Conditions about the cluster as a whole: the health gate, the Primary Component."""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts.reading import count, flag
from services.procedures.engine.ports import Past
from services.procedures.engine.remembering import MOST_GAP_S
from services.procedures.plan.conditions import Answer, ClusterWhole, FormedAgain, StillPrimary
from services.procedures.plan.conditions_component import UNEXPECTED
from services.procedures.verify.asking import Asking
from services.procedures.verify.standing import silent, standing, without_server
from services.procedures.verify.unexpected import Uncounted, uncounted

Status = dict[str, str]
SYNCED, DONOR = "4", "2"
_STAYS_S = 8.0
_MORE_LOOKS, _VIEW_CHANGE_S = 3, 0.7
"""How often members that tell different views are asked again, and after how long: a change reaches all within that."""


def cluster_whole(condition: ClusterWhole, asking: Asking, past: Past) -> Answer:
    """Ask all nodes at once; every one must be Primary, Synced, ready, of one view. One that is silent is not known."""
    del past
    answers = asking.each(condition.hosts, asking.status)
    faults, unread = _without_status(answers, asking)
    for host, status in answers.items():
        if not isinstance(status, UserError):
            faults += _faults(host, status, condition)
    views = {h: s.get("wsrep_cluster_conf_id", "") for h, s in answers.items() if not isinstance(s, UserError)}
    if len(set(views.values())) > 1:
        faults.append("the views differ: " + ", ".join(f"{h} has conf_id {v}" for h, v in views.items()))
    more = uncounted(condition, answers, asking)
    key = ("uncounted", condition.hosts)
    if more.number:
        return _not_alone(more, condition, [*faults, *unread], asking.memory.held_s(key, asking.clock, MOST_GAP_S))
    asking.memory.broke(key)
    if faults or unread:
        told = [*faults, *unread]
        return Answer(False if faults else None, "; ".join(told[:4]), lines=tuple(told))
    return Answer(holds=True, evidence=f"all {condition.size} nodes are Synced in one Primary Component")


def _not_alone(more: Uncounted, condition: ClusterWhole, others: list[str], held_s: float) -> Answer:
    """A member beyond the plan's may be on its way out; one that stays and has a name ends the wait for a person."""
    told = more.told(condition.hosts)
    final = bool(more.names) and held_s >= _STAYS_S
    kept = ((UNEXPECTED, told),) if final else ()
    return Answer(holds=False, evidence=told, final=final, lines=(told, *others), kept=kept)


def _without_status(answers: Mapping[str, Status | UserError], asking: Asking) -> tuple[list[str], list[str]]:
    """Return what is wrong with hosts whose server gave no status, and what is not known of the others of them."""
    why = {host: answer for host, answer in answers.items() if isinstance(answer, UserError)}
    found = asking.each(tuple(why), lambda host: without_server(asking, host))
    down = {host: words for host, words in found.items() if isinstance(words, str) and words}
    unread = [silent(host, error) for host, error in why.items() if host not in down]
    return [f"{host}: {words}" for host, words in down.items()], unread


def _faults(host: str, status: Status, condition: ClusterWhole) -> list[str]:
    """Return what is wrong with one node that answers."""
    faults = []
    desynced = host in condition.but_desynced
    state = status.get("wsrep_local_state", "")
    if status.get("wsrep_cluster_status") != "Primary":
        faults.append(f"{host} is {status.get('wsrep_cluster_status') or 'of no status'}, not Primary")
    if state != SYNCED and not (desynced and state == DONOR):
        faults.append(f"{host} is {status.get('wsrep_local_state_comment') or 'in no state'}, not Synced")
    if flag(status.get("wsrep_ready", "")) is not True:
        faults.append(f"wsrep_ready is {status.get('wsrep_ready') or 'missing'} on {host}")
    if status.get("wsrep_cluster_state_uuid", "").lower() != condition.state_uuid.lower():
        faults.append(f"{host} has another state UUID: {status.get('wsrep_cluster_state_uuid') or 'none'}")
    if count(status.get("wsrep_cluster_size", "")) != condition.size:
        faults.append(f"{host} sees {status.get('wsrep_cluster_size') or 'no'} nodes of {condition.size}")
    if status.get("wsrep_desync_count", "0") != "0" and not desynced:
        faults.append(f"wsrep_desync_count is {status['wsrep_desync_count']} on {host}")
    return faults


def still_primary(condition: StillPrimary, asking: Asking, past: Past) -> Answer:
    """At least so many answer, and those that do are one Primary Component.

    While a view changes (a node joins) members that are asked a moment apart tell two: they are asked again.
    """
    del past
    answers = asking.each(condition.hosts, asking.status)
    for _ in range(_MORE_LOOKS):
        if not _between_views(answers):
            break
        asking.clock.sleep(_VIEW_CHANGE_S)
        answers = asking.each(condition.hosts, asking.status)
    alive = {h: s for h, s in answers.items() if not isinstance(s, UserError)}
    faults = []
    for host, status in alive.items():
        if status.get("wsrep_cluster_status") != "Primary":
            faults.append(f"{host} is {status.get('wsrep_cluster_status') or 'of no status'}, not Primary")
        elif status.get("wsrep_cluster_state_uuid", "").lower() != condition.state_uuid.lower():
            faults.append(f"{host} has another state UUID: {status.get('wsrep_cluster_state_uuid') or 'none'}")
    if len({s.get("wsrep_cluster_conf_id", "") for s in alive.values()}) > 1:
        faults.append("their views differ")
    if faults:
        nobody = alive and not any(s.get("wsrep_cluster_status") == "Primary" for s in alive.values())
        told = ["nobody that answers is Primary: the cluster takes no writes"] if nobody else []
        return Answer(holds=False, evidence="; ".join([*told, *faults]))
    if len(alive) < condition.at_least:
        return _too_few(condition, asking, answers)
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


def formed_again(condition: FormedAgain, asking: Asking, past: Past) -> Answer:
    """Look whether the nodes are one whole again; hold all the same when they had their time."""
    found = cluster_whole(ClusterWhole(condition.hosts, len(condition.hosts), condition.state_uuid), asking, past)
    if found.holds:
        return found
    waited = asking.memory.waited_s(condition, asking.clock)
    over = waited >= condition.patience_s
    told = "they did not form it: " if over else ""
    return Answer(
        over, f"{told}{found.evidence}", lines=found.lines, done=min(waited, condition.patience_s),
        total=condition.patience_s, unit="s",
    )  # fmt: skip
