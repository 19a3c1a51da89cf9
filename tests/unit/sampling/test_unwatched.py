"""A silence that the last console left open: what the next one says of it."""

from __future__ import annotations

from services.clock import ManualClock
from services.discovery.model import EstateSnapshot
from services.events import Bus, Event
from services.facts.model import NodeFacts
from services.sampling.hub import EventLog, Hub
from services.types import Health
from tests.unit.discovery.scenes import AT, member, unreached

LEFT = Event(AT - 90, "connection", "db1 does not answer", Health.UNKNOWN, "c", "db1", AT - 60, spans=True,
             key="silence:db1:1", unseen_end=True)  # fmt: skip


class _MemoryMock:
    def append_event(self, event: Event) -> None:
        """Keep nothing."""

    def append_snapshot(self, snapshot: EstateSnapshot) -> None:
        """Keep nothing."""


def _hub(*events: Event) -> Hub:
    hub = Hub(ManualClock(AT), _MemoryMock(), rates=dict, bus=Bus())
    hub.remember(events)
    return hub


def _told(hub: Hub, *looks: NodeFacts) -> list[str]:
    before = len(hub.log.all())
    for facts in looks:
        hub.put(facts)
        hub.refresh()
    return [event.text for event in hub.log.all()[before:] if event.kind == "connection"]


def test_that_a_host_that_is_still_silent_is_said_to_have_been_so_before_and_the_old_span_stays_as_it_was() -> None:
    hub = _hub(LEFT)
    (silent,) = _told(hub, unreached(1))
    assert "db1 does not answer" in silent
    assert "; it did not answer when Pilothouse last stopped watching (" in silent
    assert hub.log.all()[0] == LEFT
    hub.put(member(1))
    hub.refresh()
    (ended,) = (event for event in hub.log.all()[1:] if event.spans)
    assert ended.until is not None
    assert "; it did not answer when Pilothouse last stopped watching (" in ended.text
    assert [event for event in hub.log.all() if event.kind == "connection"] == [LEFT, ended]


def test_that_a_host_that_answers_again_says_that_the_end_of_the_old_silence_is_not_known() -> None:
    hub = _hub(LEFT)
    (answer,) = _told(hub, member(1), member(1))
    assert answer.startswith("db1 answers; it did not when Pilothouse last stopped watching (")


def test_that_a_silence_whose_end_was_seen_is_not_spoken_of_again() -> None:
    later = Event(AT - 50, "connection", "db1 did not answer for 1 s", Health.UNKNOWN, "c", "db1", AT - 49, spans=True,
                  key="silence:db1:2")  # fmt: skip
    assert _told(_hub(LEFT, later), member(1)) == []


def test_that_a_span_that_watching_left_open_goes_on_in_the_log_by_its_key() -> None:
    log = EventLog()
    left = Event(10.0, "transfer", "SST", spans=True, key="k", until=15.0, unseen_end=True)
    log.add(left)
    assert log.add(Event(10.0, "transfer", "SST", spans=True, key="k")) is not None
    assert [(event.until, event.unseen_end) for event in log.all()] == [(None, False)]
    log.add(left)
    assert log.add(Event(10.0, "transfer", "SST", spans=True, key="k", until=20.0)) is not None
    assert [(event.until, event.unseen_end) for event in log.all()] == [(20.0, False)]
