"""The procedures beside a recording: cards that say why nothing can begin, and nothing that would fail when pressed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app.window.steering.pages import SteeringPages, still_pages
from services.i18n import PSEUDO, install
from services.procedures.catalogue import all_procedures
from tests.widgets import builders_procedures as p
from tests.widgets.fake_sources import FakeRecording, open_window
from tests.widgets.seen_texts import clipped
from tests.widgets.window.test_window_pseudo import unaccented
from widgets.common.look.theme import apply_theme
from widgets.procedures.page import ProceduresPage


@pytest.fixture
def pages(qtbot: QtBot, qapp: QApplication) -> SteeringPages:
    apply_theme(qapp, "light")
    made = still_pages()
    made.cards.set_procedures(p.ABOUTS)
    made.resize(1048, 728)
    qtbot.addWidget(made)
    made.show()
    return made


def texts(inside: QWidget) -> str:
    return "\n".join(label.text() for label in inside.findChildren(QLabel) if label.isVisible())


def test_that_every_card_of_a_recording_says_why_nothing_can_begin_and_has_no_button(pages: SteeringPages) -> None:
    assert len(pages.cards.cards) == len(p.ABOUTS)
    for card in pages.cards.cards:
        assert "a recording has no servers" in texts(card)
        assert "a recording has no servers" in card.accessibleDescription()
        assert card.findChildren(QPushButton) == []
        assert card.cursor().shape() is Qt.CursorShape.ArrowCursor
    assert "pilothouse --inventory FILE" in pages.cards.messages.text()


def test_that_neither_click_nor_enter_begins_anything_in_a_recording(pages: SteeringPages) -> None:
    spy = QSignalSpy(pages.cards.procedure_chosen)
    for card in pages.cards.cards:
        QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(30, 30))
        QTest.keyClick(card, Qt.Key.Key_Return)
    assert spy.count() == 0


def test_that_a_recordings_page_speaks_of_no_runs_of_its_own(pages: SteeringPages) -> None:
    assert "No runs yet" not in texts(pages)
    assert "Runs" not in texts(pages).splitlines()


def test_that_the_keys_walk_through_a_page_without_buttons(pages: SteeringPages, qapp: QApplication) -> None:
    pages.resize(500, 300)
    pages.activateWindow()
    qapp.processEvents()
    pages.show_cards()
    qapp.processEvents()
    area = pages.findChild(QScrollArea)
    assert area is not None
    assert area.hasFocus()
    QTest.keyClick(area, Qt.Key.Key_PageDown)
    assert area.verticalScrollBar().value() > 0


def test_that_cards_of_a_live_window_keep_their_buttons(qtbot: QtBot) -> None:
    page = ProceduresPage(lambda: p.NOW)
    qtbot.addWidget(page)
    page.set_procedures(p.ABOUTS)
    page.show()
    for card in page.cards:
        (begin,) = card.findChildren(QPushButton)
        with qtbot.waitSignal(page.procedure_chosen) as chosen:
            begin.click()
        assert chosen.args == [card.about.name]
    page.set_runs(())
    assert "No runs yet" in texts(page)


def test_that_the_window_of_a_recording_shows_these_cards(qtbot: QtBot, qapp: QApplication) -> None:
    with open_window(qapp, FakeRecording()) as opened:
        opened.window.show_page("procedures")
        qtbot.waitUntil(lambda: opened.window.page() == "procedures", timeout=15_000)
        page = opened.window.findChild(ProceduresPage)
        assert page is not None
        qtbot.waitUntil(lambda: len(page.cards) == len(all_procedures()), timeout=15_000)
        assert all(card.open_button is None for card in page.cards)


@pytest.mark.parametrize("size", [(1048, 728), (2328, 1368), (728, 560)])
def test_that_nothing_of_a_recordings_page_is_clipped_or_untranslated(
    qtbot: QtBot, qapp: QApplication, size: tuple[int, int]
) -> None:
    install(PSEUDO)
    try:
        made = still_pages()
        made.cards.set_procedures(p.ABOUTS)
        qtbot.addWidget(made)
        made.resize(*size)
        made.show()
        for _ in range(4):
            qapp.processEvents()
        found = clipped(made)
        strange = {text for _who, text in unaccented(made, p.ABOUTS)}
    finally:
        install("en")
    assert found == set()
    assert strange == set()
