"""Did a stopped node's data move?"""

from __future__ import annotations

import json
from dataclasses import asdict

from services.errors import UserError
from services.facts.galera.state_files import ZERO_UUID
from services.procedures.looking.marks import mark_kept, mark_now, started_since
from services.procedures.plan.condition import NOBODY, Answer, Declared, OfHost, condition, names
from services.procedures.plan.looks import Asking


@condition("galera.position-mark", "the position of {host}")
class PositionMark(OfHost):
    """Keep what a later look can hold a stopped node against: its state file, the server's own files, systemd's starts.

    It holds whatever is found: what could not be read is kept as that, and can never be shown unmoved later.

    Attributes:
        keep: the name under which the mark is kept.
        since: name of an earlier mark: it holds only where systemd has not started a server since that one.
    """

    datadir: str
    keep: str
    since: str = ""

    def declared(self) -> Declared:
        """See Condition."""
        mark, looked_at = names(self.keep), frozenset({self.host}) if self.since else NOBODY
        return Declared(frozenset({self.host}), keeps=mark, marks=mark, recovered=looked_at)

    def look(self, asking: Asking) -> Answer:
        """Keep what is there now; a server that systemd started since an earlier mark ends it."""
        now = mark_now(self.host, self.datadir, asking)
        if self.since:
            before = mark_kept(asking.past.kept.get(self.since, ""))
            ran = started_since(before, now) if before is not None else ""
            if ran:
                evidence = f"a server ran on {self.host} while its position was checked ({ran}): make a new plan"
                return Answer(holds=False, evidence=evidence, final=True)
        evidence = f"not known: {now.unread}" if now.unread else f"last writes to the data of {self.host}: {now.newest}"
        return Answer(holds=True, evidence=evidence, kept=((self.keep, json.dumps(asdict(now))),))


@condition("galera.unmoved", "the position of {host} to be unchanged")
class Unmoved(OfHost):
    """No server ran on this data since its position was recovered: a choice between positions is still the right one.

    Attributes:
        mark: the name of the mark that was kept right after its position was recovered (PositionMark).
        recovered: the name under which that position was kept; position: what the plan chose by, '' for none.
        rewritten: an earlier step of the plan takes the seqno out of its state file, or removes the file.
        safe: this run has marked it safe_to_bootstrap.
        own_start: the step that starts it: once this run has begun that, its data may have moved by it.
        hosts: members that it may have joined by itself: then it is one of them and has no side of its own.
    """

    datadir: str
    state_uuid: str
    mark: str
    recovered: str
    position: str
    rewritten: bool = False
    safe: bool = False
    own_start: str = ""
    hosts: tuple[str, ...] = ()

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(
            frozenset({self.host, *self.hosts}), uses_marks=names(self.mark), holds_data_of=frozenset({self.host})
        )

    def look(self, asking: Asking) -> Answer:
        """Hold what is there against the mark and against the position that the plan chose by."""
        host = self.host
        if self.own_start and self.own_start in asking.past.began:
            return Answer(holds=True, evidence=f"{host} was checked before this run began to start it")
        recovered = asking.past.kept.get(self.recovered, "")
        if self.position and recovered != self.position:
            told = (
                f"{host} was chosen because of {self.position}, but then the run recovered {recovered or 'nothing'}: "
            )
            return Answer(holds=False, evidence=f"{told}make a new plan", final=True)
        before = mark_kept(asking.past.kept.get(self.mark, ""))
        if before is None or before.unread:
            why = before.unread if before is not None else "this run stored no state to compare with"
            return Answer(holds=None, evidence=f"whether {host} ran since the check is not known: {why}")
        now = mark_now(host, self.datadir, asking)
        if now.unread:
            return Answer(holds=None, evidence=f"whether {host} ran since the check is not known: {now.unread}")
        ran = started_since(before, now) or (f"{now.newest} is new" if now.files != before.files else "")
        if ran:
            return _ran(self, asking, ran)
        if told := _state_moved(self, before.state, now.state):
            return Answer(holds=False, evidence=f"{told} since the check: make a new plan", final=True)
        return Answer(holds=True, evidence=f"no server ran on {host} since the check at {self.position}")


def _ran(condition: Unmoved, asking: Asking, ran: str) -> Answer:
    """Say that it ran; one that is a member of the component that serves now has no side of its own."""
    if condition.hosts and _is_member(condition, asking):
        beside = ", ".join(condition.hosts)
        return Answer(holds=True, evidence=f"{condition.host} has joined {beside} on its own in the meantime")
    evidence = f"{condition.host} ran since the check ({ran}): make a new plan"
    return Answer(holds=False, evidence=evidence, final=True)


def _is_member(condition: Unmoved, asking: Asking) -> bool:
    """Return whether it is Primary in one view with each of these members."""
    try:
        seen = [asking.status(name) for name in (condition.host, *condition.hosts)]
    except UserError:
        return False
    primary = all(status.get("wsrep_cluster_status") == "Primary" for status in seen)
    uuids = {status.get("wsrep_cluster_state_uuid", "").lower() for status in seen}
    views = {(status.get("wsrep_cluster_conf_id"), status.get("wsrep_cluster_size")) for status in seen}
    return primary and uuids == {condition.state_uuid.lower()} and len(views) == 1


def _state_moved(condition: Unmoved, before: str, now: str) -> str:
    """Return what of the state file is not as it was, nor as this run wrote it; '' where nothing is."""
    if condition.safe and now.endswith(":no"):
        return f"grastate.dat of {condition.host} says safe_to_bootstrap 0 again"
    if before.rpartition(":")[0] == now.rpartition(":")[0]:
        as_before = condition.safe or before == now
        return "" if as_before else f"safe_to_bootstrap of {condition.host} was changed in grastate.dat"
    if condition.rewritten and now.split(":")[:2] in ([condition.state_uuid, "-1"], [ZERO_UUID, "-1"]):
        return ""
    return f"grastate.dat of {condition.host} has changed ({before or 'none'}, now {now or 'none'})"
