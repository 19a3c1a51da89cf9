"""Measuring a change on the charts page: marking by hand and by keys, what is shaded, what the panel asks and shows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from tests.widgets.chart_data import NOW, image_of, series, settle, spec
from widgets.charts.compare.kept import KeptMark
from widgets.charts.compare.marks import Marks
from widgets.charts.compare.panel import CHARTED, USUAL, Wanted
from widgets.charts.compare.table import Result
from widgets.charts.page import ChartsPage
from widgets.common.look.theme import apply_theme

MakePage = Callable[..., ChartsPage]
HEADERS = ("Server", "Metric", "Before", "After", "Difference", "Worst seconds", "Verdict")
ROW = ("db1", "write latency", "8 ms", "11 ms", "+3 ms", "+3 ms", "higher, clearly")


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> ChartsPage:
    apply_theme(qapp, "light")
    made = ChartsPage()
    qtbot.addWidget(made)
    made.resize(1000, 620)
    made.set_title("orders")
    made.set_specs((spec("a"), spec("b", kind="stack")))
    made.set_range(NOW - 900, NOW, live=True)
    made.show()
    qtbot.waitExposed(made)
    for chart in "ab":
        made.set_series(chart, "db1", series(np.full(900, 4.0)))
    made.setFocus()
    settle(qtbot)
    return made


def drag(page: ChartsPage, qtbot: QtBot, first: float, last: float) -> None:
    plot = page.card("a").plot
    places = [QPoint(round(plot.x_at(at)), round(plot.height() / 2)) for at in (first, last)]
    qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=places[0])
    qtbot.mouseMove(plot, places[1])
    qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=places[1])


def asked(page: ChartsPage) -> list[Wanted]:
    found: list[Wanted] = []
    page.compare.wanted.connect(found.append)
    return found


def test_that_a_drag_zooms_while_the_panel_is_closed_and_marks_while_it_is_open(page: ChartsPage, qtbot: QtBot) -> None:
    span = page.view().span
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert page.compare.isVisible()
    wanted = asked(page)
    drag(page, qtbot, NOW - 800, NOW - 500)
    assert page.view().span == span
    assert wanted == []
    drag(page, qtbot, NOW - 400, NOW - 100)
    (one,) = wanted
    assert one.before == pytest.approx((NOW - 800, NOW - 500), abs=4)
    assert one.after == pytest.approx((NOW - 400, NOW - 100), abs=4)
    assert (one.everyone, one.numbers, one.despite) == (False, USUAL, frozenset())
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert page.compare.isHidden()
    drag(page, qtbot, NOW - 800, NOW - 500)
    assert page.view().span < span


def test_that_both_stretches_are_marked_by_keys_alone(page: ChartsPage, qtbot: QtBot) -> None:
    wanted = asked(page)
    for key, at in ((Qt.Key.Key_B, -800), (Qt.Key.Key_B, -500), (Qt.Key.Key_A, -100), (Qt.Key.Key_A, -400)):
        page.set_cursor(NOW + at)
        qtbot.keyClick(page, key)
    assert page.compare.isVisible()
    assert [(one.before, one.after) for one in wanted] == [((NOW - 800, NOW - 500), (NOW - 400, NOW - 100))]


def test_that_the_panel_says_what_to_do_next(page: ChartsPage, qtbot: QtBot) -> None:
    hint = page.compare.hint
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert hint.text().startswith("Mark the time before the change: drag over a chart")
    page.set_cursor(NOW - 800)
    qtbot.keyClick(page, Qt.Key.Key_B)
    assert hint.text().endswith("move the cursor to the other end and press B.")
    page.set_cursor(NOW - 500)
    qtbot.keyClick(page, Qt.Key.Key_B)
    assert hint.text().startswith("Mark the time after the change")
    assert "5 min" in page.compare.sides["before"].text()
    drag(page, qtbot, NOW - 400, NOW - 100)
    assert not hint.isVisible()


def test_that_what_is_marked_is_shaded_in_every_chart_and_gone_when_the_panel_closes(
    page: ChartsPage, qtbot: QtBot
) -> None:
    def color(chart: str, at: float) -> int:
        plot = page.card(chart).plot
        return image_of(plot).pixelColor(round(plot.x_at(at)), round(plot.frame_rect().top()) + 20).rgb()

    bare = {chart: color(chart, NOW - 650) for chart in "ab"}
    qtbot.keyClick(page, Qt.Key.Key_C)
    drag(page, qtbot, NOW - 800, NOW - 500)
    drag(page, qtbot, NOW - 400, NOW - 100)
    settle(qtbot)
    for chart in "ab":
        before, between, after = (color(chart, NOW - at) for at in (650, 450, 250))
        assert len({before, between, after}) == 3
    page.compare.close_panel()
    settle(qtbot)
    assert {chart: color(chart, NOW - 650) for chart in "ab"} == bare


def test_that_another_choice_asks_anew_and_says_that_it_compares(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.set_subject("db1")
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    wanted = asked(page)
    panel.restart.click()
    panel.whom.setCurrentIndex(1)
    panel.whom.activated.emit(1)
    panel.numbers.setCurrentIndex(1)
    panel.numbers.activated.emit(1)
    assert [(one.everyone, one.numbers, one.despite) for one in wanted] == [
        (False, USUAL, {"restart"}), (True, USUAL, {"restart"}), (True, CHARTED, {"restart"}),
    ]  # fmt: skip
    assert panel.summary.text() == "Comparing…"


def test_that_the_stretches_around_a_run_are_taken_at_a_choice(page: ChartsPage) -> None:
    panel = page.compare
    panel.open_panel()
    assert not panel.run.isVisible()
    panel.set_runs([("Run 47 begins: x", (NOW - 800, NOW - 500), (NOW - 400, NOW - 100))])
    assert panel.run.isVisible()
    wanted = asked(page)
    panel.run.setCurrentIndex(1)
    panel.run.activated.emit(1)
    assert [(one.before, one.after) for one in wanted] == [((NOW - 800, NOW - 500), (NOW - 400, NOW - 100))]


def test_that_the_table_shows_rows_hides_a_lone_servers_name_and_copies(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.open_panel()
    panel.show_result(Result(HEADERS, (ROW,), "1 number differs."))
    assert panel.summary.text() == ""  # nothing is marked: an answer that came late
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    panel.show_result(Result(HEADERS, (ROW,), "1 number differs."))
    assert panel.summary.text() == "1 number differs."
    assert panel.table.isVisible()
    assert panel.table.isColumnHidden(0)
    panel.table.selectRow(0)
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "\t".join(ROW)
    panel.show_result(Result(HEADERS, (ROW, ("db2", *ROW[1:])), "2 numbers differ."))
    assert not panel.table.isColumnHidden(0)
    panel.show_problem("The window after the change begins before the window before it ends.")
    assert not panel.table.isVisible()


def kept(number: int = 4, name: str = "redo 2 GB") -> KeptMark:
    return KeptMark(number, name, (NOW - 7_000, NOW - 6_700), (NOW - 6_600, NOW - 6_300), "Marked by ada@desk2.")


def test_that_the_row_of_kept_marks_shows_only_what_means_something_now(page: ChartsPage) -> None:
    panel, row = page.compare, page.compare.kept
    panel.open_panel()
    assert not row.isVisible()
    panel.take(NOW - 800, NOW - 500)
    assert not row.isVisible()
    panel.take(NOW - 400, NOW - 100)
    assert row.name.isVisible()
    assert not row.box.isVisible()
    assert not row.keep.isEnabled()
    row.name.setText("  ")
    assert not row.keep.isEnabled()
    row.name.setText("redo")
    assert row.keep.isEnabled()
    row.offer((kept(),))
    assert row.box.isVisible()
    assert row.name.isVisible()
    assert not row.remove.isVisible()


def test_that_a_kept_mark_is_chosen_compared_brought_into_sight_and_removed_by_name(page: ChartsPage) -> None:
    panel, row = page.compare, page.compare.kept
    panel.open_panel()
    row.offer((kept(9, "other"), kept()))
    wanted = asked(page)
    row.box.setCurrentIndex(2)
    row.box.activated.emit(2)
    mark = kept()
    assert [(one.before, one.after) for one in wanted] == [(mark.before, mark.after)]
    view = page.view()
    assert view.start < mark.before[0] < mark.after[1] < view.end
    assert not view.live
    page.reset_view()
    assert page.view().live


def test_that_a_removed_mark_leaves_its_name_so_that_keep_brings_it_back(page: ChartsPage, qtbot: QtBot) -> None:
    panel, row = page.compare, page.compare.kept
    panel.open_panel()
    row.offer((kept(),))
    removed: list[KeptMark] = []
    named: list[tuple[str, object, object]] = []
    row.remove_wanted.connect(removed.append)
    row.keep_wanted.connect(lambda *given: named.append(given))
    row.box.activated.emit(1)
    assert row.remove.toolTip() == "Remove redo 2 GB; the samples are kept"
    assert row.said.text() == "Marked by ada@desk2."
    qtbot.mouseClick(row.remove, Qt.MouseButton.LeftButton)
    row.offer(())
    assert removed == [kept()]
    assert not row.box.isVisible()
    qtbot.keyClick(row.name, Qt.Key.Key_Return)
    assert named == [("redo 2 GB", kept().before, kept().after)]


def test_that_letters_typed_into_the_name_mark_nothing(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    marks = panel.marks
    panel.kept.name.setFocus()
    qtbot.keyClicks(panel.kept.name, "abc 0+-")
    assert panel.kept.name.text() == "abc 0+-"
    assert panel.isVisible()
    assert panel.marks == marks


def test_that_the_columns_take_what_their_words_need_and_the_verdict_the_rest(page: ChartsPage) -> None:
    panel = page.compare
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    why = "not known: Windows shorter than 5 min show nothing."
    panel.show_result(Result(HEADERS, (("db1", "rows read (load.rows_read)", "–", "–", "–", "–", why),), "0 differ."))
    table = panel.table
    for column, text in ((1, "rows read (load.rows_read)"), (6, why)):
        assert table.columnWidth(column) > table.fontMetrics().horizontalAdvance(text)
    assert table.columnWidth(4) < 140
    assert table.horizontalScrollBar().maximum() == 0


def test_that_the_whole_words_of_a_row_are_told_to_whom_has_no_pointer(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    long = "not known: " + "a reason that is longer than any column " * 6
    panel.show_result(Result(HEADERS, (ROW, (*ROW[:6], long)), "1 number differs."))
    assert not panel.row.isVisible()
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert panel.row.text() == f"write latency: {long}"
    assert panel.row.isVisible()
    panel.show_problem("The window after the change begins before the window before it ends.")
    assert not panel.row.isVisible()


def test_that_a_panel_that_is_opened_again_has_its_marks_and_their_comparison(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    marks, wanted = panel.marks, asked(page)
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert panel.marks == ()
    qtbot.keyClick(page, Qt.Key.Key_C)
    assert panel.marks == marks
    assert [(one.before, one.after) for one in wanted] == [((NOW - 800, NOW - 500), (NOW - 400, NOW - 100))]


def test_that_the_table_shows_by_a_chosen_row_that_it_has_the_keys(page: ChartsPage, qtbot: QtBot) -> None:
    panel = page.compare
    panel.open_panel()
    panel.take(NOW - 800, NOW - 500)
    panel.take(NOW - 400, NOW - 100)
    panel.show_result(Result(HEADERS, (ROW, ROW), "2 numbers differ."))
    assert not panel.table.selectedIndexes()
    panel.table.setFocus()
    assert {index.row() for index in panel.table.selectedIndexes()} == {0}
    assert panel.row.text().startswith("write latency: ")


def test_that_the_button_of_the_page_opens_and_closes(page: ChartsPage, qtbot: QtBot) -> None:
    (made,) = (found for found in page.findChildren(QPushButton) if found.text() == "Compare")
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton)
    assert page.compare.isVisible()
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton)
    assert page.compare.isHidden()


def test_that_marks_are_put_in_order_and_alternate() -> None:
    marks = Marks().taking(20.0, 10.0)
    assert (marks.before, marks.next_side, marks.both) == ((10.0, 20.0), "after", None)
    marks = marks.taking(30.0, 40.0)
    assert (marks.both, marks.next_side) == (((10.0, 20.0), (30.0, 40.0)), "before")
    assert marks.taking(50.0, 60.0, "after").after == (50.0, 60.0)
    begun = marks.marking("after", 45.0)
    assert begun.spans()[-1] == (45.0, 45.0, "after")
    assert begun.marking("after", 55.0).after == (45.0, 55.0)
    assert begun.marking("before", 55.0).begun == ("before", 55.0)
