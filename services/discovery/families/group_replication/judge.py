"""What a member's state is called, how serious it is, and the sentence behind it, in the vendor's own words.

A member in ERROR or OFFLINE answers over SQL like any server and serves what it had when it left: never good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.discovery.families.group_replication.numbers import cloned, to_go
from services.discovery.families.group_replication.views import View, word_of
from services.discovery.judgement.judge import Around, Judgement, serving
from services.discovery.judgement.states import NOT_KNOWN, State
from services.discovery.judgement.switches import nobody_writes, replicates
from services.discovery.nodes import Node
from services.discovery.words import joined, names, number
from services.facts.model import GroupFacts, GroupRecovery
from services.i18n import mark, tr, tr_n
from services.types import Health

NO_MAJORITY = State("group-no-majority", mark("ONLINE, no majority"))
LEFT_BEHIND = State("group-left-behind", mark("left behind"))
ERROR, OFFLINE = State("group-error", "ERROR"), State("group-offline", "OFFLINE")
INSIDE = {"ONLINE": State("group-online", "ONLINE"), "RECOVERING": State("group-recovering", "RECOVERING")}
"""The vendor's own words (MySQL manual, "Group Replication Server States")."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the members of one group; `views`: of all who answer."""

    views: Sequence[View]

    def __call__(self, node: Node, around: Around) -> Judgement:
        """Return the judgement of a member that answers; a plain server behind the group only serves."""
        group = node.facts.group if node.facts is not None else None
        if group is None:
            return serving(node, around)
        if group.members_at is None:
            why = node.why("group") or tr("the group's tables were not read")
            return Judgement(NOT_KNOWN, Health.UNKNOWN, why)
        own = group.own
        state = own.state if own is not None else ""
        if state in INSIDE:
            return self._inside(node, group, state)
        if state == "ERROR":
            text = tr("{name} left the group with an error; its data have not changed since then", name=node.name)
            return Judgement(ERROR, Health.BAD, joined(text, _from_log(node), _writable(node)))
        if state == "OFFLINE" or not group.members:
            text = tr(
                "{name} is configured for the group but is not in it; it receives none of its transactions",
                name=node.name,
            )
            return Judgement(OFFLINE, Health.BAD, joined(text, _from_log(node), _writable(node)))
        if word := word_of(node):
            return Judgement(
                NOT_KNOWN, Health.UNKNOWN, tr("its state in the group is '{word}', which is not known", word=word)
            )
        return Judgement(NOT_KNOWN, Health.UNKNOWN, tr("the server does not report its state in the group"))

    def _inside(self, node: Node, group: GroupFacts, state: str) -> Judgement:
        view = next((v for v in self.views if any(o is node for o in v.observers)), None)
        if view is not None and view.past:
            text = tr("{name} reports an outdated view of the group and has not noticed yet", name=node.name)
            return Judgement(LEFT_BEHIND, Health.BAD, joined(text, self._without()))
        if view is not None and view.majority_not_known:
            return Judgement(INSIDE[state], Health.UNKNOWN, _not_counted(node, view))
        if view is None or not view.majority:
            return Judgement(NO_MAJORITY, Health.BAD, self._cut_off(node, view))
        if state == "RECOVERING":
            return self._recovering(node, group)
        if missed := len(view.unreached):
            text = tr_n(
                "{names} does not reach {n} member: that member will soon be expelled or return",
                "{names} does not reach {n} members: they will soon be expelled or return",
                missed,
                names=node.name,
            )
            return Judgement(INSIDE[state], Health.WARN, text)
        primary = group.own is not None and group.own.role == "PRIMARY"
        text = nobody_writes(node, ()) if primary and not replicates(node) else ""
        return Judgement(INSIDE[state], Health.WARN if text else Health.GOOD, text)

    def _recovering(self, node: Node, group: GroupFacts) -> Judgement:
        known = group.recovery or GroupRecovery()
        if known.clone_stage:
            text = tr("{name} is cloning its data from a member ({stage})", name=node.name, stage=known.clone_stage)
            return Judgement(INSIDE["RECOVERING"], Health.TRANSFER, joined(text, cloned(known)))
        donor = next((o.name for v in self.views for o in v.observers if known.donor_id in o.history), "")
        text = tr("{name} is catching up with the group", name=node.name)
        if donor and known.donor_id:
            text = tr("{name} is catching up with the group from {donor}", name=node.name, donor=donor)
        if known.error:
            why = tr("it cannot fetch the missing transactions: {error}", error=known.error)
            return Judgement(INSIDE["RECOVERING"], Health.WARN, joined(text, why))
        left = to_go(group)
        more = tr("{n} transactions to go", n=number(left)) if left is not None else ""
        return Judgement(INSIDE["RECOVERING"], Health.TRANSFER, joined(text, more))

    def _cut_off(self, node: Node, view: View | None) -> str:
        reached, whole = (len(view.reached), len(view.members)) if view is not None else (1, 1)
        text = tr(
            "{name} reaches {n} of {whole} members: no majority, writes wait", name=node.name, n=reached, whole=whole
        )
        return joined(text, self._without())

    def _without(self) -> str:
        """Say who goes on without a member that is cut off, '' where nobody has a majority."""
        others = sorted(o.name for v in self.views if v.majority for o in v.observers)
        if not others:
            return ""
        return tr_n("{names} continues without it", "{names} continue without it", len(others), names=names(others))


def _not_counted(node: Node, view: View) -> str:
    return tr(
        "{name} reaches {n} of {whole} members; whether that is a majority is not known: the state of "
        "{untold} is an unknown word",
        name=node.name,
        n=len(view.reached),
        whole=len(view.members),
        untold=len(view.untold),
    )


def _from_log(node: Node) -> str:
    """Return what the server's own log says of its leaving, where it is read."""
    told = node.machine.group_error if node.machine is not None and node.ssh_fresh else ""
    return tr("its log: {line}", line=told) if told else ""


def _writable(node: Node) -> str:
    """Return a warning where a server outside its group takes writes that the group will never see."""
    server = node.server
    if server is None or server.super_read_only is not False or server.read_only is not False:
        return ""
    return tr("it accepts writes that the group does not receive (super_read_only is OFF)")
