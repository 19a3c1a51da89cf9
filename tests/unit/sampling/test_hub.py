"""The hub: facts in from many lanes, one snapshot and its events out."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import EstateSnapshot
from services.events import Bus, Event
from services.facts.model import NodeFacts
from services.sampling.hub import EventLog, Hub
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT, STATE, address, estate, facts, member, only, sql_gone

OTHER = "0f0f0f0f-1111-11f0-9c0e-3b2f8d5a7c11"


class _Memory:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.snapshots: list[EstateSnapshot] = []

    def append_event(self, event: Event) -> None:
        self.events.append(event)

    def append_snapshot(self, snapshot: EstateSnapshot) -> None:
        self.snapshots.append(snapshot)


def _hub(memory: _Memory, **more: object) -> Hub:
    return Hub(ManualClock(), memory, rates=dict, bus=Bus(), **more)  # type: ignore[arg-type]


def test_that_a_spans_end_replaces_its_beginning() -> None:
    log = EventLog()
    log.add(Event(10.0, "transfer", "SST from n1 to n2", spans=True, key="sst:n2"))
    log.add(Event(12.0, "note", "between"))
    kept = log.add(Event(30.0, "transfer", "SST from n1 to n2: done", spans=True, key="sst:n2", until=30.0))
    assert kept is not None
    assert (kept.at, kept.until) == (10.0, 30.0)
    assert [e.text for e in log.all()] == ["SST from n1 to n2: done", "between"]


def test_that_a_span_with_another_key_is_a_new_one_and_an_ended_span_stays_ended() -> None:
    log = EventLog()
    log.add(Event(10.0, "gap", "a", spans=True, key="k", until=11.0))
    log.add(Event(20.0, "gap", "b", spans=True, key="k2"))
    assert log.add(Event(10.0, "gap", "a", spans=True, key="k")) is None
    assert [e.text for e in log.all()] == ["a", "b"]


def test_that_the_log_keeps_only_the_newest_two_thousand() -> None:
    log = EventLog()
    for number in range(2_500):
        log.add(Event(float(number), "note", str(number)))
    assert len(log.all()) == 2_000
    assert log.all()[0].text == "500"


def test_that_a_host_without_an_answer_is_in_the_snapshot_and_not_counted_as_answering() -> None:
    hub = _hub(_Memory())
    hub.put(NodeFacts("n1", 0.0, reach=Reach.NONE, address="192.0.2.1"))
    snapshot = hub.refresh()
    assert (snapshot.hosts_total, snapshot.hosts_answering) == (1, 0)


def test_that_every_snapshot_is_offered_to_the_memory_and_a_told_event_is_kept_and_published() -> None:
    memory = _Memory()
    heard: list[Event] = []
    bus = Bus()
    hub = Hub(ManualClock(), memory, rates=dict, bus=bus)
    bus.subscribe(heard.append)
    hub.put(NodeFacts("n1", 0.0, reach=Reach.NONE))
    hub.refresh()
    hub.tell(Event(1.0, "note", "hello"))
    assert len(memory.snapshots) == 1
    assert "hello" in [e.text for e in memory.events]
    assert "hello" in [e.text for e in heard]


def test_that_a_forgotten_host_leaves_the_picture() -> None:
    hub = _hub(_Memory())
    hub.put(NodeFacts("n1", 0.0, reach=Reach.NONE))
    hub.refresh()
    hub.forget("n1")
    assert hub.refresh().hosts_total == 0


@pytest.mark.parametrize(("pause", "since"), [(5.0, 0.0), (3600.0, 3605.0)])
def test_that_a_host_taken_back_soon_is_asked_since_it_was_first_asked(pause: float, since: float) -> None:
    clock = ManualClock()
    hub = Hub(clock, None, rates=dict, bus=Bus())
    begun = clock.wall()
    hub.put(NodeFacts("n1", begun, reach=Reach.NONE))
    hub.refresh()
    clock.advance(5.0)
    hub.forget("n1")
    assert hub.refresh().clusters == ()
    clock.advance(pause)
    hub.take_back("n1")
    assert hub.refresh().clusters == ()
    told = len(hub.log.all())
    hub.put(NodeFacts("n1", clock.wall(), reach=Reach.NONE))
    (node,) = only(hub.refresh()).nodes
    assert node.watched_since == node.state_since == begun + since
    assert len(hub.log.all()) == told + bool(since)  # what went on is no news


@pytest.mark.parametrize(("pause", "again"), [(5.0, False), (3600.0, True)])
def test_that_the_silence_of_a_host_that_is_no_longer_watched_ends_unseen_and_a_late_undo_begins_another(
    pause: float, again: bool
) -> None:
    clock = ManualClock()
    memory = _Memory()
    hub = Hub(clock, memory, rates=dict, bus=Bus())
    begun = clock.wall()
    hub.put(NodeFacts("n1", begun, reach=Reach.NONE))
    hub.refresh()
    clock.advance(5.0)
    hub.forget("n1")
    hub.refresh()
    (silence,) = hub.log.all()
    assert (silence.at, silence.until, silence.unseen_end) == (begun, begun + 5.0, True)
    assert memory.events[-1] == silence
    clock.advance(pause)
    hub.take_back("n1")
    hub.put(NodeFacts("n1", clock.wall(), reach=Reach.NONE))
    hub.refresh()
    ends = [(event.at - begun, event.until, event.unseen_end) for event in hub.log.all()]
    assert ends == ([(0.0, begun + 5.0, True), (3605.0, None, False)] if again else [(0.0, None, False)])


def test_that_a_cluster_is_judged_by_its_expected_size_from_the_moment_it_is_asked() -> None:
    hub = Hub(ManualClock(AT + 0.5), None, rates=dict, bus=Bus())
    for one in (member(1), member(2), member(3)):
        hub.put(one)
    assert hub.refresh().clusters[0].expected is None
    hub.expect({"db2": 4})
    (cluster,) = hub.refresh().clusters
    assert (cluster.size, cluster.expected, cluster.health) == (3, 4, Health.WARN)


def _dead(number: int) -> NodeFacts:
    """A host that SSH reaches and whose server never answered this console."""
    now = ManualClock().wall()
    return sql_gone(facts(number, server=None, sql_at=None), at=now, process_state="", unit_state="inactive/dead")


def test_that_a_console_opened_on_a_dead_cluster_begins_with_the_one_it_last_saw() -> None:
    last = estate(*(member(n) for n in (1, 2, 3)), names={STATE: "prod-eu"})
    hub = _hub(memory := _Memory())
    hub.recall(last, {f"db{n}": address(n) for n in (1, 2, 4)})  # db3 is no longer in the inventory, db4 is new
    first = only(hub.snapshot())
    assert (first.cluster_id, first.name) == (STATE, "prod-eu")
    assert [(n.host, n.state, n.health) for n in first.nodes] == [
        ("db1", "not contacted yet", Health.UNKNOWN),
        ("db2", "not contacted yet", Health.UNKNOWN),
    ]
    hub.put(_dead(1))
    hub.refresh()
    hub.put(_dead(2))
    cluster = only(hub.refresh())
    assert (cluster.cluster_id, cluster.kind, cluster.at) == (STATE, GALERA, last.clusters[0].at)
    assert {n.health for n in cluster.nodes} == {Health.BAD}
    assert "; one was reported at" in cluster.agreement
    assert not any("was Synced" in event.text for event in memory.events), "nobody saw it happen"


def test_that_a_server_that_answers_is_where_it_says_and_not_where_it_was_remembered() -> None:
    hub = _hub(_Memory())
    hub.recall(estate(member(1), member(2)), {"db1": address(1), "db2": address(2)})
    hub.put(member(1, 1, state_uuid=OTHER, local_state_uuid=OTHER))
    assert {c.cluster_id: [n.host for n in c.nodes] for c in hub.refresh().clusters} == {OTHER: ["db1"], STATE: ["db2"]}


def test_that_a_picture_without_a_cluster_recalls_nothing() -> None:
    hub = _hub(_Memory())
    hub.recall(estate(facts(1)), {"db1": address(1)})
    assert (hub.snapshot().clusters, dict(hub.facts())) == ((), {})


def test_that_a_host_whose_address_a_person_wrote_as_its_name_keeps_it_and_a_found_one_has_its_own() -> None:
    hub = _hub(_Memory())
    hub.written([address(1)])
    for number in (1, 2):
        hub.put(member(number, size=2, host=address(number)))
    names = {node.host: node.name for cluster in hub.refresh().clusters for node in cluster.nodes}
    assert names == {address(1): address(1), address(2): "db2"}


def test_that_what_is_kept_of_the_first_moments_has_the_hosts_that_are_not_drawn_yet() -> None:
    hub = _hub(memory := _Memory())
    hub.stand_as_written({"db1": "prod", "db2": "prod"})
    hub.await_first({"db1": address(1), "db2": address(2)})
    hub.put(member(1, size=1))
    assert [n.host for n in only(hub.refresh()).nodes] == ["db1"], "the window waits a moment"
    assert [(n.host, n.reach) for n in only(memory.snapshots[0]).nodes][1:] == [("db2", Reach.NOT_TRIED)]
