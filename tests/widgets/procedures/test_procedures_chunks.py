"""The calculator of backup chunks in the window: the terminal's numbers, by keys alone, in every size and language."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.window.steering.chunks import ChunksOffer
from app.window.steering.pages import SteeringPages
from services.backup_chunks.advice import advise
from services.backup_chunks.asked import QUESTIONS, parsed_answers
from services.backup_chunks.fitting import why_not_here
from services.backup_chunks.telling import lines_of
from services.discovery.model import EstateSnapshot
from services.i18n import PSEUDO, install
from services.types import Flavour
from tests.widgets import builders as b
from tests.widgets.seen_texts import clipped
from tests.widgets.window.test_window_pseudo import unaccented
from widgets.common.look.theme import apply_text_size, apply_theme
from widgets.procedures.chunks import ChunksPage

if TYPE_CHECKING:
    from app.window.controller import Controller
    from app.window.main_window import MainWindow

ANSWERS = {"size": "8 TB", "parallel": "8", "uploads": "8", "encrypt-threads": "2", "attempts": "3", "rate": "500 MB"}
BAD = "xtrabackup --backup --stream=xbstream --encrypt=AES256 --read-buffer-size=200M | xbcloud put full"


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> ChunksPage:
    apply_theme(qapp, "light")
    made = ChunksPage()
    made.resize(1048, 728)
    qtbot.addWidget(made)
    made.show()
    return made


def typed(page: ChunksPage, **more: str) -> ChunksPage:
    for name, text in (ANSWERS | more).items():
        page.fields[name].setText(text)
    page.reckon()
    return page


def shown(page: QWidget) -> str:
    return "\n".join(one.text() for one in page.findChildren(QLabel) if one.isVisible())


def test_that_the_window_shows_the_numbers_and_formulas_of_the_terminal(page: ChunksPage) -> None:
    backup, chunk = parsed_answers(ANSWERS)
    advice = advise(backup, chunk)
    typed(page)
    for box, outcome in ((page.now, advice.now), (page.then, advice.then)):
        words = "\n".join(box.lines())
        for one in lines_of(backup, outcome):
            assert f"{one.name}: {one.value}" in words
            assert one.formula in words
    assert page.advice.text() == advice.sentence == "Use 153 MiB in every job."
    assert page.options.lines() == ("--read-buffer-size=153M --encrypt-chunk-size=153M",)


def test_that_without_a_size_the_page_says_what_to_type_and_shows_no_number(page: ChunksPage) -> None:
    assert "Enter the size of the data, for example 8 TB, to see the advice and its numbers here." in shown(page)
    assert page.now.lines() == page.then.lines() == ()
    assert not page.now.isVisible()


def test_that_an_answer_that_makes_no_sense_says_so_at_its_field_and_takes_the_numbers_away(page: ChunksPage) -> None:
    typed(page, ratio="7")
    assert ": enter a share between 0 and 1." in page.faults["ratio"].text()
    assert page.now.lines() == ()
    typed(page, ratio="0.5")
    assert not page.faults["ratio"].isVisible()
    assert page.now.lines()


def test_that_a_wrong_answer_is_what_is_to_be_mended_and_not_the_size(page: ChunksPage) -> None:
    typed(page, **{"free-memory": "64"})
    assert page.advice.text().startswith("Correct the marked answer to see the advice and its numbers here.")
    assert "with its unit" in page.faults["free-memory"].text()
    typed(page, **{"free-memory": "64 GB"})
    assert page.advice.text().startswith("Use ")


def test_that_a_field_stands_beside_its_name(page: ChunksPage, qtbot: QtBot) -> None:
    page.resize(2200, 1200)
    qtbot.wait(20)
    for name, field in page.fields.items():
        title = next(q.title for q in QUESTIONS if q.name == name)
        words = next(one for one in page.findChildren(QLabel) if one.buddy() is field)
        assert words.text() == title
        assert field.x() - words.geometry().right() < 40


def test_that_a_command_is_judged_and_gives_what_nobody_typed(page: ChunksPage) -> None:
    page.fields["size"].setText("8 TB")
    page.command.setPlainText(BAD)
    page.reckon()
    found = {row.check.code: row.check.result for row in page.rows}
    assert (found["CHUNK-EQUAL"], found["PIPEFAIL"], found["MEMORY"]) == ("block", "warn", "not known")
    assert "current: chunks of 10.5\u202fMB" in shown(page), "unequal sizes fall back"
    page.command.setPlainText(f"{BAD}\n---\n{BAD} --max-retries=10")
    page.reckon()
    assert "CHUNK-ALIKE" in {row.check.code for row in page.rows}
    page.command.setPlainText("ls")
    page.reckon()
    assert page.rows == []
    assert "calls neither xtrabackup nor xbcloud" in page.wrong.text()


def test_that_what_is_typed_is_reckoned_by_itself_a_moment_later(qtbot: QtBot, page: ChunksPage) -> None:
    QTest.keyClicks(page.fields["size"], "8TB")
    qtbot.waitUntil(lambda: bool(page.now.lines()), timeout=2000)


def test_that_it_is_opened_walked_and_left_by_keys(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    pages = SteeringPages()
    pages.resize(1048, 728)
    qtbot.addWidget(pages)
    pages.show()
    pages.activateWindow()
    pages.cards.chunks.setFocus()
    QTest.keyClick(pages.cards.chunks, Qt.Key.Key_Return)
    made = pages.chunks
    assert made is not None
    assert pages.currentWidget() is made
    qtbot.waitUntil(made.fields["size"].hasFocus, timeout=2000)
    QTest.keyClick(made.fields["size"], Qt.Key.Key_Tab)
    assert made.fields["ratio"].hasFocus()
    made.command.setFocus()
    QTest.keyClick(made.command, Qt.Key.Key_Backtab)
    assert not made.command.hasFocus(), "Tab leaves the command's field"
    closed = QSignalSpy(made.closed)
    QTest.keyClick(made.fields["size"], Qt.Key.Key_Escape)
    assert closed.count() == 1
    assert pages.currentWidget() is pages.cards
    assert pages.cards.chunks.hasFocus()


def test_that_an_estate_of_mariadb_alone_is_not_offered_it_and_told_why(qtbot: QtBot, qapp: QApplication) -> None:
    cluster = b.healthy()
    maria = EstateSnapshot(b.AT, (replace(cluster, flavour=Flavour.MARIADB),))
    mixed = EstateSnapshot(b.AT, (*maria.clusters, replace(cluster, flavour=Flavour.PXC)))
    assert "MariaDB" in why_not_here(maria)
    assert why_not_here(mixed) == why_not_here(EstateSnapshot(b.AT, ())) == ""
    pages = SteeringPages()
    qtbot.addWidget(pages)
    pages.show()
    pages.cards.refuse_chunks(why_not_here(maria))
    assert not pages.cards.chunks.isVisible()
    assert "not for MariaDB, which has no xbcloud" in shown(pages)
    pages.cards.refuse_chunks("")
    assert pages.cards.chunks.isVisible()


def whole(page: ChunksPage) -> None:
    assert clipped(page) == set()


@pytest.mark.parametrize("percent", [100, 200])
def test_that_no_word_is_cut_in_a_narrow_page(qtbot: QtBot, page: ChunksPage, qapp: QApplication, percent: int) -> None:
    apply_text_size(qapp, percent)
    try:
        page.resize(520, 728)
        page.command.setPlainText(BAD)
        typed(page)
        qtbot.waitUntil(lambda: whole(page))  # rows that break are given their height in turns of their own
    finally:
        apply_text_size(qapp, 100)


def test_that_every_word_of_the_page_is_translated(qtbot: QtBot, qapp: QApplication) -> None:
    install(PSEUDO)
    try:
        made = ChunksPage()
        qtbot.addWidget(made)
        made.command.setPlainText(BAD)
        typed(made)
        made.show()
        # names of options and programs, and the letters of formulas, are nobody's language
        options = (*made.options.lines(), BAD, "--stream=xbstream", "--read-buffer-size=200M --encrypt-chunk-size=-")
        names = ("xtrabackup --parallel", "xtrabackup --encrypt-threads", "xbcloud --parallel", "--max-retries=10")
        formulas = tuple(one.lstrip() for box in (made.now, made.then) for one in box.lines() if one.startswith(" "))
        codes = tuple(row.check.code for row in made.rows)
        assert unaccented(made, options, names, formulas, codes) == set()
    finally:
        install("en")


def test_that_the_palette_offers_it_where_its_button_is_and_opens_it(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light")
    pages, shown_pages = SteeringPages(), list[str]()
    qtbot.addWidget(pages)
    maria = b.healthy()
    estate = EstateSnapshot(b.AT, (replace(maria, flavour=Flavour.PXC),))
    controller = SimpleNamespace(estate=estate)
    offer = ChunksOffer(
        cast("Controller", controller), cast("MainWindow", SimpleNamespace(show_page=shown_pages.append)), pages
    )
    (entry,) = offer.entries()
    assert not offer.take("theme")
    assert pages.chunks is None
    assert offer.take(entry.entry_id)
    assert shown_pages == ["procedures"]
    assert pages.currentWidget() is pages.chunks
    controller.estate = EstateSnapshot(b.AT, (maria,))
    assert list(offer.entries()) == []
