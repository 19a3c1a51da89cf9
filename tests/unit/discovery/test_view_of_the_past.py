"""A joiner that takes a view of before its coming: the demo's 13:22:53, judged from what its servers said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.discovery.changes import events_between
from services.discovery.model import ClusterSnapshot, EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.history.recordings.recording import open_recording
from services.history.store import HistoryStore
from services.types import Health
from tests.unit.discovery.scenes import AT, address, estate, member, node, only

DEMO = Path(__file__).parents[3] / "resources" / "demo" / "incident.pilothouse"
MOMENT = 1_795_267_374.0
"""Half past 13:22:53 UTC, as the demo's clock shows it: n3 has its IST and answers for the first time."""


@pytest.fixture(name="demo")
def opened_demo() -> Iterator[HistoryStore]:
    store = open_recording(DEMO, SystemClock())
    yield store
    store.close()


def said(store: HistoryStore, at: float) -> EstateSnapshot:
    """Return the estate as it is judged today from what the servers had said by then."""
    stored = store.snapshot_at(at)
    assert stored is not None
    facts = {n.host: n.facts for c in stored.clusters for n in c.nodes if n.facts is not None}
    return updated_estate(None, facts, stored.at)


def told(cluster: ClusterSnapshot) -> tuple[bool, list[tuple[str, ...]], list[tuple[str, str]]]:
    """Return whether the banner says that nodes disagree, the islands and the states of the drawing."""
    islands = [c.members for c in cluster.components if not c.primary]
    return cluster.observers_agree, islands, [(n.name, n.state) for n in cluster.nodes]


def test_that_a_joiner_that_shows_an_old_view_is_a_member_and_no_island(demo: HistoryStore) -> None:
    snapshot = said(demo, MOMENT)
    joiner = next(n for n in only(snapshot).nodes if n.name == "n3").facts
    assert joiner is not None
    assert joiner.galera is not None
    shown = joiner.galera
    assert (shown.cluster_status, shown.conf_id, shown.cluster_size) == ("non-Primary", 8, 2)  # of before its coming
    assert told(only(snapshot)) == (True, [], [("n1", "Synced"), ("n2", "Synced"), ("n3", "Joiner")])
    (primary,) = only(snapshot).components
    assert (primary.members, primary.view_id, primary.votes) == (("n1", "n2", "n3"), "9", 3)
    assert only(snapshot).health is Health.TRANSFER


def test_that_the_demo_shows_what_is_judged_of_it(demo: HistoryStore) -> None:
    stored = demo.snapshot_at(MOMENT)
    assert stored is not None
    assert told(only(stored)) == told(only(said(demo, MOMENT)))
    assert not [e.text for e in demo.events(0, 2e9) if "non-Primary" in e.text]


def test_that_a_node_outside_that_counts_itself_stays_outside() -> None:
    alone = {"incoming_addresses": (f"{address(3)}:0",), "cluster_size": 1, "conf_id": None, "members": ()}
    left = member(3, cluster_status="non-Primary", local_state=0, local_state_comment="Initialized", **alone)
    snapshot = estate(member(1), member(2), left)
    assert node(snapshot, "db3").health is Health.BAD
    joining = member(3, cluster_status="non-Primary", local_state=1, local_state_comment="Joiner", **alone)
    assert node(estate(member(1), member(2), joining, at=AT + 0.5), "db3").state == "non-Primary"


def test_that_an_arrival_by_ist_tells_no_red_event(demo: HistoryStore) -> None:
    before, now = said(demo, MOMENT - 1.0), said(demo, MOMENT)
    assert not [event.text for event in events_between(before, now) if event.health is Health.BAD]


def test_that_the_demo_knows_each_reason_without_when_the_next_attempt_was_due(demo: HistoryStore) -> None:
    shown = [demo.snapshot_at(at) for at in demo.snapshot_times()]
    nodes = [n for s in shown if s is not None for c in s.clusters for n in c.nodes]
    reasons = [p.bare or p.sentence for n in nodes if n.facts is not None for p in n.facts.problems]
    assert reasons
    assert not [text for text in (*reasons, *(n.reason for n in nodes)) if "next attempt" in text]
