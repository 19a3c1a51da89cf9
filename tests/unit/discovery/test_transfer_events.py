"""One transfer is one event, whoever speaks of it first: the states, a log seconds later, a node just found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from services.discovery.changes import events_between
from services.discovery.model import EstateSnapshot
from services.events import Event
from services.facts.model import NodeFacts, TransferFacts
from services.sampling.hub import EventLog
from tests.unit.discovery.scenes import AT, estate, member, only

IST = TransferFacts("db3", "db2", "IST", since=AT + 0.4, ended=AT + 1.2)


def _at(seconds: float, *, joining: bool = False, log: tuple[TransferFacts, ...] = ()) -> tuple[NodeFacts, ...]:
    at = AT + seconds
    donor = member(2, at=at, local_state=2) if joining else member(2, at=at)
    joiner = member(3, at=at, local_state=1) if joining else member(3, at=at)
    return member(1, at=at), donor, replace(joiner, transfers=log)


def _story(*looks: tuple[float, tuple[NodeFacts, ...]]) -> tuple[EstateSnapshot, Sequence[Event]]:
    """Return the last snapshot and the events as the console keeps them."""
    log, old = EventLog(), None
    for seconds, facts in looks:
        new = estate(*facts, previous=old, at=AT + seconds)
        for event in events_between(old, new):
            log.add(event)
        old = new
    assert old is not None
    return old, [event for event in log.all() if event.kind == "transfer"]


def test_that_a_transfer_the_states_have_ended_before_a_log_was_read_is_told_once_with_its_kind() -> None:
    last, told = _story(
        (0.0, _at(0)), (0.7, _at(0.6, joining=True)), (1.3, _at(1.3)), (1.5, _at(1.4)), (2.1, _at(2, log=(IST,)))
    )
    (whole,) = told
    assert whole.text == "IST from db2 to db3"
    assert whole.until is not None
    (edge,) = only(last).transfers
    assert (edge.kind, edge.active, edge.since, edge.ended) == ("IST", False, AT + 0.7, AT + 1.2)


def test_that_a_log_that_was_read_before_the_end_means_the_same_transfer_when_it_is_read_again() -> None:
    begun = replace(IST, kind="", ended=None)
    read_again = replace(IST, since=AT + 0.398)
    last, told = _story(
        (0.0, _at(0)), (0.9, _at(0.8, joining=True, log=(begun,))), (1.6, _at(1.5, log=(begun,))),
        (1.8, _at(1.7, log=(begun,))), (2.4, _at(2.3, log=(read_again,))),
    )  # fmt: skip
    assert [(e.text, e.at, e.until) for e in told] == [("IST from db2 to db3", AT + 0.4, AT + 1.2)]
    assert [t.kind for t in only(last).transfers] == ["IST"]


def test_that_without_any_log_the_states_alone_begin_and_end_it() -> None:
    looks = [(t, _at(t)) for t in (1.3, 2.3, 30.0, 61.2)]
    last, told = _story((0.0, _at(0)), (0.7, _at(0.6, joining=True)), *looks)
    assert [(e.text, e.at, e.until) for e in told] == [("State transfer from db2 to db3", AT + 0.7, AT + 1.3)]
    assert only(last).transfers[0].ended == AT + 1.3
    gone, _ = _story((0.0, _at(0)), (0.7, _at(0.6, joining=True)), *looks, (62.0, _at(62)))
    assert only(gone).transfers == ()


def test_that_a_transfer_its_log_calls_failed_is_not_kept_as_one_that_ended() -> None:
    failed = replace(IST, kind="SST", ended=AT + 1.2, failed=True)
    last, told = _story((0.0, _at(0)), (0.7, _at(0.6, joining=True)), (1.3, _at(1.3, log=(failed,))))
    assert only(last).transfers == ()
    assert [e.until for e in told] == [AT + 1.3]


def test_that_a_second_transfer_of_the_same_two_is_an_event_of_its_own() -> None:
    again = replace(IST, since=AT + 40, ended=AT + 41)
    _, told = _story((0.0, _at(0)), (2.0, _at(2, log=(IST,))), (42.0, _at(42, log=(IST, again))))
    assert [e.at for e in told] == [AT + 0.4, AT + 40]


def test_that_a_node_known_by_hearsay_first_does_not_double_it() -> None:
    seen = replace(member(1), transfers=(IST,))
    last, told = _story((0.0, (member(1),)), (1.5, (seen,)), (1.9, (seen, member(2), member(3))))
    assert len(told) == 1
    assert only(last).transfers[0].joiner_id == only(last).nodes[2].node_id


def test_that_what_was_over_before_the_watching_began_is_no_news() -> None:
    old = replace(IST, since=AT - 43.1, ended=AT - 42.7)
    _, told = _story((0.3, _at(0)), (0.5, _at(0.4, log=(old,))))
    assert told == []
