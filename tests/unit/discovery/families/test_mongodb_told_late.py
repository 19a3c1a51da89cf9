"""What is told of a set a moment after, or of an oplog that is not full yet: no more than was seen."""

from __future__ import annotations

from dataclasses import replace

from services.connections.mongo.document import Stamp
from services.discovery.changes import events_between
from services.discovery.model import TWO_PRIMARIES
from services.facts.model import NodeFacts
from services.facts.mongodb.oplog import Oplog
from services.types import Health
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s
from tests.unit.discovery.families.test_mongodb import codes, node, told


def test_that_a_primary_that_was_asked_before_another_was_elected_is_no_second_one_until_it_is_asked_again() -> None:
    def asked(facts: NodeFacts, after_s: float) -> NodeFacts:
        return replace(facts, sql_at=s.AT + after_s)

    won = m.view(2, m.rows("SECONDARY", "PRIMARY", "SECONDARY"), term=2)
    first = s.estate(*(m.member(n) for n in (1, 2, 3)))
    old = asked(m.member(1), 0.2)
    later = s.estate(old, asked(m.member(2, won), 0.7), m.member(3), previous=first, at=s.AT + 0.8)
    cluster = s.only(later)
    assert (codes(cluster), node(cluster, "m2").role) == ([], "primary")
    assert not [e for e in events_between(first, later) if e.kind == "view"]
    again = s.estate(asked(m.member(1), 1.2), asked(m.member(2, won), 1.7), m.member(3), previous=later, at=s.AT + 1.8)
    assert TWO_PRIMARIES in codes(s.only(again))
    assert told(s.only(again))["m1"][0] == "PRIMARY, outvoted"


def test_that_an_oplog_that_is_not_full_yet_reaches_back_at_least_as_far_as_it_does() -> None:
    def window(used: int) -> tuple[str, str, Health]:
        oplog = Oplog(Stamp(m.NOW - 11, 1), Stamp(m.NOW, 1), 10**9, used)
        cluster = s.only(s.estate(m.member(1, oplog=oplog), m.member(2), m.member(3)))
        return next(one for one in node(cluster, "m1").numbers if one[0] == "oplog window")

    assert window(180) == ("oplog window", "≥ 11 s", Health.GOOD)
    assert window(10**9) == ("oplog window", "11 s", Health.WARN)
