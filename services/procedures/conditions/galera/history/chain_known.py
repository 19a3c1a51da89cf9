"""Are these binary logs of the members' past, and is nothing missing in them? By the members' own binary logs.

The last transactions of the chain are laid beside what the members have at their seqnos, and every stretch in which
something could be missing beside what they have in it. A transaction with sql_log_bin = 0 takes a seqno and stands in
every log but its own server's; a statement (DDL) has no Xid, and one that went past Galera (RSU, wsrep_on = OFF) took
no seqno: so between two Xids their number is compared too (seen on the lab, MariaDB 10.11.18).
A log beside itself shows nothing: the server whose log the chain is may tell against it, and never for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.facts.binlog.marks import Mark
from services.facts.reading import count
from services.procedures.conditions.galera.history.restored import ids_differ, marks_of
from services.procedures.plan.condition import Answer, Declared, OfHosts, condition
from services.procedures.plan.looks import Asking

ENOUGH = 3
"""So many of the chain's last transactions must be the members' too, or all where it has fewer."""
_SETTLED = frozenset({"same", "more statements", "fewer statements"})
"""What no later look changes: the member's log was read over the whole stretch."""
_ADVICE = (
    ". A statement that did nothing (DROP ... IF EXISTS) is only in the log of the server that received it, and a "
    "purged one is in no log; this will not change: take another member's binary logs, or a later backup"
)


@condition("galera.chain-known", "a member's binary log to contain the same transactions")
class ChainKnown(OfHosts):
    """A member's binary log has the chain's last transactions, and in no stretch of the chain more or less than it.

    Server and time say whether they are the same: a GTID's number may differ, each server counts what it writes for
    itself too. Where nodes share a server id they show nothing: both sides of a fork write under it.

    Attributes:
        joiner: the node that comes back; recent: (Xid, server id, time) of the chain's last transactions, time as
            marks have it; gtid: of the last, for the evidence.
        stretches: (Xid, next Xid, statements between) wherever something could be missing.
        writers: ids of the servers whose logs the chain is; () = not known.
        accepted: that the members' logs tell nothing of the past is accepted; never that something may be missing, and
            never what they tell against it.
    """

    joiner: str
    gtid: str
    recent: tuple[tuple[int, int, str], ...]
    stretches: tuple[tuple[int, int, int], ...] = ()
    writers: tuple[int, ...] = ()
    accepted: bool = False

    def declared(self) -> Declared:
        """See Condition."""
        return Declared(frozenset(self.hosts), enough_of=frozenset(self.hosts))

    def look(self, asking: Asking) -> Answer:
        """Ask each member's binary log."""
        known = self._past(asking)
        if known.holds is False:
            return known
        logs, proven = {name: _Log(asking, name) for name in self.hosts}, 0
        others = self._others(asking) if self.stretches else frozenset()
        unproven, never = list[str](), False
        for stretch in self.stretches:
            read = {name: log.around(stretch) for name, log in logs.items()}
            found = {name: held_in(marks, stretch) for name, marks in read.items()}
            if lost := next((name for name, one in found.items() if one == "more"), ""):
                evidence = f"between seqnos {stretch[0]} and {stretch[1]} the binary log of {lost} has a transaction"
                return Answer(holds=False, evidence=f"{evidence} that none of the files contains", final=True)
            if "more statements" not in found.values() and any(found[name] == "same" for name in others):
                proven += 1
            else:
                unproven.append(f"{stretch[0]}-{stretch[1]} ({', '.join(f'{n}: {o}' for n, o in found.items())})")
                stays = all(
                    found[name] in _SETTLED or _begins_behind(marks, stretch[0]) for name, marks in read.items()
                )
                never = never or (bool(others) and stays)
        if unproven:
            evidence = (
                f"whether something is missing is not known in {len(unproven)} of {len(self.stretches)} stretches"
            )
            evidence = f"{evidence}: {'; '.join(unproven[:3])}{_ADVICE if never else ''}"
            return Answer(holds=None, evidence=evidence, final=never, lines=tuple(unproven))
        evidence = f"; a member confirms {proven} of the ranges" if proven else ""
        return Answer(known.holds, f"{known.evidence}{evidence}", final=known.final)

    def _others(self, asking: Asking) -> frozenset[str]:
        """Return the members whose logs the chain is not."""
        if not self.writers:
            return frozenset()
        ids = asking.each(self.hosts, lambda name: count(asking.variable(name, "server_id") or ""))
        return frozenset(name for name, one in ids.items() if isinstance(one, int) and one not in self.writers)

    def _past(self, asking: Asking) -> Answer:
        """Lay the chain's last transactions beside each member's."""
        if not self.recent:
            return Answer(holds=None, evidence="the last transactions of the chain are not known")
        target, _, time = self.recent[-1]
        ours = f"the chain ends with Xid {target}, GTID {self.gtid} of {time}"
        found = asking.each(self.hosts, lambda name: marks_of(asking, name, target))
        same = over = ""
        for name, one in found.items():
            there = {mark.xid: mark for mark in one} if isinstance(one, tuple) else {}
            both = [(mine, there[mine[0]]) for mine in self.recent if mine[0] in there]
            if other := next((m for mine, m in both if (m.server_id, m.time) != mine[1:]), None):
                evidence = (
                    f"{ours}; the binary log of {name} has {other.text} of {other.time} there: a different history"
                )
                return Answer(holds=False, evidence=evidence, final=True)
            if target in there and len(both) >= min(ENOUGH, len(self.recent)):
                same = same or name
            elif target not in there and _goes_over(there, target):
                over = over or name
        if same and ids_differ(asking, self.joiner, self.hosts):
            return Answer(holds=True, evidence=f"{ours}, and the binary log of {same} has the same transaction there")
        if over and not same:
            evidence = f"{ours}; the binary log of {over} passes seqno {target} without such a transaction"
            return Answer(
                holds=False, evidence=f"{evidence}: the number is not a seqno, or the history is different", final=True
            )
        why = f"no binary log of {', '.join(self.hosts)} contains that seqno"
        if same:
            why = f"{same} has a matching transaction, but nodes share a server id: a fork would look the same"
        if self.accepted:
            return Answer(holds=True, evidence=f"you accepted an unknown history: {ours}; {why}")
        return Answer(holds=None, evidence=f"nothing shows that these belong to the members' history: {ours}; {why}")


def _goes_over(there: Mapping[int | None, Mark], xid: int) -> bool:
    """Return whether marks by their Xid stand on both sides of one."""
    known = [one for one in there if one]
    return any(one < xid for one in known) and any(one > xid for one in known)


def held_in(marks: tuple[Mark, ...] | None, stretch: tuple[int, int, int]) -> str:
    """Return what a member's marks say of a stretch of the chain. Pure.

    'same': nothing with an Xid stands between the two, and as many statements without one as in the chain; where the
    member's log has not the Xid that it begins with, only nothing at all shows it. 'more': a transaction; 'more
    statements', 'fewer statements'. Else it tells nothing: 'no log', 'not reached', 'no seqno' (a number that is none
    stands there), 'no begin'.
    """
    first, last, statements = stretch
    if not marks:
        return "no log"
    if any(mark.xid is not None and first < mark.xid < last for mark in marks):
        return "more"
    end = next((at for at, mark in enumerate(marks) if mark.xid == last), None)
    begin = next((at for at in range((end or 0) - 1, -1, -1) if _is_up_to(marks[at], first)), None)
    if end is None or begin is None:
        return "not reached"
    between = marks[begin + 1 : end]
    if any(mark.xid is not None for mark in between):
        return "no seqno"
    if len(between) != statements:
        return "more statements" if len(between) > statements else "fewer statements"
    return "same" if marks[begin].xid == first or not statements else "no begin"


def _begins_behind(marks: tuple[Mark, ...] | None, first: int) -> bool:
    """Return whether a log has only what comes behind an Xid: what it had there was purged, and no look finds it."""
    return (marks[0].xid or 0) > first if marks else False


def _is_up_to(mark: Mark, xid: int) -> bool:
    return mark.xid is not None and mark.xid <= xid


@dataclass(slots=True)
class _Log:
    """One member's binary log within one look: read again only where what was read does not reach."""

    asking: Asking
    name: str
    read: tuple[Mark, ...] = ()
    silent: bool = field(default=False)

    def around(self, stretch: tuple[int, int, int]) -> tuple[Mark, ...] | None:
        """Return marks from before the stretch on; None where it has no log that can be read."""
        if self.silent:
            return None
        xids = {mark.xid for mark in self.read}
        if not xids.issuperset(stretch[:2]):
            found = marks_of(self.asking, self.name, stretch[0])
            self.silent, self.read = found is None, found or ()
        return None if self.silent else self.read
