"""Text at 200 % in the smallest window: no title, no position and no setting is cut without a sign of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.widgets import builders_procedures as p
from tests.widgets.fake_sources import FakeRecording, OpenWindow, open_window
from widgets.common.look.fonts import STRONG
from widgets.common.look.glyphs import shape_box
from widgets.common.look.theme import apply_text_size, apply_theme, ui_font
from widgets.procedures.run.wizard import WizardPage
from widgets.timeline.replay_bar import ReplayBar


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication) -> Iterator[OpenWindow]:
    with open_window(qapp, FakeRecording()) as made:
        made.window.resize(960, 600)
        apply_text_size(qapp, 200)
        qtbot.wait(80)
        yield made
        apply_text_size(qapp, 100)


def test_that_pages_have_their_whole_titles_in_the_bar(opened: OpenWindow) -> None:
    top = opened.window.top
    shown = [made for made in top.findChildren(QPushButton) if made.isVisible() and made.text()]
    assert {"Topology", "Charts", "Procedures", "Journal", "Settings", "?"} == {made.text() for made in shown}
    for made in shown:
        assert made.text() == "?" or made.width() >= made.sizeHint().width(), made.text()
        assert made.mapTo(top, QPoint(made.width(), 0)).x() <= top.width()


def test_that_the_position_in_a_recording_is_cut_with_a_sign_where_it_has_no_room(opened: OpenWindow) -> None:
    bar = opened.window.findChild(ReplayBar)
    assert bar is not None
    words = next(label for label in bar.findChildren(QLabel) if label.text() == bar.position_text())
    assert words.fontMetrics().horizontalAdvance(words.text()) <= words.width()


def test_that_a_plan_beside_nothing_uses_a_large_screen(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    page = WizardPage()
    qtbot.addWidget(page)
    page.set_plan(p.plan(), p.WORDING)
    page.side.hide()
    page.resize(2246, 1316)
    page.show()
    page.side.hide()
    qtbot.wait(50)
    assert page.stages.width() > 0.95 * page.width()


def test_that_a_run_that_stands_open_grows_with_its_text(
    wizard: WizardPage, qtbot: QtBot, text_size: Callable[[int], None]
) -> None:
    wizard.set_run(p.run(), p.WORDING)
    row, small = wizard.stages.steps.rows[0], wizard.head.name.fontMetrics().height()
    at = row._host_width
    text_size(200)
    qtbot.wait(30)
    assert wizard.head.name.fontMetrics().height() > 1.7 * small
    widest = max(QFontMetricsF(ui_font(weight=STRONG)).horizontalAdvance(step.host or "all") for step in p.plan().steps)
    assert row._host_width >= widest > at  # no host is cut to an ellipsis
    assert all(head._host_width == row._host_width for head in wizard.stages.steps.heads)


def test_that_the_shape_beside_words_has_their_size(text_size: Callable[[int], None]) -> None:
    assert shape_box(10, 20) == QRectF(10, 14.5, 11, 11)
    text_size(200)
    assert shape_box(10, 20) == QRectF(10, 9, 22, 22)
