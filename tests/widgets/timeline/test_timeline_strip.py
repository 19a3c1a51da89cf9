"""The event strip and the replay bar: what they say and what hand and keyboard do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from services.events import Event
from services.types import Health
from tests.widgets.chart_data import NOW, image_of, near
from widgets.charts.legend_key import event_marks
from widgets.common.look.text import format_moment
from widgets.common.look.theme import apply_theme, theme
from widgets.timeline.placement import Mark, place_bars, place_labels, place_marks
from widgets.timeline.replay_bar import SPEEDS, ReplayBar
from widgets.timeline.strip import EventStrip
from widgets.timeline.strip_paint import BAR_Y, GLYPH_Y, TEXT_TOPS, beside, flag_rects

SST = Event(NOW - 500, "transfer", "SST from db2 to db4", Health.TRANSFER, until=NOW - 100, spans=True, key="sst")
STOPPED = Event(NOW - 800, "state", "db4 stopped, data folder emptied", Health.WARN)
LOST = Event(NOW - 60, "connection", "report1 does not answer", Health.BAD)


@pytest.fixture
def strip(qtbot: QtBot, qapp: QApplication) -> EventStrip:
    apply_theme(qapp, "light")
    made = EventStrip()
    qtbot.addWidget(made)
    made.resize(1000, 76)
    made.set_range(NOW - 900, NOW, live=True)
    made.set_events((STOPPED, SST, LOST))
    made.show()
    qtbot.waitExposed(made)
    return made


def at_x(strip: EventStrip, at: float) -> int:
    return round(strip.scene().x_of(at))


def test_that_events_say_their_sentences_and_the_present_has_its_flag(strip: EventStrip) -> None:
    assert strip.label_texts() == ("db4 stopped, data folder emptied", "SST from db2 to db4", "report1 does not answer")
    flag = image_of(strip).pixelColor(at_x(strip, NOW) - 40, 3)
    assert flag == theme("light").accent


def test_that_a_span_is_a_bar_from_its_beginning_to_its_end(strip: EventStrip) -> None:
    picture = image_of(strip)
    tint = theme("light").transfer_tint
    y = int(BAR_Y) + 3
    assert near(picture.pixelColor(at_x(strip, NOW - 300), y), tint, 12)
    assert not near(picture.pixelColor(at_x(strip, NOW - 80), y), tint, 12)


def test_that_dragging_looks_at_the_past_and_the_right_end_is_live_again(strip: EventStrip, qtbot: QtBot) -> None:
    moved: list[float | None] = []
    strip.cursor_moved.connect(moved.append)
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=QPoint(at_x(strip, NOW - 200), 28))
    for at in (NOW - 250, NOW - 400):
        qtbot.mouseMove(strip, QPoint(at_x(strip, at), 28))
    assert moved[-1] == pytest.approx(NOW - 400, abs=2)
    assert strip.cursor_at() == moved[-1]
    qtbot.mouseMove(strip, QPoint(strip.width() - 4, 28))
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=QPoint(strip.width() - 4, 28))
    assert moved[-1] is None


def test_that_a_click_on_an_event_selects_it_and_looks_at_its_moment(strip: EventStrip, qtbot: QtBot) -> None:
    chosen: list[Event] = []
    strip.event_selected.connect(chosen.append)
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(at_x(strip, STOPPED.at), int(GLYPH_Y)))
    assert chosen == [STOPPED]
    assert strip.cursor_at() == STOPPED.at
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(at_x(strip, NOW - 300), int(BAR_Y) + 3))
    assert chosen[-1] is SST


def test_that_the_flag_of_the_present_and_end_and_escape_return_to_live(strip: EventStrip, qtbot: QtBot) -> None:
    for back in (
        lambda: qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(at_x(strip, NOW) - 20, 6)),
        lambda: qtbot.keyClick(strip, Qt.Key.Key_End),
        lambda: qtbot.keyClick(strip, Qt.Key.Key_Escape),
    ):
        strip.set_cursor(NOW - 400)
        with qtbot.waitSignals([strip.cursor_moved, strip.live_wanted]):
            back()
        assert strip.cursor_at() is None


def test_that_left_and_right_step_and_with_control_go_from_event_to_event(strip: EventStrip, qtbot: QtBot) -> None:
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    assert strip.cursor_at() == NOW - 3
    qtbot.keyClick(strip, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert strip.cursor_at() == LOST.at
    qtbot.keyClick(strip, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert strip.cursor_at() == SST.at
    qtbot.keyClick(strip, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert strip.cursor_at() == LOST.at
    qtbot.keyClick(strip, Qt.Key.Key_Right)
    assert strip.cursor_at() == LOST.at + 3


def test_that_zooming_and_panning_tell_the_window_the_span(strip: EventStrip, qtbot: QtBot) -> None:
    with qtbot.waitSignal(strip.range_changed) as changed:
        qtbot.keyClick(strip, Qt.Key.Key_Plus)
    assert changed.args == [NOW - 720, NOW, True]
    with qtbot.waitSignal(strip.range_changed) as changed:
        qtbot.keyClick(strip, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert changed.args == [NOW - 792, NOW - 72, False]


def test_that_the_tooltip_has_the_moment_the_length_and_the_whole_sentence(strip: EventStrip) -> None:
    tip = strip.tip(QPointF(at_x(strip, NOW - 300), BAR_Y + 3))
    assert tip.endswith("6 min 40 s · SST from db2 to db4")
    strip.set_events((Event(NOW - 100, "transfer", "SST to db4", Health.TRANSFER, spans=True),))
    assert "for 1 min 40 s so far" in strip.tip(QPointF(at_x(strip, NOW - 50), BAR_Y + 3))


def test_that_a_span_whose_end_nobody_saw_is_open_and_lasted_at_least_so_long(strip: EventStrip) -> None:
    left = replace(SST, kind="connection", text="db4 does not answer", unseen_end=True)
    strip.set_events((left,))
    tip = strip.tip(QPointF(at_x(strip, NOW - 300), BAR_Y + 3))
    assert "6 min 40 s or more · db4 does not answer; still in progress when Pilothouse stopped watching (at " in tip
    (bar,) = strip.scene().bars
    assert bar.open_end
    assert bar.right == pytest.approx(strip.scene().x_of(NOW - 100)), "nobody watched after that"
    assert event_marks((left,), NOW - 900, NOW) == [(left.at, left.health)]


def test_that_sentences_never_overlap_however_many_events_come(strip: EventStrip) -> None:
    strip.set_events(
        tuple(
            Event(NOW - 890 + 13 * i, "state", f"db{i % 5} changed its state to something", Health.WARN)
            for i in range(68)
        )
    )
    labels = strip.scene().labels
    assert 4 <= len(labels) < 40
    for row in (0, 1):
        line = sorted((label for label in labels if label.row == row), key=lambda label: label.left)
        for a, b in pairwise(line):
            assert a.left + a.width <= b.left
    assert all(label.left + label.width <= strip.width() for label in labels)


def test_that_events_at_one_place_share_a_glyph_of_the_worst_and_say_how_many(strip: EventStrip) -> None:
    events = (
        Event(NOW - 400, "state", "db1 Synced", Health.GOOD),
        Event(NOW - 399, "state", "db2 is non-Primary", Health.BAD),
        Event(NOW - 398, "state", "db3 Synced", Health.GOOD),
    )
    strip.set_events(events)
    (mark,) = strip.scene().marks
    assert mark.health is Health.BAD
    assert strip.label_texts() == ("db2 is non-Primary +2",)
    assert strip.tip(QPointF(mark.x, GLYPH_Y)).count("\n") == 2


def test_that_a_transfer_keeps_its_sentence_beside_warnings() -> None:
    marks = [
        Mark(100.0, (Event(1, "state", "w" * 20, Health.WARN),)),
        Mark(112.0, (Event(2, "transfer", "t" * 20, Health.TRANSFER),)),
        Mark(124.0, (Event(3, "state", "b" * 20, Health.BAD),)),
    ]
    labels = place_labels(marks, lambda text: 7.0 * len(text), 0.0, 260.0)
    assert marks[1] in [label.mark for label in labels]


def test_that_overlapping_spans_take_two_lanes_and_those_out_of_sight_none() -> None:
    spans = [
        Event(10, "transfer", "a", until=50, spans=True),
        Event(20, "transfer", "b", until=60, spans=True),
        Event(55, "gap", "c", until=58, spans=True),
        Event(200, "gap", "d", until=210, spans=True),
    ]
    bars = place_bars(spans, float, 0, 100, 100)
    assert [(bar.event.text, bar.lane) for bar in bars] == [("a", 0), ("b", 1), ("c", 0)]
    assert not place_marks(spans[3:], float, 0, 100)


def test_that_a_replay_names_its_flag_and_bounds_the_cursor(strip: EventStrip, qtbot: QtBot) -> None:
    strip.set_replay(replay=True, earliest=NOW - 600)
    assert strip.scene().word == "REPLAY"
    qtbot.keyClick(strip, Qt.Key.Key_Home)
    assert strip.cursor_at() == NOW - 600


@pytest.fixture
def make_bar(qtbot: QtBot) -> Callable[[], ReplayBar]:
    def make() -> ReplayBar:
        bar = ReplayBar()
        qtbot.addWidget(bar)
        bar.resize(900, 40)
        bar.set_state(NOW - 300, NOW - 900, NOW, playing=False, speed=1.0)
        bar.show()
        qtbot.waitExposed(bar)
        return bar

    return make


def test_that_the_replay_bar_says_the_position_and_asks_to_play_and_to_pause(
    make_bar: Callable[[], ReplayBar], qtbot: QtBot
) -> None:
    bar = make_bar()
    assert bar.position_text().endswith("10 min of 15 min")
    assert bar.position_text().startswith(format_moment(NOW - 300))  # its day too: a recording may be of any
    button = bar.findChild(QPushButton)
    assert button.text() == "Play"
    with qtbot.waitSignal(bar.play_wanted):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    bar.set_state(NOW - 299, NOW - 900, NOW, playing=True, speed=1.0)
    assert button.text() == "Pause"
    with qtbot.waitSignal(bar.pause_wanted):
        qtbot.keyClick(bar, Qt.Key.Key_Space)


def test_that_speeds_go_from_a_quarter_to_sixty_four(make_bar: Callable[[], ReplayBar], qtbot: QtBot) -> None:
    bar = make_bar()
    assert (SPEEDS[0], SPEEDS[-1]) == (0.25, 64.0)
    box = bar.findChild(QComboBox)
    assert box.currentText() == "1 ×"
    with qtbot.waitSignal(bar.speed_wanted) as wanted:
        box.activated.emit(len(SPEEDS) - 1)
    assert wanted.args == [64.0]
    bar.set_state(NOW, NOW - 900, NOW, playing=True, speed=8.0)
    assert box.currentText() == "8 ×"


def test_that_click_drag_and_keys_on_the_track_seek(make_bar: Callable[[], ReplayBar], qtbot: QtBot) -> None:
    bar = make_bar()
    track = bar._track
    wanted: list[float] = []
    bar.seek_wanted.connect(wanted.append)
    qtbot.mouseClick(track, Qt.MouseButton.LeftButton, pos=QPoint(round(track.x_at(NOW - 450)), 12))
    assert wanted[-1] == pytest.approx(NOW - 450, abs=2)
    qtbot.keyClick(track, Qt.Key.Key_Right)
    assert wanted[-1] == NOW - 295
    qtbot.keyClick(track, Qt.Key.Key_Home)
    assert wanted[-1] == NOW - 900


def test_that_no_sentence_stands_where_a_line_of_the_time_crosses_it(strip: EventStrip) -> None:
    strip.set_events((STOPPED,))
    written = strip.scene().labels[0]
    assert written.row == 0
    top = int(TEXT_TOPS[0])
    grounds = theme("light").panel, theme("light").accent
    for part in (0.1, 0.4, 0.9):
        x = written.left + part * written.width
        strip.set_cursor(strip.scene().time_at(x))
        picture = strip.grab().toImage()
        beside_line = [QColor(picture.pixel(round(x) + dx, top + dy)) for dx in (-4, -3, 3, 4) for dy in range(3, 13)]
        assert all(color in grounds for color in beside_line), part


def test_that_a_flag_over_a_sentence_leaves_the_larger_part_of_it_and_no_half_words() -> None:
    words = QRectF(100, 1, 200, 14)
    assert beside(QRectF(words), [QRectF(400, 0, 60, 17)]) == words
    assert beside(QRectF(words), [QRectF(220, 0, 60, 17)]).right() == 214
    right = beside(QRectF(words), [QRectF(80, 0, 60, 17)])
    assert (right.left(), right.right()) == (146, 300)
    assert beside(QRectF(words), [QRectF(90, 0, 220, 17)]).width() == 0


def test_that_the_cursors_flag_never_stands_on_a_sentence_of_the_upper_row(strip: EventStrip) -> None:
    close = tuple(replace(STOPPED, at=NOW - 800 + 60 * n, text=f"db{n} stopped, data folder emptied") for n in range(8))
    strip.set_events(close)
    labels = [label for label in strip.scene().labels if label.row == 1]
    assert labels
    for step in range(40):
        scene = replace(strip.scene(), cursor=NOW - 900 + step * 22.0)
        flags = flag_rects(scene)
        assert len(flags) == 2
        for label in labels:
            box = beside(QRectF(label.left, 1, label.width, 14), flags)
            assert not any(box.intersects(flag) for flag in flags)
            assert box.left() >= label.left
            assert box.right() <= label.left + label.width
