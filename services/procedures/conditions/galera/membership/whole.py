"""The health gate: the cluster as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from services.errors import UserError
from services.facts.galera.whole import Lack, by_status, lacks
from services.procedures.looking.component import Status
from services.procedures.looking.standing import silent, without_server
from services.procedures.looking.uncounted import Uncounted, uncounted
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import UNEXPECTED, Asking
from services.procedures.plan.remembering import MOST_GAP_S

_STAYS_S = 8.0


@condition("galera.whole", "every member to be Synced")
class ClusterWhole(OfHosts):
    """The health gate: all `hosts` Primary, Synced, ready, one state UUID and conf_id, size as given, nobody desynced.

    `but_desynced`: hosts that are deliberately Donor/Desynced.
    """

    size: int
    state_uuid: str
    but_desynced: tuple[str, ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        members = frozenset(f"server {host}" for host in self.hosts)
        return Declared(frozenset({*self.hosts, *self.but_desynced}), stands=members)

    def look(self, asking: Asking) -> Answer:
        """Ask all nodes at once; every one must be Primary, Synced, ready, of one view. Who is silent is not known."""
        answers = asking.each(self.hosts, asking.status)
        faults, unread = _without_status(answers, asking)
        for host, status in answers.items():
            if not isinstance(status, UserError):
                faults += _faults(host, status, self)
        views = {h: s.get("wsrep_cluster_conf_id", "") for h, s in answers.items() if not isinstance(s, UserError)}
        if len(set(views.values())) > 1:
            faults.append("the views differ: " + ", ".join(f"{h} has conf_id {v}" for h, v in views.items()))
        more = uncounted(self, answers, asking)
        key = ("uncounted", self.hosts)
        if more.number:
            return _not_alone(more, self, faults, unread, asking.memory.held_s(key, asking.clock, MOST_GAP_S))
        asking.memory.broke(key)
        faults += _other_sizes(answers, self)
        if faults or unread:
            told = [*faults, *unread]
            return Answer(False if faults else None, "; ".join(told[:4]), lines=tuple(told))
        return Answer(holds=True, evidence=f"all {self.size} nodes are Synced in one Primary Component")


@condition("galera.formed-again", "the members to form their Primary Component again")
class FormedAgain(OfHosts):
    """All `hosts` are Synced in one Primary Component, or `patience_s` have passed since the first look.

    So a wait for Galera's own recovery always ends, and what came of it is looked at then.
    """

    state_uuid: str
    patience_s: float

    def look(self, asking: Asking) -> Answer:
        """Look whether the nodes are one whole again; hold all the same when they had their time."""
        found = ClusterWhole(self.hosts, len(self.hosts), self.state_uuid).look(asking)
        if found.holds:
            return found
        waited = asking.memory.waited_s(self, asking.clock)
        over = waited >= self.patience_s
        evidence = "they did not form it: " if over else ""
        return Answer(
            over, f"{evidence}{found.evidence}", lines=found.lines, done=min(waited, self.patience_s),
            total=self.patience_s, unit="s",
        )  # fmt: skip


def _not_alone(more: Uncounted, condition: ClusterWhole, faults: list[str], unread: list[str], held_s: float) -> Answer:
    """A member beyond the plan's may be on its way out; one that stays and has a name ends the wait for a person.

    That its past is not known takes nothing back: a colleague may have added a node, by an SST from one of ours.
    """
    told = more.told(condition.hosts)
    final = bool(more.names) and held_s >= _STAYS_S
    kept = ((UNEXPECTED, told),) if final else ()
    return Answer(False, told, final=final, lines=(told, *faults, *unread), kept=kept, doubt=not faults)


def _without_status(answers: Mapping[str, Status | UserError], asking: Asking) -> tuple[list[str], list[str]]:
    """Return what is wrong with hosts whose server gave no status, and what is not known of the others of them."""
    why = {host: answer for host, answer in answers.items() if isinstance(answer, UserError)}
    found = asking.each(tuple(why), lambda host: without_server(asking, host))
    down = {host: words for host, words in found.items() if isinstance(words, str) and words}
    unread = [silent(host, error) for host, error in why.items() if host not in down]
    return [f"{host}: {words}" for host, words in down.items()], unread


def _faults(host: str, status: Status, condition: ClusterWhole) -> list[str]:
    """Return what is wrong with one node that answers."""
    node, desynced = by_status(status), host in condition.but_desynced
    missing = lacks(node, desynced=desynced)
    if Lack.NOT_PRIMARY in missing:
        missing -= {Lack.NOT_CONNECTED}  # one of them says it
    ready, count = (status.get(name) or "missing" for name in ("wsrep_ready", "wsrep_desync_count"))
    told = {
        Lack.NOT_PRIMARY: f"{host} is {node.cluster_status or 'of no status'}, not Primary",
        Lack.NOT_CONNECTED: f"wsrep_connected is {status.get('wsrep_connected')} on {host}",
        Lack.NOT_SYNCED: f"{host} is {node.local_state_comment or 'in no state'}, not Synced",
        Lack.NOT_READY: f"wsrep_ready is {ready} on {host}",
        Lack.READY_UNTOLD: f"wsrep_ready is {ready} on {host}",
        Lack.DESYNCED: f"wsrep_desync_count is {count} on {host}",
        Lack.DESYNC_UNTOLD: f"wsrep_desync_count is {count} on {host}",
    }
    faults = [words for lack, words in told.items() if lack in missing]
    if node.state_uuid != condition.state_uuid.lower():
        faults.append(f"{host} has another state UUID: {status.get('wsrep_cluster_state_uuid') or 'none'}")
    return faults


def _other_sizes(answers: Mapping[str, Status | UserError], condition: ClusterWhole) -> list[str]:
    """Return whose view has another size than the plan's."""
    return [
        f"{host} sees {status.get('wsrep_cluster_size') or 'no'} nodes of {condition.size}"
        for host, status in answers.items()
        if not isinstance(status, UserError) and by_status(status).cluster_size != condition.size
    ]
