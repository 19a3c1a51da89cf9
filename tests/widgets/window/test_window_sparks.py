"""The sparks of the topology's cards: where their samples are read, and how often. On fake sources."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.charts.sparks import spark_of
from app.window.controller import Controller
from services.discovery.model import EstateSnapshot
from services.facts.model import NodeFacts
from services.series import Series
from tests.widgets import builders as b
from tests.widgets.fake_sources import NOW, FakeLiveSource, FakeRecording, open_window, settle

METRIC = "galera.recv_queue"


def sparked(snapshot: EstateSnapshot) -> EstateSnapshot:
    clusters = []
    for cluster in snapshot.clusters:
        nodes = tuple(replace(node, spark_metric=METRIC, facts=NodeFacts(node.host, NOW)) for node in cluster.nodes)
        clusters.append(replace(cluster, nodes=nodes))
    return replace(snapshot, clusters=tuple(clusters))


class SparkedRecording(FakeRecording):
    """A recording whose cards have sparks; notes the thread of each reading of samples, and counts those of sparks."""

    def __init__(self) -> None:
        super().__init__()
        self.past = {at: replace(sparked(snapshot), at=at) for at, snapshot in self.past.items()}
        self.readers: set[str] = set()
        self.sparks = 0

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        self.sparks += metric == METRIC and end - start == 60.0
        self.readers.add(threading.current_thread().name)
        return super().series(server, metric, start, end, points)

    def tail(self, server: str, metric: str, since: float) -> Series:
        self.readers.add(threading.current_thread().name)
        return super().tail(server, metric, since)


class SparkedLive(FakeLiveSource):
    """A live estate whose cards have sparks; counts by host how often a spark's samples were asked for."""

    def __init__(self) -> None:
        super().__init__(sparked(b.estate(b.healthy())))
        self.asked: Counter[str] = Counter()

    def tail(self, server: str, metric: str, since: float) -> Series:
        if metric == METRIC and self.present - since >= 60.0:
            self.asked[server] += 1
        return super().tail(server, metric, since)


@pytest.fixture
def live(qapp: QApplication) -> Iterator[tuple[SparkedLive, Controller]]:
    source = SparkedLive()
    with open_window(qapp, source) as opened:
        yield source, opened.controller


def drawn(controller: Controller, node_id: str) -> int:
    item = controller._window.topology.canvas.item(node_id)
    assert item is not None
    return len(item.spark.values)


def test_that_a_seek_reads_no_samples_on_the_windows_thread_and_shows_the_sparks_when_they_are_read(
    qapp: QApplication, qtbot: QtBot
) -> None:
    recording = SparkedRecording()
    with open_window(qapp, recording) as opened:
        opened.controller.look_at(NOW - 250.0)
        qtbot.waitUntil(lambda: drawn(opened.controller, "db1") == 61, timeout=5000)
    assert recording.readers
    assert "MainThread" not in recording.readers


def test_that_a_recording_that_stands_still_is_read_once(qapp: QApplication, qtbot: QtBot) -> None:
    recording = SparkedRecording()
    with open_window(qapp, recording) as opened:
        opened.controller.look_at(NOW - 250.0)
        qtbot.waitUntil(lambda: drawn(opened.controller, "db1") == 61, timeout=5000)
        opened.settle()
        read = recording.sparks
        assert read
        opened.controller.refresh()
        recording.present += 0.5  # it plays, and the next snapshot is not yet there
        opened.controller.refresh()
        opened.settle()
        assert recording.sparks == read


def test_that_a_live_spark_is_computed_once_for_each_poll_of_its_host(live: tuple[SparkedLive, Controller]) -> None:
    source, controller = live
    source.asked.clear()
    cluster = source.newest.clusters[0]
    first, *others = cluster.nodes
    polled = replace(first, facts=NodeFacts(first.host, NOW + 1.0))
    source.present += 1.0
    source.newest = replace(source.newest, clusters=(replace(cluster, nodes=(polled, *others)),))
    controller.pump.beat()
    settle(controller)
    assert source.asked == {first.host: 1}


def test_that_the_minute_of_a_host_that_fell_silent_passes(live: tuple[SparkedLive, Controller]) -> None:
    source, controller = live
    source.asked.clear()
    source.present += 6.0
    controller.refresh()
    settle(controller)
    assert set(source.asked) == {node.host for node in source.newest.clusters[0].nodes if node.host}


def test_that_a_curve_ends_where_its_server_did_and_begins_where_it_was_read_first() -> None:
    """A dead member's operations ran on to the right edge of the minute."""
    t = np.arange(NOW - 40.0, NOW - 19.0, 1.0)
    curve = spark_of(Series(METRIC, t, np.ones(len(t))), NOW).values
    gaps = [math.isnan(value) for value in curve]
    assert (gaps[:20], gaps[20:41], gaps[41:]) == ([True] * 20, [False] * 21, [True] * 20)
    whole = np.arange(NOW - 59.0, NOW - 1.0, 1.0)
    assert not any(map(math.isnan, spark_of(Series(METRIC, whole, np.ones(len(whole))), NOW).values))
    assert spark_of(Series(METRIC, t[:1], np.ones(1)), NOW).empty


def test_that_what_a_server_did_before_its_restart_stays_where_it_was() -> None:
    """Nine seconds of a server that was away for 48 s were stretched over the whole minute."""
    t = np.array([*np.arange(NOW - 60.0, NOW - 51.0, 1.0), NOW - 3.0, NOW - 2.0, NOW - 1.0])
    gaps = [math.isnan(value) for value in spark_of(Series(METRIC, t, np.ones(len(t))), NOW).values]
    assert gaps == [False] * 9 + [True] * 48 + [False] * 3
