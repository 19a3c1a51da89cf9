"""The flags at the head of the event strip: none covers a part of another's word, however narrow the strip is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF
from pytestqt.qtbot import QtBot

from widgets.timeline.strip import EventStrip
from widgets.timeline.strip_paint import cursor_rect, flag_rect, flag_rects

START, END = 1_700_000_000.0, 1_700_000_600.0


@pytest.fixture
def strip(qtbot: QtBot) -> EventStrip:
    """A recording's strip of ten minutes, as narrow as beside an inspector at 200 %."""
    made = EventStrip()
    qtbot.addWidget(made)
    made.set_replay(True, START)
    made.set_range(START, END, False, END)
    made.resize(200, made.height())
    made.set_sides(10, 10)
    return made


def test_that_the_flag_of_the_moment_stands_beside_the_flag_of_the_present(strip: EventStrip) -> None:
    for second in range(0, 601, 20):
        strip.set_cursor(START + second)
        present, moment = flag_rects(strip.scene())
        assert not present.intersects(moment), second
        assert moment.left() >= 0


def test_that_a_flag_with_room_stands_over_its_moment(strip: EventStrip) -> None:
    strip.resize(900, strip.height())
    strip.set_cursor(START + 200)
    scene = strip.scene()
    assert cursor_rect(scene).center().x() == pytest.approx(scene.x_of(START + 200))


def test_that_no_half_word_is_left_where_two_flags_have_no_room(strip: EventStrip) -> None:
    strip.setMinimumWidth(0)
    strip.resize(100, strip.height())
    strip.set_cursor(START + 580)
    scene = strip.scene()
    moment: QRectF = cursor_rect(scene)
    assert moment.intersects(flag_rect(scene, scene.now, scene.word, at_right=True)), (
        "then the present's word is left out"
    )
    strip.grab()
