"""Somebody in front of the window the program opens: mouse and keyboard in, what is on screen out."""

from __future__ import annotations

import gc
import os
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTreeView,
    QWidget,
)
from pytestqt.exceptions import TimeoutError as QtTimeoutError
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from app.window.session import WindowSession
from app.window.steering.window import Steering
from app.window.window_run import Play, WindowStart
from services.procedures.plan.run_model import Question, RunState
from tests.lab.estate import vault
from tests.lab.procedures.console.steering import Console
from tests.lab.window_hooks import TestedHooks
from widgets.common.commands.palette import CommandPalette
from widgets.frame.armed_frame import ArmedFrame
from widgets.procedures.forms.inputs_form import DEBOUNCE_MS
from widgets.procedures.page import ProceduresPage
from widgets.procedures.run.wizard import WizardPage

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # read when the application is made
LIVE_S = 90.0
"""The window's own loading and a gathering of every host, on two shared cores."""
GALLERY = os.environ.get("PILOTHOUSE_LAB_PICTURES", "")
_BROKEN = frozenset({RunState.FAILED, RunState.UNDONE, RunState.UNDO_FAILED, RunState.LEFT})
_LEFT = Qt.MouseButton.LeftButton


@dataclass
class Person:
    """What the badge and the status line's obligations said while it waited is kept, each word once in a row."""

    qtbot: QtBot
    window: MainWindow
    session: WindowSession
    start: WindowStart
    story: str
    run_id: int = 1  # under way, or begun next
    badges: list[str] = field(default_factory=list)
    duties: list[str] = field(default_factory=list)

    @property
    def steering(self) -> Steering:
        assert self.session.steering is not None
        return self.session.steering

    @property
    def wizard(self) -> WizardPage:
        found = self.window.findChild(WizardPage)
        assert found is not None
        return found

    @property
    def frame(self) -> ArmedFrame:
        found = self.window.findChild(ArmedFrame)
        assert found is not None
        return found

    # -- looking ------------------------------------------------------------------------------------------------------

    def waits(self, until: Callable[[], object], limit_s: float = LIVE_S) -> None:
        """Wait, noting what badge and obligations say meanwhile."""

        def look() -> bool:
            status = self.window.status
            for seen, word in ((self.badges, status.badge()), (self.duties, status.duties.text())):
                if not seen or seen[-1] != word:
                    seen.append(word)
            return bool(until())

        try:
            self.qtbot.waitUntil(look, timeout=int(limit_s * 1000))
        except QtTimeoutError:
            self.shoots("stuck")
            raise AssertionError(words(self.window)) from None

    def sees_synced(self, hosts: tuple[str, ...]) -> None:
        """Wait until the drawing has these nodes Synced and the procedures are known."""

        def so() -> bool:
            assert self.session.controller is not None
            states = {n.host: n.state for c in self.session.controller.estate.clusters for n in c.nodes}
            return all(states.get(h) == "Synced" for h in hosts) and self.steering.runs.is_open

        self.waits(so)
        self.clicks_in_the_tree(hosts[0])

    def state(self) -> RunState | None:
        """Return where the run shown stands."""
        run = self.wizard.run()
        return run.state if run is not None else None

    def is_asked(self, text: str, limit_s: float = LIVE_S) -> Question:
        """Wait for a question with `text` in it."""

        def asked() -> Question | None:
            question = self.wizard.question.question()
            return question if question is not None and text in question.ask.question else None

        self.waits(lambda: asked() is not None or self.is_stopped(), limit_s)
        question = asked()
        assert question is not None, words(self.window)
        return question

    def is_stopped(self) -> bool:
        """Return whether the run shown has failed, or asks what to do after a failure."""
        question = self.wizard.question.question()
        asked = question.topic if question is not None else ""
        return self.state() in _BROKEN or asked in {"failed", "breach", "doubt", "unknown"}

    def sees_it_armed(self) -> None:
        """Wait for the badge and the frame of a window that changes servers."""
        self.waits(lambda: self.window.status.badge().startswith(f"ARMED run {self.run_id} · ") or self.is_stopped())
        assert self.frame.isVisible(), words(self.window)

    def sees_a_step(self, step_id: str, limit_s: float = 200.0) -> None:
        """Wait until a step whose id begins so has been at work for three seconds, or is over; keep a picture."""

        def at_work() -> bool:
            run = self.wizard.run()
            found = [s for s in run.steps if s.step.step_id.startswith(step_id)] if run is not None else []
            done = self.state() in _BROKEN or any(s.ended is not None for s in found)
            return done or any(s.started is not None and time.time() - s.started > 3.0 for s in found)

        self.waits(at_work, limit_s)
        self.shoots("midway")

    def sees_it_done(self, limit_s: float = 240.0) -> None:
        """Wait for the end of the run; then the window can change nothing any more and owes nothing."""
        self.waits(lambda: self.state() is RunState.DONE or self.is_stopped(), limit_s)
        assert self.state() is RunState.DONE, words(self.window)
        status = self.window.status
        self.waits(lambda: status.badge() == "READ ONLY" and not status.duties.text())
        told = [word for word, _ in groupby(badge.split(" · ")[0] for badge in self.badges)]
        assert told == ["READ ONLY", f"ARMED run {self.run_id}", "READ ONLY"]
        assert not self.frame.isVisible()
        self.shoots("done")
        self.run_id, self.badges = self.run_id + 1, []

    def looks_in_the_journal(self) -> list[str]:
        """Open the journal; return the sentences of the run's steps on the time axis, between its begin and end."""
        controller = self.session.controller
        assert controller is not None
        self.waits(lambda: sum(event.kind == "run" for event in controller.events) == 2)
        self.presses(self.window.top, "Journal")
        self.shoots("journal")
        return [event.text for event in controller.events if event.kind == "step"]

    def shoots(self, name: str) -> None:
        """Look for secrets in what a picture would show; keep it where the environment names a folder for it."""
        shown = "\n".join((words(self.window), *(line for w in self._wordings() for line in w)))
        assert [what for what, secret in vault.load().items() if secret in shown] == []
        if GALLERY:
            QTest.qWait(300)
            focused = self.window.focusWidget()
            if focused is not None:
                focused.clearFocus()  # as in the program's own pictures
            size = f"{self.window.width()}x{self.window.height()}"
            self.window.grab().save(str(Path(GALLERY) / f"{self.story}-{name}-{size}.png"))
            if focused is not None:
                focused.setFocus()

    def _wordings(self) -> tuple[tuple[str, ...], ...]:
        """Every line of every command, folded ones too."""
        wizard = self.window.findChild(WizardPage)
        return tuple(wizard.stages.steps.wording.values()) if wizard is not None else ()

    # -- mouse and keys -----------------------------------------------------------------------------------------------

    def presses(self, inside: QWidget, text: str) -> None:
        """Click the button whose words begin so, as soon as it can be pressed."""

        def found() -> QPushButton | None:
            buttons = (b for b in inside.findChildren(QPushButton) if b.isVisible() and b.isEnabled())
            return next((b for b in buttons if plain(b).startswith(text)), None)

        self.waits(lambda: found() is not None)
        button = found()
        assert button is not None
        self.qtbot.mouseClick(button, _LEFT)

    def types(self, line: QLineEdit, text: str) -> None:
        """Write a text over what stands in a line."""
        self.qtbot.mouseClick(line, _LEFT)
        self.qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        self.qtbot.keyClicks(line, text)
        assert line.text() == text

    def right_clicks(self, host: str) -> QMenu:
        """Open the menu of a node's card."""
        canvas = self.window.topology.canvas
        middle = canvas.centre_of(self.node_id(host))
        assert middle is not None
        at, port = middle.toPoint(), canvas.viewport()
        QApplication.sendEvent(port, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, port.mapToGlobal(at)))
        self.waits(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return menu

    def chooses(self, menu: QMenu, text: str) -> None:
        """Click an entry of a menu."""
        action = next(a for a in menu.actions() if text in a.text())
        QTest.mouseClick(menu, _LEFT, pos=menu.actionGeometry(action).center())

    def clicks_in_the_tree(self, host: str) -> None:
        """Choose a node, and with it its cluster."""
        rows = self.window.tree.findChild(QTreeView)
        assert rows is not None
        model, how = rows.model(), Qt.MatchFlag.MatchRecursive
        found = model.match(model.index(0, 0), Qt.ItemDataRole.DisplayRole, host, -1, how)
        self.qtbot.mouseClick(rows.viewport(), _LEFT, pos=rows.visualRect(found[0]).center())
        self.waits(lambda: self.window.topology.canvas.centre_of(self.node_id(host)) is not None)

    def node_id(self, host: str) -> str:
        assert self.session.controller is not None
        return next(n.node_id for c in self.session.controller.estate.clusters for n in c.nodes if n.host == host)

    # -- choosing a procedure -----------------------------------------------------------------------------------------

    def begins_at_the_cards(self, name: str) -> None:
        """Go to the procedures, begin the one of this name."""
        self.presses(self.window.top, "Procedures")
        page = self.window.findChild(ProceduresPage)
        assert page is not None
        self.waits(lambda: name in {card.about.name for card in page.cards})
        self.shoots("cards")
        self.waits(lambda: name in {card.about.name for card in page.cards if card.can_begin()})
        card = next(card for card in page.cards if card.about.name == name)
        self.qtbot.mouseClick(card.open_button, _LEFT)
        self.reads_the_form()

    def begins_in_the_palette(self, typed: str, title: str, detail: str) -> None:
        """Ctrl+K, some letters, Enter: the best fit must be what is meant."""
        QTest.keyClick(self.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
        palette = self.window.findChild(CommandPalette)
        assert palette is not None
        self.waits(palette.isVisible)
        line = palette.findChild(QLineEdit)
        assert line is not None
        self.qtbot.keyClicks(line, typed)
        self.shoots("palette")
        best = palette.current()
        assert best is not None and (best.title, best.detail) == (title, detail)  # noqa: PT018 - one thought
        self.qtbot.keyClick(line, Qt.Key.Key_Return)
        self.reads_the_form()

    def reads_the_form(self) -> None:
        """Wait until the questions can be seen: they stand when every host was read, and are shown a moment later."""
        assert self.window.page() == "procedures"
        self.shoots("reading")
        self.waits(lambda: any(row.isVisible() for row in self.wizard.stages.form.rows.values()))

    # -- answering, judging, approving --------------------------------------------------------------------------------

    def answer(self, name: str) -> str:
        """Return what the form has for a question now."""
        return self.wizard.stages.form.rows[name].text()

    def fills_in(self, inputs: Mapping[str, object]) -> None:
        """Answer the questions named, the folded ones too; wait until the answers are judged."""
        form = self.wizard.stages.form
        for name, value in inputs.items():
            row, text = form.rows[name], str(value)
            if row.text() == text and not isinstance(row.focus_target(), QComboBox):
                continue  # a choice is made by hand: what is offered may be another one a moment later
            if not row.isVisible():
                self.presses(form, "More")
            target = row.focus_target()
            if isinstance(target, QComboBox):
                self._picks(target, text)
            elif isinstance(target, QCheckBox):
                self._ticks(row, {text} if row.field.kind == "flag" else {part.strip() for part in text.split(",")})
            else:
                assert isinstance(target, QLineEdit)
                self.types(target, text)
            assert form.rows[name].text() == text, name
        QTest.qWait(2 * DEBOUNCE_MS)
        self.waits(lambda: not self.steering.runs.busy())
        self.shoots("form")
        assert {name: self.answer(name) for name in inputs} == {name: str(value) for name, value in inputs.items()}

    def _picks(self, box: QComboBox, wanted: str) -> None:
        """Walk to an entry with the keys."""
        self.qtbot.keyClick(box, Qt.Key.Key_Home)
        for _ in range(box.findData(wanted)):
            self.qtbot.keyClick(box, Qt.Key.Key_Down)

    def _ticks(self, row: QWidget, wanted: set[str]) -> None:
        """Tick these boxes and no other; the only box of a yes or no is called 'yes'."""
        for box in row.findChildren(QCheckBox):
            if box.isChecked() != (box.text().partition("  –  ")[0] in wanted):
                self.qtbot.mouseClick(box, _LEFT, pos=QPoint(8, box.height() // 2))

    def answers_and_begins(self, inputs: Mapping[str, object]) -> None:
        """From the questions to the running run, where no check stands in the way."""
        self.fills_in(inputs)
        self.checks()
        assert self.wizard.stages.checklist.standing_blocks() == ()
        self.reads_the_plan()
        self.rehearses()
        self.approves()

    def checks(self) -> None:
        """Ask for the preflight and read it."""
        self.presses(self.wizard, "Check")
        self.waits(lambda: bool(self.wizard.stages.checklist.checks()))
        self.shoots("checks")

    def reads_the_plan(self) -> None:
        """Ask for the plan and read it; nothing has been armed for it."""
        self.presses(self.wizard, "Show plan")
        self.waits(lambda: bool(self.wizard.stages.steps.rows))
        self.shoots("plan")
        assert self.window.status.badge() == "READ ONLY"

    def rehearses(self) -> None:
        """Have every read made; nothing has been armed for that either."""
        approval = self.wizard.stages.approval
        self.presses(self.wizard, "Rehearse")
        self.waits(approval.rehearse.isEnabled)
        self.shoots("rehearsed")
        assert "rehearsed: nothing would stop it" in self.wizard.stages.go.head.texts()[0], words(self.window)
        assert self.window.status.badge() == "READ ONLY"

    def overrides(self, code: str, reason: str) -> None:
        """Type the reason why a block is no hindrance here, into the line of the check that has one."""
        checklist = self.wizard.stages.checklist
        lines = [row.reason for row in checklist.rows if row.check.code == code and row.reason is not None]
        assert len(lines) == 1, "one reason for one code"
        self.types(lines[0], reason)
        self.shoots("overridden")

    def approves(self) -> None:
        """Approve what was shown; the window is armed from here on."""
        self.presses(self.wizard, "Approve and start")
        self.sees_it_armed()
        self.shoots("running")

    def approves_the_rest(self, limit_s: float = 240.0) -> None:
        """Wait until what was found has made the rest of the plan; approve it."""
        self.is_asked("The rest of the plan", limit_s)
        self.shoots("rest")
        self.presses(self.wizard.question, "Approve and continue")

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
    """Return everything on screen that is words: labels, buttons, lines, what painted parts tell a screen reader."""
    shown = [w for w in widget.findChildren(QWidget) if w.isVisible()]
    texts = [w.text() for w in shown if isinstance(w, QLabel | QLineEdit)]
    texts += [plain(w) for w in shown if isinstance(w, QPushButton)]
    told = (text for w in shown for text in (w.accessibleName(), w.accessibleDescription(), w.toolTip()))
    return "\n".join(dict.fromkeys(text for text in (*texts, *told) if text))


def opens(qtbot: QtBot, console: Console, story: str) -> Person:
    """Start the window as the program starts it; `story` begins the names of its pictures."""
    gc.collect()  # what the last window left must not be collected on a thread of this one
    window = MainWindow(bare=True)
    width, _, height = (os.environ.get("PILOTHOUSE_LAB_SIZE") or "1440x900").partition("x")
    window.resize(int(width), int(height))
    theme = os.environ.get("PILOTHOUSE_LAB_THEME") or "light"
    options = Namespace(inventory=console.inventory, data=console.data, theme=theme)
    start = WindowStart(options, TestedHooks(), window, Play(None, autoplay=False, start_s=None))
    window.show()
    window.activateWindow()
    person = Person(qtbot, window, start.at_once(), start, story)
    person.waits(lambda: person.session.steering is not None)
    return person


@contextmanager
def at_the_window(qtbot: QtBot, console: Console, story: str) -> Iterator[Person]:
    """A person in front of a window that is closed afterwards."""
    person = opens(qtbot, console, story)
    try:
        yield person
    finally:
        person.leaves()
