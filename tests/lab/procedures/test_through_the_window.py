"""A procedure from a right click on a node to its proof, through the window the program opens, on real servers.

What a person does is done with mouse and keyboard; what the cluster then is, is asked of the servers.
"""

from __future__ import annotations

import gc
import os
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMenu, QPushButton, QTreeView, QWidget
from pytestqt.exceptions import TimeoutError as QtTimeoutError
from pytestqt.qtbot import QtBot

from app.error_hooks import ErrorHooks
from app.main_window import MainWindow
from app.session import WindowSession
from app.steering_window import Steering
from app.window_run import Play, WindowStart
from services.procedures.run_model import RunState
from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.procedures.steering import Console
from tests.lab.procedures.whole import Whole
from widgets.frame.armed_frame import ArmedFrame
from widgets.procedures.standing_notice import StandingNotice
from widgets.procedures.wizard import WizardPage

pytestmark = pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus

LIVE_S = 40.0
"""The window's own loading and a gathering of every host, on two shared cores."""
GALLERY = os.environ.get("PILOTHOUSE_LAB_PICTURES", "")


class _Hooks(ErrorHooks):
    """pytest-qt hears Qt's messages already, and fails the test for them."""

    def install_qt(self) -> None:
        """Leave the message handler to pytest-qt."""


@dataclass
class Person:
    """Somebody in front of the window."""

    qtbot: QtBot
    window: MainWindow
    session: WindowSession
    start: WindowStart
    badges: list[str] = field(default_factory=list)

    @property
    def steering(self) -> Steering:
        assert self.session.steering is not None
        return self.session.steering

    @property
    def wizard(self) -> WizardPage:
        found = self.window.findChild(WizardPage)
        assert found is not None
        return found

    def waits(self, until: object, limit_s: float = LIVE_S) -> None:
        """Wait, noting what the badge says meanwhile."""

        def look() -> bool:
            badge = self.window.status.badge()
            if not self.badges or self.badges[-1] != badge:
                self.badges.append(badge)
            assert callable(until)
            return bool(until())

        try:
            self.qtbot.waitUntil(look, timeout=int(limit_s * 1000))
        except QtTimeoutError:
            self.shoots("stuck")
            raise AssertionError(words(self.window)) from None

    def presses(self, inside: QWidget, text: str) -> None:
        """Click the button whose words begin so, as soon as it can be pressed."""

        def found() -> QPushButton | None:
            fitting = [b for b in inside.findChildren(QPushButton) if b.isVisible() and plain(b).startswith(text)]
            return next((b for b in fitting if b.isEnabled()), None)

        self.waits(lambda: found() is not None)
        button = found()
        assert button is not None
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def right_clicks(self, host: str) -> QMenu:
        """Open the menu of a node's card."""
        canvas = self.window.topology.canvas
        node_id = self.node_id(host)
        middle = canvas.centre_of(node_id)
        assert middle is not None
        at = middle.toPoint()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, canvas.viewport().mapToGlobal(at))
        QApplication.sendEvent(canvas.viewport(), event)
        self.waits(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    def chooses(self, menu: QMenu, text: str) -> None:
        """Click an entry of a menu."""
        action = next(a for a in menu.actions() if text in a.text())
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())

    def node_id(self, host: str) -> str:
        assert self.session.controller is not None
        nodes = (n for c in self.session.controller.estate.clusters for n in c.nodes)
        return next(n.node_id for n in nodes if n.host == host)

    def sees_synced(self, hosts: tuple[str, ...]) -> None:
        """Wait until the drawing has these nodes Synced and the procedures are known."""

        def so() -> bool:
            assert self.session.controller is not None
            nodes = [n for c in self.session.controller.estate.clusters for n in c.nodes]
            states = {n.host: n.state for n in nodes}
            return all(states.get(h) == "Synced" for h in hosts) and self.steering.runs.is_open

        self.waits(so)
        self.clicks_in_the_tree(hosts[0])

    def clicks_in_the_tree(self, host: str) -> None:
        """Choose a node, and with it its cluster."""
        rows = self.window.tree.findChild(QTreeView)
        assert rows is not None
        model = rows.model()
        found = model.match(model.index(0, 0), Qt.ItemDataRole.DisplayRole, host, -1, Qt.MatchFlag.MatchRecursive)
        self.qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualRect(found[0]).center())
        self.waits(lambda: self.window.topology.canvas.centre_of(self.node_id(host)) is not None)

    def shoots(self, name: str) -> None:
        """Look for secrets in what a picture would show; keep it where the environment names a folder for it."""
        shown = words(self.window)
        assert [what for what, secret in vault.load().items() if secret in shown] == []
        if GALLERY:
            QTest.qWait(300)
            size = f"{self.window.width()}x{self.window.height()}"
            self.window.grab().save(str(Path(GALLERY) / f"{name}-{size}.png"))

    def leaves(self) -> None:
        """Stop everything, as the program does."""
        self.start.stop()
        self.window.close()
        self.window.deleteLater()
        QApplication.processEvents()


def plain(button: QPushButton) -> str:
    """Return a button's words without the mark of its key."""
    return button.text().replace("&", "")


def words(widget: QWidget) -> str:
    """Return every label and button on screen."""
    shown = [w.text() for w in widget.findChildren(QLabel) if w.isVisible() and w.text()]
    return "\n".join([*shown, *(plain(b) for b in widget.findChildren(QPushButton) if b.isVisible())])


def opens(qtbot: QtBot, console: Console) -> Person:
    """Start the window as the program starts it."""
    gc.collect()  # what the last window left must not be collected on a thread of this one
    window = MainWindow(bare=True)
    window.resize(1440, 900)
    options = Namespace(inventory=console.inventory, data=console.data, theme=os.environ.get("PILOTHOUSE_LAB_THEME"))
    options.theme = options.theme or "light"
    start = WindowStart(options, _Hooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    person = Person(qtbot, window, start.at_once(), start)
    person.waits(lambda: person.session.steering is not None)
    return person


@pytest.fixture
def person(qtbot: QtBot, qapp: QApplication, console: Console) -> Iterator[Person]:
    """A window on the steer estate."""
    del qapp
    made = opens(qtbot, console)
    yield made
    made.leaves()


def desynced(estate: Estate, host: str) -> bool:
    return bool(estate.sql(host, "SELECT @@GLOBAL.wsrep_desync")[0][0] == "1")


def begins_desync(person: Person, host: str) -> None:
    """Right click, choose, check, read the plan, rehearse, approve; return when the run asks for the backup."""
    person.sees_synced(("s1", "s2", "s3"))
    menu = person.right_clicks(host)
    person.shoots("menu")
    person.chooses(menu, "Take a node out of flow control")
    assert person.window.page() == "procedures"
    person.shoots("reading")
    person.waits(lambda: "node" in person.wizard.stages.form.rows)
    assert person.wizard.stages.form.rows["node"].text() == host
    person.shoots("form")
    person.presses(person.wizard, "Check")
    person.waits(lambda: bool(person.wizard.stages.checklist.checks()))
    person.shoots("checks")
    person.presses(person.wizard, "Show plan")
    person.waits(lambda: bool(person.wizard.stages.steps.rows))
    person.shoots("plan")
    person.presses(person.wizard, "Rehearse")
    person.waits(person.wizard.stages.approval.rehearse.isEnabled)
    person.shoots("rehearsed")
    assert person.window.status.badge() == "READ ONLY"
    person.presses(person.wizard, "Approve and start")
    person.waits(lambda: person.wizard.question.question() is not None)


def test_that_a_node_is_desynced_for_a_backup_and_brought_back_from_a_right_click_to_the_report(
    steer: Estate, console: Console, whole: Whole, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins_desync(person, "s2")
    person.shoots("waiting")
    assert desynced(steer, "s2")
    assert person.window.status.badge().startswith("ARMED run 1 · ")
    frame = person.window.findChild(ArmedFrame)
    assert frame is not None
    assert frame.isVisible()
    person.waits(lambda: "s2 desynced" in person.window.status.duties.text())
    person.presses(person.wizard.question, "Yes, go on")
    person.waits(lambda: (run := person.wizard.run()) is not None and run.state is RunState.DONE, 120.0)
    person.waits(lambda: person.window.status.badge() == "READ ONLY" and not person.window.status.duties.text())
    assert [badge.split(" · ")[0] for badge in person.badges] == ["READ ONLY", "ARMED run 1", "READ ONLY"]
    assert not frame.isVisible()
    assert not desynced(steer, "s2")
    person.shoots("done")
    saved = tmp_path / "report.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(saved), ""))
    person.presses(person.wizard, "Save as HTML")
    person.waits(saved.exists)
    report = saved.read_text(encoding="utf-8")
    assert "desync-for-backup" in report
    assert [what for what, secret in vault.load().items() if secret in report] == []
    console.assert_ended(RunState.DONE)
    _tells_it_in_the_journal(person)
    whole.assert_as_before()


def _tells_it_in_the_journal(person: Person) -> None:
    """Beginning, changing steps and end stand on the time axis; a double click leads back to the run."""
    assert person.session.controller is not None
    person.waits(lambda: sum(e.kind == "run" for e in person.session.controller.events) == 2)
    steps = [e.text for e in person.session.controller.events if e.kind == "step"]
    assert [text.partition(":")[0] for text in steps] == ["Run 1, step 1", "Run 1, step 2", "Run 1, step 4"]
    person.presses(person.window.top, "Journal")
    person.shoots("journal")


def test_that_the_next_start_says_where_a_suspended_run_stands_and_resumes_it(
    qtbot: QtBot, qapp: QApplication, steer: Estate, console: Console, whole: Whole
) -> None:
    del qapp
    first = opens(qtbot, console)
    begins_desync(first, "s3")
    first.window.close()
    assert first.window.isVisible()
    first.shoots("closing")
    first.presses(first.steering.close_question.strip, "Suspend it and close")
    first.waits(lambda: not first.window.isVisible())
    first.leaves()
    assert desynced(steer, "s3")
    second = opens(qtbot, console)
    try:
        notice = second.window.findChild(StandingNotice)
        assert notice is not None
        second.waits(lambda: "Run 1 is not over" in notice.text())
        assert "Still on: s3 desynced." in notice.text()
        assert "s3 desynced" in second.window.status.duties.text()
        second.shoots("standing")
        second.presses(notice, "Resume")
        second.waits(lambda: second.wizard.question.question() is not None)
        second.presses(second.wizard.question, "Yes, go on")
        second.waits(lambda: (run := second.wizard.run()) is not None and run.state is RunState.DONE, 120.0)
        second.waits(lambda: not second.window.status.duties.text())
    finally:
        second.leaves()
    console.assert_ended(RunState.DONE)
    assert not desynced(steer, "s3")
    whole.assert_as_before()
