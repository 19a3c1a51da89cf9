"""The status line where there is little room: armed, with obligations, in every size of text. On made-up values."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import OpenObligation
from tests.widgets import builders_procedures as p
from widgets.common.controls.labels import ElidedLabel
from widgets.common.look.theme import apply_text_size
from widgets.frame.status_line import Badge, StatusLine


@pytest.mark.parametrize("percent", [100, 150, 200])
@pytest.mark.parametrize("hosts", [("n3",), ("galera-prod-1", "galera-prod-2", "galera-prod-3")])
@pytest.mark.parametrize("message", ["", "n3 does not answer on port 22; next try in 5 s"])
def test_that_nothing_of_the_status_line_lies_on_another_part_in_the_smallest_window(
    qtbot: QtBot, qapp: QApplication, percent: int, hosts: tuple[str, ...], message: str
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    line = StatusLine()
    window.setCentralWidget(line)
    line.show_armed("47", hosts)
    duty = OpenObligation("47", p.FREEZE, p.NOW - 600)
    line.show_obligations((duty, replace(duty, run_id="48")), p.NOW)
    line.show_journal("journal written 0.3 s ago")
    line.show_message(message)
    line.show_facts("3 of 3 hosts answered", "1 Hz", "13:22:49 Europe/Berlin")
    window.setMinimumSize(960, 60)
    window.resize(960, 60)
    window.show()
    try:
        apply_text_size(qapp, percent)
        qtbot.wait(20)
        window.resize(960, 60)
        qtbot.wait(20)
        parts = [part for part in line.findChildren(QWidget) if part.isVisible() and part is not line.duties]
        for part in parts:
            if not isinstance(part, ElidedLabel | Badge):
                assert part.width() >= part.sizeHint().width(), part
        places = sorted(QRect(part.mapTo(line, QPoint()), part.size()).getCoords() for part in parts)
        assert all(left[2] < right[0] for left, right in pairwise(places))
        assert places[-1][2] < line.width() == 960
        assert line.duties.release.isVisible()
    finally:
        apply_text_size(qapp, 100)


@pytest.mark.parametrize("width", [1280, 2560])
def test_that_a_long_sentence_is_read_whole_before_the_facts_of_the_console(qtbot: QtBot, width: int) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(width, line.height())
    line.show_journal("journal written 0.3 s ago")
    line.show_facts(
        "12 of 12 hosts answered", "1 Hz, 1.2 % of a core, 214 MB", "12:40:11 America/Argentina/Buenos_Aires"
    )
    sentence = "The console ended unexpectedly at 2026-11-29 04:12:41 UTC; at most 12 s of samples were lost."
    line.show_message(sentence)
    line.show()
    qtbot.waitExposed(line)
    assert line._message.shown_text() == sentence
