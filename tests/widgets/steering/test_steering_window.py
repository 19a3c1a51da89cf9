"""Steering by hand in the real window, on the real service, journal and engine over a scripted cluster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from services.errors import UserError
from services.facts.model import NodeFacts, Problem
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.run_model import RunState, RunView
from services.types import Reach
from tests.unit.app.steering_service import HOLDER, World
from tests.widgets.fake_sources import settle
from tests.widgets.steering_builders import Person, now_facts, scripted, steering_window
from widgets.common.commands.palette import CommandPalette
from widgets.frame.armed_frame import ArmedFrame
from widgets.journal.page import JournalPage
from widgets.procedures.standing_notice import StandingNotice

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus


@pytest.fixture
def world() -> World:
    return scripted()


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World) -> Iterator[Person]:
    with steering_window(qtbot, qapp, tmp_path, world) as made:
        yield made


def state_of(person: Person) -> RunState | None:
    run = person.wizard.run()
    return run.state if run is not None else None


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def menu_of(person: Person, host: str, reason: QContextMenuEvent.Reason = QContextMenuEvent.Reason.Mouse) -> QMenu:
    canvas = person.window.topology.canvas
    cluster = person.controller.cluster()
    assert cluster is not None
    node_id = next(n.node_id for n in cluster.nodes if n.host == host)
    middle = canvas.centre_of(node_id)
    assert middle is not None
    at = middle.toPoint()
    QApplication.sendEvent(canvas.viewport(), QContextMenuEvent(reason, at, canvas.viewport().mapToGlobal(at)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_that_a_right_click_offers_what_fits_a_synced_node_and_fills_it_in(person: Person) -> None:
    menu = menu_of(person, "db2")
    offered = [action.text() for action in menu.actions()]
    assert any("out of flow control" in text for text in offered)
    assert not any("all nodes went down" in text for text in offered)
    action = next(a for a in menu.actions() if "out of flow control" in a.text())
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.window.page() == "procedures"
    assert person.wizard.stages.form.rows["node"].text() == "db2"


def test_that_the_inspector_of_a_silent_host_asks_it_again(person: Person) -> None:
    window, estate = person.window, person.controller.estate
    window.tree.hosts_change = True
    asked = QSignalSpy(window.tree.retry_requested)
    (cluster,) = estate.clusters
    first = replace(cluster.nodes[0], reach=Reach.NONE)
    person.controller._on_snapshot(replace(estate, clusters=(replace(cluster, nodes=(first, *cluster.nodes[1:])),)))
    person.controller.select_node(first.node_id)
    person.presses(window.inspector, "Retry now")
    assert asked.at(0) == [first.node_id]


def test_that_the_inspector_offers_the_same(person: Person) -> None:
    menu = menu_of(person, "db3")
    offered = [action.text() for action in menu.actions()]
    menu.hide()
    settle(person.controller)
    person.presses(person.window.inspector, "Take a node out of flow control")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.wizard.stages.form.rows["node"].text() == "db3"
    assert len(offered) >= 3


def test_that_the_palette_runs_a_procedure_for_the_selected_node(person: Person) -> None:
    cluster = person.controller.cluster()
    assert cluster is not None
    person.controller.select_node(next(n.node_id for n in cluster.nodes if n.host == "db3"))
    person.window.palette_wanted.emit()
    palette = person.window.findChild(CommandPalette)
    assert palette is not None
    palette.type_text("run flow control db3")
    field = palette.findChild(QLineEdit)
    assert field is not None
    QTest.keyClick(field, Qt.Key.Key_Return)
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert person.wizard.stages.form.rows["node"].text() == "db3"


def test_that_a_run_arms_the_window_shows_its_obligation_and_disarms_at_its_end(person: Person) -> None:
    frame = person.window.findChild(ArmedFrame)
    assert frame is not None
    assert person.window.status.badge() == "READ ONLY"
    person.runs_to_the_question()
    person.waits(lambda: person.window.status.badge().startswith("ARMED run 1"))
    assert frame.isVisible()
    person.waits(lambda: "db2 desynced" in person.window.status.duties.text())
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: state_of(person) is RunState.DONE)
    person.waits(lambda: person.window.status.badge() == "READ ONLY")
    person.waits(lambda: not person.window.status.duties.text())
    assert not frame.isVisible()
    assert person.steering.runs.driven == ()


def test_that_a_run_tells_its_story_on_the_time_axis_and_the_journal_leads_back_to_it(person: Person) -> None:
    person.runs_to_the_question()
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: state_of(person) is RunState.DONE)
    person.waits(lambda: not person.steering.runs.driven)
    person.controller.pump.beat()
    pairs = [(e.kind, e.text) for e in person.controller.events]
    assert [kind for kind, _ in pairs] == ["run", "step", "step", "step", "run"]
    assert pairs[0][1] == "Run 1 starts: Take db2 out of flow control for a backup"
    assert pairs[-1][1] == "Run 1 is done: Take db2 out of flow control for a backup"
    person.presses(person.wizard, "Close")
    person.window.show_page("journal")
    journal = person.window.findChild(JournalPage)
    assert journal is not None
    journal.set_filter(kind="run")
    assert len(journal.shown()) == 2
    journal.run_chosen.emit("1")
    person.waits(lambda: person.window.page() == "procedures" and state_of(person) is RunState.DONE)


def test_that_a_run_says_what_was_answered_in_the_questions_words(person: Person) -> None:
    person.runs_to_the_question()
    head, given = person.wizard.stages.inputs.head, person.wizard.stages._given
    assert "Longest drain: 2 min" in head.texts()[0]
    assert "Longest drain: 2 min" in given.text().splitlines()
    assert "drain_limit" not in head.texts()[0] + given.text()


def test_that_a_second_run_begins_like_the_first(person: Person) -> None:
    for _ in range(2):
        person.runs_to_the_question()
        person.presses(person.wizard.question, "Yes, continue")
        person.waits(lambda: state_of(person) is RunState.DONE)
        person.waits(lambda: not person.steering.runs.driven)
        person.presses(person.wizard, "Close")
    assert [row.view.run_id for row in person.cards.runs] == ["2", "1"]


def test_that_the_checks_and_the_plan_follow_what_is_typed(person: Person) -> None:
    person.plans()
    assert "db2" in person.wizard.stages.approval._plan.title
    person.wizard.stages.inputs.set_open(True)
    person.wizard.stages.form.rows["node"].show_text("db3")
    person.wizard.stages.form._take("node", "db3")
    person.waits(lambda: "db3" in person.wizard.stages.approval._plan.title)


def test_that_answers_of_a_gathering_that_nobody_waits_for_are_dropped(person: Person, world: World) -> None:
    gate = threading.Event()

    def slow(facts: Facts) -> Facts:
        gate.wait(10)
        return replace(now_facts(facts), cluster_name="late")

    world.changed = slow
    person.steering.choose("desync-for-backup", "db2")
    person.wizard.closed.emit()
    gate.set()
    person.waits(lambda: not person.steering.runs.busy())
    assert not person.wizard.stages.form.rows


def test_that_a_host_that_does_not_answer_is_named_while_the_rest_is_asked(person: Person, world: World) -> None:
    world.cluster.hosts["db3"].reachable = False
    person.steering.choose("desync-for-backup", "db2")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert "Nothing could be read from db3" in person.wizard.messages.text()


def test_that_why_a_host_is_silent_is_told_where_only_the_look_at_it_knows(person: Person, world: World) -> None:
    def silent(facts: Facts) -> Facts:
        refused = NodeFacts("db3", facts.at, Reach.NONE, problems=(Problem("ssh", "port 22 is closed", "refused"),))
        hosts = tuple(replace(h, node=refused, problems=()) if h.host == "db3" else h for h in facts.hosts)
        return replace(now_facts(facts), hosts=hosts)

    world.changed = silent
    person.steering.choose("desync-for-backup", "db2")
    person.waits(lambda: bool(person.wizard.stages.form.rows))
    assert "Nothing could be read from db3: port 22 is closed" in person.wizard.messages.text()


def test_that_a_gathering_that_fails_says_why_in_the_page(person: Person, world: World) -> None:
    def refuse(_facts: Facts) -> Facts:
        raise UserError("The vault is locked.", try_=("Unlock it.",))

    world.changed = refuse
    person.steering.choose("desync-for-backup", "db2")
    person.waits(lambda: "The vault is locked." in person.wizard.messages.text())
    assert "Unlock it." in person.wizard.messages.text()


def test_that_the_rehearsal_shows_each_step_and_changes_nothing(person: Person, world: World) -> None:
    person.plans()
    person.presses(person.wizard, "Rehearse")
    person.waits(lambda: len(person.wizard.stages.steps._rehearsed) == 5)
    assert world.cluster.log == []
    assert person.window.status.badge() == "READ ONLY"


def test_that_a_rehearsal_takes_what_earlier_steps_will_make_so_for_no_hindrance(person: Person, world: World) -> None:
    person.plans("rolling-restart")
    person.presses(person.wizard, "Rehearse")
    person.waits(lambda: "rehearsed: nothing would stop it" in person.wizard.stages.go.head.texts()[0])
    start = next(row for row in person.wizard.stages.steps.rows if "Start mariadb.service" in row.content.spoken())
    assert "rehearsed: not known before the run · act, after the earlier steps" in start.content.spoken()
    assert world.cluster.log == []


def test_that_another_consoles_lock_is_taken_over_only_by_typing_its_owner(person: Person, world: World) -> None:
    world.holder = HOLDER
    person.plans()
    person.presses(person.wizard, "Approve and start")
    strip = person.wizard.confirm
    person.waits(strip.isVisible)
    assert HOLDER.owner in person.wizard.messages.text()
    strip.reason.setText("eva")
    assert not strip.yes.isEnabled()
    strip.reason.setText(HOLDER.owner)
    person.presses(strip, "Take over and continue")
    person.waits(lambda: person.wizard.question.question() is not None)
    assert world.holder is None


def test_that_closing_asks_while_a_run_is_driven_and_the_next_start_says_where_it_stands(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World
) -> None:
    with steering_window(qtbot, qapp, tmp_path, world) as first:
        first.runs_to_the_question()
        first.window.close()
        assert first.window.isVisible()
        strip = first.steering.close_question.strip
        assert "resume 1 or undo 1" in strip.text.text()
        first.presses(strip, "Suspend and close")
        first.waits(lambda: not first.window.isVisible())
    with steering_window(qtbot, qapp, tmp_path, world) as second:
        notice = second.window.findChild(StandingNotice)
        assert notice is not None
        second.waits(lambda: "Run 1 is not finished" in notice.text())
        assert "next: Make the backup on db2" in notice.text()
        assert "db2 desynced" in second.window.status.duties.text()
        assert second.window.status.badge() == "READ ONLY"
        second.presses(notice, "Resume")
        second.waits(lambda: second.wizard.question.question() is not None)
        second.presses(second.wizard.question, "Yes, continue")
        second.waits(lambda: state_of(second) is RunState.DONE)
        second.waits(lambda: notice.text() == "")  # read from the journal once the engine has ended


def test_that_undo_from_the_notice_is_asked_for_and_takes_the_run_back(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World
) -> None:
    with steering_window(qtbot, qapp, tmp_path, world) as first:
        first.runs_to_the_question()
    with steering_window(qtbot, qapp, tmp_path, world) as second:
        notice = second.window.findChild(StandingNotice)
        assert notice is not None
        second.waits(lambda: bool(notice.text()))
        second.presses(notice, "Undo")
        assert second.cards.confirm.isVisible()
        second.presses(second.cards.confirm, "Undo the run")
        second.waits(lambda: state_of(second) is RunState.UNDONE)
        second.waits(lambda: not second.window.status.duties.text())


def test_that_the_status_line_releases_an_obligation_of_a_run_that_rests(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, world: World
) -> None:
    with steering_window(qtbot, qapp, tmp_path, world) as first:
        first.runs_to_the_question()
    with steering_window(qtbot, qapp, tmp_path, world) as second:
        second.waits(lambda: bool(second.window.status.duties.text()))
        qtbot.mouseClick(second.window.status.duties.release, Qt.MouseButton.LeftButton)
        second.waits(lambda: not second.window.status.duties.text())


def test_that_a_report_is_saved_where_the_person_says(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.runs_to_the_question()
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: state_of(person) is RunState.DONE)
    chosen = tmp_path / "run"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(chosen), ""))
    person.presses(person.wizard, "Save as Markdown")
    person.waits((tmp_path / "run.md").exists)
    assert "desync-for-backup" in (tmp_path / "run.md").read_text(encoding="utf-8")
    person.waits(lambda: "run.md" in person.window.messages.text())


class Strays(QObject):
    """Notes every widget that shows itself as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


def test_that_no_part_of_a_page_is_shown_as_a_window_before_it_has_its_place(
    person: Person, qapp: QApplication
) -> None:
    """Such a window flashes and takes the keyboard away from the field that is typed in."""
    strays = Strays()
    qapp.installEventFilter(strays)
    person.runs_to_the_question()
    person.presses(person.wizard.question, "Yes, continue")
    person.waits(lambda: state_of(person) is RunState.DONE)
    person.presses(person.wizard, "Close")
    qapp.removeEventFilter(strays)
    assert strays.seen == []


def test_that_a_person_without_a_mouse_gets_from_the_cards_to_a_running_run(person: Person, qtbot: QtBot) -> None:
    wizard = person.wizard
    person.window.activateWindow()
    person.waits(person.window.isActiveWindow)
    QTest.keyClick(person.window, Qt.Key.Key_3, Qt.KeyboardModifier.AltModifier)
    assert person.window.page() == "procedures"
    person.cards.focus_first()
    for _ in range(20):
        if "flow control" in focused().accessibleName():
            break
        QTest.keyClick(focused(), Qt.Key.Key_Tab)
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    person.waits(lambda: bool(wizard.stages.form.rows))
    person.waits(lambda: wizard.isAncestorOf(QApplication.focusWidget()))
    person.types(wizard, "Check")
    person.waits(wizard.stages.checklist.go_on.hasFocus)
    QTest.keyClick(wizard.stages.checklist.go_on, Qt.Key.Key_Space)
    person.waits(lambda: bool(wizard.stages.steps.rows))
    person.types(wizard, "Approve and start")
    person.types(wizard.question, "Yes, continue")
    person.waits(lambda: state_of(person) is RunState.DONE)


# -- what is read of a run on a worker, while its engine goes on ------------------------------------------------------


def leaves_it_at_the_question(person: Person) -> RunView:
    """Return how the run was shown last."""
    shown: list[RunView] = []
    person.steering.runs.run_shown.connect(shown.append)
    person.runs_to_the_question()
    person.wizard.closed.emit()
    person.waits(lambda: not person.steering.runs.busy())
    return shown[-1]


def test_that_an_old_reading_of_a_run_that_goes_on_takes_nothing_back(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = replace(leaves_it_at_the_question(person), state=RunState.RUNNING, question=None)
    monkeypatch.setattr(person.door.service, "view", lambda _run_id: old)
    told: list[RunView] = []
    person.steering.runs.view("1", told.append)
    person.waits(lambda: bool(told))
    assert told[0].question is not None


def test_that_a_reading_that_the_end_of_a_run_overtook_is_made_anew(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = leaves_it_at_the_question(person)
    service, began, gate = person.door.service, threading.Event(), threading.Event()
    assert service is not None
    view = service.view

    def read(run_id: str) -> RunView:
        if began.is_set():
            return view(run_id)
        began.set()
        gate.wait(10)
        return asked

    monkeypatch.setattr(service, "view", read)
    person.steering.show_run("1")
    person.waits(began.is_set)
    assert asked.question is not None
    person.steering.runs.answer("1", "yes", asked.question)
    person.waits(lambda: not person.steering.runs.driven)
    gate.set()
    person.waits(lambda: state_of(person) is RunState.DONE)
