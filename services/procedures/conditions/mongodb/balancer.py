"""Whether a sharded cluster moves data by itself: its balancer's switch, and what it moves now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from services.connections.mongo.document import Document
from services.connections.mongo.errors import NO_COMMAND
from services.connections.ports import ObserverSession
from services.connections.reads import mongo as reads
from services.errors import QueryFailed, UserError
from services.facts.mongodb.sharding import holders_of, parse_cluster
from services.procedures.conditions.mongodb.told import LIMIT_S
from services.procedures.plan.actions import WHERE_SET
from services.procedures.plan.condition import Answer, Declared, OfHost, condition
from services.procedures.plan.looks import Asking


@condition("mongodb.balancer", "the balancer to be in the required state, as {host} reads it")
class BalancerIs(OfHost):
    """The balancer is switched on, or off, as the first mongos that answers reads it.

    Attributes:
        others: the mongos that are asked where the host does not answer.
    """

    on: bool
    others: tuple[str, ...] = field(default=(), metadata={WHERE_SET: True})

    def declared(self) -> Declared:
        """See Condition."""
        asked = _any_of(self.host, self.others)
        return replace(asked, stands=frozenset({"balancer"}), told_by=asked.touches)

    def look(self, asking: Asking) -> Answer:
        """Read the settings."""
        return _first(asking, (self.host, *self.others), self._seen)

    def _seen(self, session: ObserverSession) -> Answer:
        settings = session.ask(reads.CONFIG_SETTINGS, limit_s=LIMIT_S).documents
        now = parse_cluster(settings=settings).balancer
        if now is None:
            return Answer(holds=None, evidence="the balancer's switch could not be read")
        # Once the run has switched it, it was somebody: the wait says what ends it.
        way = "" if now is self.on else f" (sh.{'start' if self.on else 'stop'}Balancer() at a mongos switches it)"
        return Answer(now is self.on, f"the balancer is {'on' if now else 'off'}{way}")


@condition("mongodb.nothing-moves", "no chunk migration in progress, as {host} reads it")
class NothingMoves(OfHost):
    """No lock of the cluster is held: no chunk is moved, no collection is changed; and the balancer is in no round.

    A round is told from 3.4 on (MongoDB manual, "balancerStatus"); before, it holds a lock.

    Attributes:
        others: as in BalancerIs.
    """

    others: tuple[str, ...] = field(default=(), metadata={WHERE_SET: True})

    def declared(self) -> Declared:
        """See Condition."""
        return _any_of(self.host, self.others)

    def look(self, asking: Asking) -> Answer:
        """Read the locks that are held, and whether the balancer is in a round."""
        now = asking.clock.wall()
        return _first(asking, (self.host, *self.others), lambda session: _moving(session, now))


def _any_of(host: str, others: tuple[str, ...]) -> Declared:
    """All lead to the same cluster: one that answers is enough."""
    return Declared(frozenset({host, *others}), enough_of=frozenset({host, *others}))


def _first(asking: Asking, routers: tuple[str, ...], seen: Callable[[ObserverSession], Answer]) -> Answer:
    """Return what the first mongos that answers shows. Raises the first one's UserError where none does."""
    problems = list[UserError]()
    for router in routers:
        try:
            answer = seen(asking.session(router))
        except UserError as problem:
            problems.append(problem)
        else:
            return answer
    raise problems[0]


def _moving(session: ObserverSession, now: float) -> Answer:
    locks = session.ask(reads.CONFIG_LOCKS, limit_s=LIMIT_S).documents
    told = parse_cluster(locks=locks, balancer=_status(session))
    if told.locks is None:
        return Answer(holds=None, evidence="the locks of the cluster could not be read")
    if told.balancing:
        return Answer(holds=False, evidence="the balancer is in a round")
    held = ", ".join(holders_of(locks, now))
    ends = "; the lock of a lost holder expires when its ping in config.lockpings is 15 minutes old" if held else ""
    return Answer(not told.locks, f"locks held: {held or 'none'}{ends}")


def _status(session: ObserverSession) -> Document | None:
    """Return what a mongos of 3.4 and newer tells of its balancer, None for an older one."""
    try:
        return session.ask(reads.BALANCER, limit_s=LIMIT_S).body
    except QueryFailed as problem:
        if problem.errno != NO_COMMAND:
            raise
        return None
