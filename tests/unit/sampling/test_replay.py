"""Recording and replaying: one file that opens anywhere, and a position that plays, pauses, jumps and speeds up."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.judgement.states import BY_WORD
from services.discovery.model import ClusterSnapshot, EstateSnapshot, NodeView, TransferEdge
from services.errors import BadInput, StoreError
from services.events import Event
from services.facts.model import GaleraFacts, NodeFacts, ServerFacts
from services.history.recordings.recording import finish_recording, open_recording, record_to
from services.history.store import HistoryStore
from services.sampling.replay import Replay
from services.types import Health
from tests.unit.sampling.conftest import START, galera_samples


def _snapshot(at: float, state: str = "Synced", moving: bool = False) -> EstateSnapshot:
    facts = NodeFacts(
        "db1", at, server=ServerFacts(version="10.11.19"), galera=GaleraFacts(node_name="db1", recv_queue=3)
    )
    node = NodeView(
        "id1",
        "db1",
        state=state,
        health=Health.GOOD,
        numbers=(("recv queue", f"{at % 7:.0f}", Health.GOOD),),
        facts=facts,
        code=BY_WORD[state],
    )
    transfers = (TransferEdge("id1", "id2", "SST", bytes_done=int(at)),) if moving else ()
    cluster = ClusterSnapshot("c1", GALERA, "orders", at, nodes=(node,), transfers=transfers)
    return EstateSnapshot(at, (cluster,), hosts_total=1, hosts_answering=1)


def _record(path: Path, seconds: int = 600) -> None:
    clock = ManualClock(START)
    store = record_to(path, clock=clock, title="incident")
    for i, sample in enumerate(galera_samples(seconds)):
        store.append(sample)
        store.append_snapshot(_snapshot(START + i, "Donor/Desynced" if 200 <= i < 260 else "Synced", 200 <= i < 260))
        if i == 200:
            store.append_event(Event(START + i, "transfer", "SST begins", spans=True, key="sst"))
        if i == 260:
            store.append_event(Event(START + 200, "transfer", "SST", until=START + 260, spans=True, key="sst"))
        clock.advance(1.0)
    store.append_event(Event(START + 500, "note", "the end is near"))
    store.close()
    finish_recording(path)


def test_that_a_recording_ends_with_what_was_seen_last_and_not_with_the_last_sample(tmp_path: Path) -> None:
    """A host that is down gives no samples: its state then is what the recording was made for."""
    path, clock = tmp_path / "down.pilothouse", ManualClock(START)
    store = record_to(path, clock=clock)
    for i, sample in enumerate(galera_samples(10)):
        store.append(sample)
        store.append_snapshot(_snapshot(START + i))
    store.append_snapshot(_snapshot(START + 40, "not running"))
    store.append_event(Event(START + 40, "state", "db1: not running (was Synced)"))
    store.close()
    finish_recording(path)
    replay = Replay(path, ManualClock(START))
    try:
        assert replay.span() == (START, START + 40)
        replay.seek(START + 40)
        assert replay.snapshot().clusters[0].nodes[0].state == "not running"
        assert [event.kind for event in replay.events()] == ["state"]
    finally:
        replay.close()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "incident.pilothouse"
    _record(path)
    return path


def test_that_a_finished_recording_is_one_small_file(recording: Path) -> None:
    assert [p.name for p in recording.parent.iterdir()] == ["incident.pilothouse"]
    assert recording.stat().st_size < 400_000  # ten minutes of 642 metrics, 300 snapshots
    store = open_recording(recording)
    assert store.meta()["title"] == "incident"
    assert store.range() == (START, START + 599)
    assert store.meta()["open"] == ""
    store.close()


def test_that_a_recording_of_half_a_minute_is_hardly_more_than_its_names(tmp_path: Path) -> None:
    path = tmp_path / "short.pilothouse"
    _record(path, 30)
    store = open_recording(path)
    names = sum(len(key) for key in store.keys("db1"))
    store.close()
    assert path.stat().st_size < 3 * names


def test_that_a_finished_recording_written_on_gives_no_name_two_numbers(tmp_path: Path) -> None:
    path = tmp_path / "incident.pilothouse"
    _record(path, 30)
    later = ManualClock(START + 60)
    store = HistoryStore.open(path, clock=later, background=False)
    for sample in galera_samples(30):
        store.append(replace(sample, at=sample.at + 60, mono=sample.mono + 60, values={**sample.values, "late": 1.0}))
    store.close()
    finish_recording(path)
    store = open_recording(path)
    assert len(store.read("db1", ("threads_running",), START, START + 100).t) == 60
    assert sorted(store.keys("db1")).count("late") == 1
    store.close()
    connection = sqlite3.connect(path)
    rows, names = connection.execute("SELECT count(*), count(DISTINCT key) FROM metric").fetchone()
    connection.close()
    assert rows == names > 600


def test_that_it_opens_from_a_place_that_cannot_be_written(recording: Path, tmp_path: Path) -> None:
    place = tmp_path / "cd"
    place.mkdir()
    copy = place / "incident.pilothouse"
    copy.write_bytes(recording.read_bytes())
    copy.chmod(0o444)
    place.chmod(0o555)
    if os.access(place, os.W_OK) and os.geteuid() != 0:
        pytest.skip("this file system does not keep modes")
    before = sorted(p.name for p in place.iterdir())
    replay = Replay(copy, ManualClock())
    assert replay.snapshot().clusters[0].name == "orders"
    assert sorted(p.name for p in place.iterdir()) == before  # neither a WAL nor a lock beside it
    replay.close()
    place.chmod(0o755)


def test_that_the_position_moves_with_the_clock_only_while_playing(recording: Path) -> None:
    clock = ManualClock()
    replay = Replay(recording, clock)
    assert not replay.is_live
    assert replay.title == "incident"
    clock.advance(30)
    assert replay.now() == START
    replay.play()
    clock.advance(30)
    assert replay.now() == START + 30
    replay.set_speed(4.0)
    clock.advance(10)
    assert replay.now() == START + 70
    replay.pause()
    clock.advance(100)
    assert replay.now() == START + 70
    replay.seek(START + 300)
    assert replay.now() == START + 300
    assert not replay.playing
    replay.close()


def test_that_the_end_stops_it_and_playing_again_starts_over(recording: Path) -> None:
    clock = ManualClock()
    replay = Replay(recording, clock)
    replay.play()
    clock.advance(10_000)
    assert replay.now() == START + 599
    assert not replay.playing
    replay.play()
    assert replay.playing
    assert replay.now() == START
    replay.seek(-5.0)
    assert replay.now() == START
    replay.seek(9e9)
    assert replay.now() == START + 599
    replay.close()


@pytest.mark.parametrize(("asked", "given"), [(0.0, 0.25), (1000.0, 64.0), (2.0, 2.0)])
def test_that_the_speed_stays_within_its_limits(recording: Path, asked: float, given: float) -> None:
    replay = Replay(recording, ManualClock())
    replay.set_speed(asked)
    assert replay.speed == given
    replay.close()


def test_that_the_snapshot_is_the_one_of_the_position(recording: Path) -> None:
    replay = Replay(recording, ManualClock())
    for second, state in (
        (0, "Synced"),
        (199, "Synced"),
        (200, "Donor/Desynced"),
        (259, "Donor/Desynced"),
        (260, "Synced"),
    ):
        replay.seek(START + second)
        snapshot = replay.snapshot()
        assert snapshot.clusters[0].nodes[0].state == state
        assert snapshot.at <= START + second
        assert START + second - snapshot.at < 2.0
        assert snapshot == _snapshot(snapshot.at, state, state != "Synced")
    assert replay.snapshot_at(0.0).at == START
    replay.close()


def test_that_events_come_as_the_position_passes_them_and_open_spans_are_open(recording: Path) -> None:
    replay = Replay(recording, ManualClock())
    assert not replay.events()
    replay.seek(START + 230)
    assert [(e.text, e.until) for e in replay.events()] == [("SST", None)]
    replay.seek(START + 300)
    assert [(e.text, e.until) for e in replay.events()] == [("SST", START + 260)]
    replay.seek(START + 599)
    assert len(replay.events()) == 2
    assert len(replay.all_events()) == 2
    replay.close()


def test_that_curves_are_those_of_the_recorded_samples(recording: Path) -> None:
    replay = Replay(recording, ManualClock())
    source = galera_samples(600)
    series = replay.series("db1", "galera.recv_queue", START, START + 599, 600)
    assert series.value.tolist() == [s.values["wsrep_local_recv_queue"] for s in source]
    replay.seek(START + 100)
    tail = replay.tail("db1", "threads_running", START + 90)
    assert tail.t.tolist() == [START + i for i in range(91, 101)]
    assert replay.servers() == ("db1",)
    assert len(replay.catalogue()) > 50
    assert (replay.range().start, replay.range().end) == (START, START + 599)
    assert replay.cost().polls == 0
    replay.close()


def test_that_a_recording_without_samples_or_no_recording_at_all_is_told(tmp_path: Path) -> None:
    path = tmp_path / "empty.pilothouse"
    record_to(path, clock=ManualClock(START)).close()
    finish_recording(path)
    with pytest.raises(BadInput, match="no samples"):
        Replay(path, ManualClock())
    with pytest.raises(StoreError, match="no file"):
        Replay(tmp_path / "gone", ManualClock())
    with pytest.raises(BadInput, match="exists already"):
        record_to(path)
