"""A recording in the window: position, transport, seeking from everywhere. On a fake recording."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.window.screenshots import telling_moment
from services.events import Event
from services.types import Health
from tests.widgets.fake_sources import NOW, FakeRecording, OpenWindow, open_window
from widgets.charts.page import ChartsPage
from widgets.common.commands.palette import CommandPalette, PaletteEntry
from widgets.common.look.text import format_age, format_moment
from widgets.journal.page import JournalPage
from widgets.timeline.replay_bar import ReplayBar, SeekTrack
from widgets.timeline.strip import EventStrip


@pytest.fixture
def recording() -> FakeRecording:
    return FakeRecording()


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication, recording: FakeRecording) -> Iterator[OpenWindow]:
    with open_window(qapp, recording) as made:
        yield made


def bar(opened: OpenWindow) -> ReplayBar:
    found = opened.window.findChild(ReplayBar)
    assert found is not None
    return found


def charts(opened: OpenWindow) -> ChartsPage:
    found = opened.window.findChild(ChartsPage)
    assert found is not None
    return found


def strip(opened: OpenWindow) -> EventStrip:
    found = opened.window.findChild(EventStrip)
    assert found is not None
    return found


def states(opened: OpenWindow) -> set[str]:
    cluster = opened.controller.cluster()
    assert cluster is not None
    return {node.state for node in cluster.nodes}


def test_that_strip_and_charts_show_the_whole_recording(opened: OpenWindow, recording: FakeRecording) -> None:
    assert (strip(opened).view().start, strip(opened).view().end) == recording.span()
    assert (charts(opened).view().start, charts(opened).view().end) == recording.span()


def test_that_a_recording_is_told_as_of_its_moment_and_never_as_the_present(opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 200.0)
    opened.controller.pump.beat()
    shown = " ".join(text.text() for text in opened.window.findChildren(QLabel))
    assert "hosts answered" in shown
    assert "hosts answer " not in f"{shown} "
    assert format_age(1.4) == "1.4 s before"
    assert format_age(0.0) == "then"
    assert " ago" not in shown
    assert format_moment(NOW - 200.0) in bar(opened).position_text()


def test_that_the_strip_tells_what_is_still_to_come(opened: OpenWindow) -> None:
    assert any("SST from db2" in text for text in strip(opened).label_texts())


def test_that_the_journal_tells_only_what_has_happened(opened: OpenWindow, recording: FakeRecording) -> None:
    journal = opened.window.findChild(JournalPage)
    assert journal is not None
    assert opened.controller.events == ()
    opened.controller.look_at(NOW - 200.0)
    assert len(opened.controller.events) == 1


def test_that_play_and_pause_reach_the_recording(qtbot: QtBot, opened: OpenWindow, recording: FakeRecording) -> None:
    button = next(b for b in bar(opened).findChildren(QPushButton) if b.text() == "Play")
    button.click()
    assert recording.playing
    opened.controller.pump.beat()
    assert button.text() == "Pause"
    button.click()
    assert not recording.playing


def test_that_the_chosen_speed_reaches_the_recording(opened: OpenWindow, recording: FakeRecording) -> None:
    speeds = bar(opened).findChild(QComboBox)
    assert speeds is not None
    speeds.activated.emit(speeds.findText("8 ×"))
    assert recording.speed == 8.0


@pytest.mark.parametrize("way", ["track", "strip", "chart", "journal"])
def test_that_a_moment_chosen_anywhere_is_a_seek(opened: OpenWindow, recording: FakeRecording, way: str) -> None:
    moment = NOW - 250.0
    journal = opened.window.findChild(JournalPage)
    track = opened.window.findChild(SeekTrack)
    assert journal is not None
    assert track is not None
    {
        "track": track.seek_wanted,
        "strip": strip(opened).cursor_moved,
        "chart": charts(opened).cursor_moved,
        "journal": journal.moment_chosen,
    }[way].emit(moment)
    assert recording.present == moment
    assert "Joiner: receiving SST" in states(opened)
    assert strip(opened).cursor_at() == moment
    assert charts(opened).crosshair() == moment


def test_that_seeking_backwards_brings_the_former_state_back(opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 250.0)
    opened.controller.look_at(NOW - 590.0)
    assert states(opened) == {"Synced"}
    assert charts(opened).crosshair() == NOW - 590.0


def test_that_charts_zoomed_in_move_along_with_the_position(opened: OpenWindow, recording: FakeRecording) -> None:
    charts(opened).set_range(NOW - 600.0, NOW - 540.0, live=False, now=NOW)
    opened.controller.look_at(NOW - 100.0)
    view = charts(opened).view()
    assert view.start <= NOW - 100.0 <= view.end
    assert view.span == pytest.approx(60.0)


def test_that_charts_zoomed_in_away_from_the_position_stay_where_the_person_looks(opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 580.0)
    charts(opened)._zoom(NOW - 200.0, 0.1)
    before = charts(opened).view()
    assert before.start > NOW - 580.0
    for _ in range(3):
        opened.controller.pump.ticked.emit(NOW - 579.0)
    assert charts(opened).view() == before
    opened.controller.pump.ticked.emit(before.start + 1.0)  # it came by by itself: from here on they go along
    opened.controller.pump.ticked.emit(before.end + 1.0)
    assert charts(opened).view().end > before.end


def test_that_panning_to_the_end_does_not_jump_to_the_position(opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 580.0)
    charts(opened)._zoom(NOW - 200.0, 0.1)
    charts(opened)._pan(10_000.0)
    assert charts(opened).view().end == NOW
    opened.controller.pump.ticked.emit(NOW - 579.0)
    assert charts(opened).view().end == NOW


def test_that_a_span_button_means_the_minutes_around_the_position(opened: OpenWindow) -> None:
    opened.controller.look_at(NOW - 300.0)
    charts(opened).range_changed.emit(NOW - 60.0, NOW, True)
    view = charts(opened).view()
    assert view.start < NOW - 300.0 < view.end
    assert not view.live


def test_that_a_span_longer_than_the_recording_shows_all_of_it(opened: OpenWindow, recording: FakeRecording) -> None:
    charts(opened).range_changed.emit(NOW - 6 * 3600.0, NOW, True)
    assert (charts(opened).view().start, charts(opened).view().end) == recording.span()


def test_that_end_goes_to_the_end_of_the_recording(qtbot: QtBot, opened: OpenWindow, recording: FakeRecording) -> None:
    opened.window.tree.focus_rows()
    opened.window.live_wanted.emit()
    assert recording.present == recording.end


def test_that_escape_on_the_strip_keeps_the_position(
    qtbot: QtBot, opened: OpenWindow, recording: FakeRecording
) -> None:
    opened.controller.look_at(NOW - 200.0)
    qtbot.keyClick(strip(opened), Qt.Key.Key_Escape)
    assert recording.present == NOW - 200.0


def test_that_the_palette_plays_and_goes_to_the_beginning(
    qtbot: QtBot, opened: OpenWindow, recording: FakeRecording
) -> None:
    palette = opened.window.findChild(CommandPalette)
    assert palette is not None
    qtbot.keyClick(opened.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert "Play the recording" in [entry.title for entry in palette.shown()]
    palette.chosen.emit(PaletteEntry("play", "action", "Play the recording"))
    assert recording.playing
    opened.controller.look_at(NOW - 100.0)
    palette.chosen.emit(PaletteEntry("start", "action", "Go to the beginning of the recording"))
    assert recording.present == recording.begun


def test_that_a_picture_is_taken_while_the_longest_transfer_runs() -> None:
    events = (
        Event(100.0, "transfer", "IST", Health.TRANSFER, until=104.0, spans=True),
        Event(200.0, "transfer", "SST", Health.TRANSFER, until=300.0, spans=True),
    )
    assert 200.0 < telling_moment(events, 400.0) < 300.0


def test_that_without_a_transfer_the_picture_shows_the_worst_event() -> None:
    events = (Event(100.0, "state", "db1 lost", Health.BAD), Event(150.0, "disk", "filling", Health.WARN))
    assert telling_moment(events, 400.0) == 102.0


def test_that_a_calm_recording_is_pictured_at_its_end() -> None:
    assert telling_moment((Event(100.0, "console", "started", Health.GOOD),), 400.0) == 400.0
