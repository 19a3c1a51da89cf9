"""The page of runs and obligations, the armed frame, every state in every size and language. On made-up values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from services.i18n import PSEUDO, install
from services.procedures.plan.run_model import OpenObligation, RunState
from services.types import Health
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.seen_texts import clipped
from tests.widgets.window.test_window_pseudo import unaccented
from widgets.common.look.theme import apply_theme, current_theme
from widgets.frame.armed_frame import ArmedFrame
from widgets.frame.status_line import StatusLine
from widgets.procedures.page import ProceduresPage
from widgets.procedures.run.wizard import WizardPage

_LOCK = "Another console holds the lock since 02:14."


@pytest.fixture
def page(qtbot: QtBot, qapp: QApplication) -> ProceduresPage:
    apply_theme(qapp, "light")
    made = ProceduresPage(lambda: p.NOW)
    made.resize(1208, 828)
    qtbot.addWidget(made)
    made.show()
    return made


def shown(page: ProceduresPage) -> list[str]:
    return [one.text() for one in page.findChildren(QLabel) if one.isVisible()]


# -- the page --------------------------------------------------------------------------------------------------------
def test_that_a_page_whose_procedures_are_not_read_yet_says_so_and_claims_nothing(page: ProceduresPage) -> None:
    reading = "Reading the procedures and the stored runs…"
    assert reading in shown(page)
    assert not any(text.startswith(("No runs yet", "Runs")) for text in shown(page))
    page.not_read()
    assert "The procedures could not be read. Open this page again to retry." in shown(page)
    page.set_procedures(p.ABOUTS)
    page.set_runs(())
    assert not any("read" in text and "procedures" in text.lower() for text in shown(page) if "Each" not in text)
    assert any(text.startswith("No runs yet") for text in shown(page))


def test_that_unfinished_runs_stand_first_with_what_may_be_done(qtbot: QtBot, page: ProceduresPage) -> None:
    done = replace(p.run(99, RunState.DONE), run_id="48", live=False, ended=p.NOW)
    page.set_runs((done, p.failed()))
    assert [r.view.run_id for r in page.runs] == ["47", "48"]
    first, second = page.runs
    assert first.resume.isVisible()
    assert not second.resume.isVisible()
    with qtbot.waitSignal(page.resume_wanted) as wanted:
        first.resume.click()
    assert wanted.args == ["47"]
    first.undo.click()
    with qtbot.waitSignal(page.undo_wanted) as wanted:
        page.confirm.yes.click()
    assert wanted.args == ["47"]
    first.leave.click()
    page.confirm.reason.setText("repaired by hand")
    with qtbot.waitSignal(page.leave_wanted) as wanted:
        page.confirm.yes.click()
    assert wanted.args == ["47", "repaired by hand"]
    with qtbot.waitSignal(page.report_wanted) as wanted:
        second.report.click()
    assert wanted.args == ["48"]
    with qtbot.waitSignal(page.run_chosen) as wanted:
        second.title.click()
    assert wanted.args == ["48"]


def test_that_runs_are_brought_up_to_date_in_place(page: ProceduresPage) -> None:
    page.set_runs((p.run(),))
    row = page.runs[0]
    page.set_runs((p.failed(),))
    assert page.runs == [row]
    assert row.view.state is RunState.FAILED


def test_that_what_is_on_and_what_is_not_over_stands_above_what_could_be_begun(
    qtbot: QtBot, page: ProceduresPage, qapp: QApplication
) -> None:
    page.set_procedures(p.ABOUTS)
    done = replace(p.run(99, RunState.DONE), run_id="48", live=False, ended=p.NOW)
    page.set_runs((done, p.failed()))
    page.set_obligations((OpenObligation("47", p.FREEZE, p.NOW - 600),))
    qapp.processEvents()

    def top(part: QWidget) -> int:
        return part.mapTo(page, part.rect().topLeft()).y()

    unfinished, over = page.runs
    assert top(page.duties[0]) < top(unfinished) < top(page.cards[0]) < top(over)
    page.set_runs((done, replace(p.run(99, RunState.DONE), run_id="47", live=False, ended=p.NOW)))
    qapp.processEvents()
    assert [top(row) > top(page.cards[0]) for row in page.runs] == [True, True]


def test_that_an_obligation_says_its_danger_and_is_released_once_until_it_failed(
    qtbot: QtBot, page: ProceduresPage
) -> None:
    duty = OpenObligation("47", p.FREEZE, p.NOW - 600)
    page.set_obligations((duty,))
    row = page.duties[0]
    with qtbot.waitSignal(page.release_wanted) as wanted:
        row.release.click()
    assert wanted.args == ["47", "freeze:db1"]
    assert not row.release.isEnabled()
    page.set_obligations((replace(duty, release_failed="db1 does not answer"),))
    assert row.release.isEnabled()
    page.set_obligations(())
    assert page.duties == []


# -- the frame -------------------------------------------------------------------------------------------------------
def test_that_the_status_line_says_who_is_armed_and_what_is_on_and_goes_back_to_read_only(
    qtbot: QtBot, qapp: QApplication
) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    line.resize(1280, 28)
    line.show()
    assert line.badge() == "READ ONLY"
    line.show_armed("47", ("db1", "db2"))
    assert line.badge() == "ARMED run 47 · db1, db2"
    duties = (OpenObligation("48", p.FREEZE, p.NOW - 60), OpenObligation("47", p.FREEZE, p.NOW - 600))
    line.show_obligations(duties, p.NOW, {"47": "orders"})
    assert line.duties.text().startswith("orders: gcache frozen on db1 since ")
    line.show_obligations(duties, p.NOW)
    assert line.duties.text().startswith("gcache frozen on db1 since ")
    with qtbot.waitSignal(line.release_wanted) as wanted:
        line.duties.release.click()
    assert wanted.args == ["47", "freeze:db1"]
    with qtbot.waitSignal(line.obligations_wanted):
        line.duties.more.click()
    qapp.processEvents()
    words, release = line.duties.children()[2], line.duties.release
    assert isinstance(words, QWidget)
    assert words.geometry().right() < release.x()
    line.show_obligations((), p.NOW)
    line.show_read_only()
    assert (line.badge(), line.duties.isVisible()) == ("READ ONLY", False)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_that_the_frame_is_painted_on_the_edge_alone_and_takes_no_click(
    qtbot: QtBot, qapp: QApplication, theme: str
) -> None:
    apply_theme(qapp, "dark" if theme == "dark" else "light")
    window = QWidget()
    qtbot.addWidget(window)
    frame = ArmedFrame(window)
    window.resize(400, 300)
    window.show()
    frame.set_armed(True)
    qapp.processEvents()
    image = window.grab().toImage()
    for x, y in ((1, 150), (398, 150), (200, 1), (200, 298)):
        assert image.pixelColor(x, y) == current_theme().warn_fill
    assert image.pixelColor(10, 10) != current_theme().warn_fill
    assert window.childAt(200, 150) is not frame
    frame.set_armed(False)
    assert window.grab().toImage().pixelColor(1, 150) != current_theme().warn_fill


# -- sizes and languages ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("language", "size"),
    [
        ("en", (1048, 728)),
        (PSEUDO, (2328, 1368)),
        (PSEUDO, (728, 560)),
        pytest.param("en", (2328, 1368), marks=pytest.mark.long),
        pytest.param("en", (728, 560), marks=pytest.mark.long),
        pytest.param(PSEUDO, (1048, 728), marks=pytest.mark.long),
    ],
)
def test_that_nothing_is_clipped_at_any_size(
    qtbot: QtBot, qapp: QApplication, language: str, size: tuple[int, int]
) -> None:
    """A test run takes each size and each language, the longer words where there is least room."""
    install(language)
    try:
        found = set()
        for widget in _every_state(qtbot):
            widget.resize(*size)
            widget.show()
            for _ in range(4):
                qapp.processEvents()
            found |= clipped(widget)
            widget.hide()
    finally:
        install("en")
    assert found == set()


def test_that_a_timer_that_guards_a_freeze_is_told_after_the_freeze_and_what_failed_before_all(qtbot: QtBot) -> None:
    line = StatusLine()
    qtbot.addWidget(line)
    timer = replace(p.FREEZE, key="guard:db1", sentence="release timer set on db1", safeguard=True)
    refused = replace(p.FREEZE, key="reject:db2", sentence="clients refused on db2")
    older, newer = OpenObligation("47", timer, p.NOW - 600), OpenObligation("47", p.FREEZE, p.NOW - 590)
    line.show_obligations((older, newer), p.NOW)
    assert line.duties.text().startswith("gcache frozen on db1 since ")
    failed = OpenObligation("47", refused, p.NOW - 10, release_failed="db2: it does not answer.")
    line.show_obligations((older, newer, failed), p.NOW)
    assert line.duties.text().startswith("clients refused on db2 since ")


def test_that_every_word_of_its_own_is_in_the_persons_language(qtbot: QtBot, qapp: QApplication) -> None:
    said = (
        p.ABOUTS,
        p.FIELDS,
        p.CHECKS,
        p.BLOCK,
        p.ABSOLUTE,
        p.long_plan(),
        p.failed(),
        p.WORDING,
        p.question("failed"),
    )
    cut = (p.BLOCK.evidence[:24], "db1 does not answer on port 22")  # stand behind a colon or are cut
    found: set[tuple[str, str]] = set()
    install(PSEUDO)
    try:
        for widget in _every_state(qtbot):
            widget.resize(1208, 828)
            widget.show()
            qapp.processEvents()
            found |= unaccented(widget, *said, b.sst_running(), _LOCK)
            widget.hide()
    finally:
        install("en")
    assert {(who, text) for who, text in found if not any(part in text for part in cut)} == set()


def _every_state(qtbot: QtBot) -> list[QWidget]:
    page = ProceduresPage(lambda: p.NOW)
    page.set_procedures(p.ABOUTS)
    page.set_runs((p.failed(), replace(p.run(99, RunState.DONE), run_id="48", live=False)))
    page.set_obligations((OpenObligation("47", p.FREEZE, p.NOW - 600, "db1 does not answer on port 22"),))
    made: list[QWidget] = [page]
    for number in range(5):
        wizard = WizardPage(lambda: p.NOW)
        wizard.set_about(p.ABOUTS[0])
        wizard.set_fields(p.FIELDS, {}, ())
        if number >= 1:
            wizard.set_checks((*p.CHECKS, p.BLOCK, p.ABSOLUTE))
        if number == 2:
            wizard.set_plan(p.long_plan(), {})
        if number == 3:
            wizard.set_run(replace(p.failed(), live=True, question=p.question("failed")), p.WORDING)
            wizard.head.undo.click()
            wizard.side.set_cluster(b.sst_running())
        if number == 4:
            wizard.set_run(p.run(60, RunState.DONE, of=p.long_plan(), live=False))
            wizard.say_message(Health.BAD, (_LOCK,))
        made.append(wizard)
    for widget in made:
        qtbot.addWidget(widget)
    return made
