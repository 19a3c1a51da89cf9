"""The head of the wizard: what, which run, since when, and what a person may do to the run now."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.run_model import RESTS_AT, RunState, RunView
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ElidedLabel
from widgets.common.controls.plain import set_tip
from widgets.common.controls.wrap_row import WrapRow, turn_box
from widgets.common.look.fonts import BASE, px
from widgets.common.look.text import MIDDLE
from widgets.common.look.theme import mono_font, theme_holder
from widgets.procedures.blocks import put, text_label
from widgets.procedures.run.consequences import pause_words
from widgets.procedures.words import OVER, current_step, interrupted_words, moment_words, run_words

_BREAKABLE = frozenset({RunState.RUNNING, RunState.WAITING})
_UNDOABLE = frozenset({RunState.RUNNING, RunState.PAUSED, RunState.WAITING, RunState.FAILED, RunState.UNDO_FAILED})
_LEAVABLE = frozenset(
    {RunState.NOT_STARTED, RunState.PAUSED, RunState.WAITING, RunState.FAILED, RunState.UNDO_FAILED, RunState.RUNNING}
)
_LEAST_TITLE = 180


class RunHead(QWidget):
    """Signals: pause_wanted, go_on_wanted, cancel_pressed, undo_pressed, leave_pressed, closed."""

    pause_wanted = Signal()
    go_on_wanted = Signal()
    cancel_pressed = Signal()
    undo_pressed = Signal()
    leave_pressed = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._asked_to_pause: tuple[str, int] | None = None
        self._view: RunView | None = None
        self._now = 0.0
        self.title = text_label("", "title")
        self.name = ElidedLabel("", "second", Qt.TextElideMode.ElideRight)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.sentence = text_label("", "second")
        self.pause = button(tr("&Pause after this step"), on=self._pause)
        self.go_on = button(tr("&Continue"), "primary", on=self.go_on_wanted.emit)
        self.cancel = button(tr("Ca&ncel"), on=self.cancel_pressed.emit)
        self.undo = button(tr("&Undo…"), on=self.undo_pressed.emit)
        self.leave = button(tr("&Leave as it is…"), on=self.leave_pressed.emit)
        self.close_button = button(tr("Close"), on=self.closed.emit, hint=tr("Back to the procedures (Esc)"))
        buttons = (self.go_on, self.pause, self.cancel, self.undo, self.leave)
        row = self._row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.title, 1)
        self._buttons = WrapRow(*buttons, self.close_button)
        row.addWidget(self._buttons)
        for made in buttons:
            made.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.name)
        column.addWidget(self.sentence)

    def _fit_text(self) -> None:
        self.name.setFont(mono_font(BASE - 1))

    def _turn_row(self) -> None:
        """Put the buttons below the title where they leave it no room."""
        beside = self._buttons.sizeHint().width() + px(_LEAST_TITLE) <= self.width()
        turn_box(self._row, beside=beside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the title its room."""
        super().resizeEvent(event)
        self._turn_row()

    def event(self, event: QEvent) -> bool:
        """Other buttons may need another place."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._turn_row()
        return super().event(event)

    def show_about(self, title: str, name: str, sentence: str) -> None:
        """Show a procedure that has no run yet."""
        put(self.title, title)
        self.name.setText(name)
        put(self.sentence, sentence)

    def forget_run(self) -> None:
        """Take the run's buttons away."""
        self._view = self._asked_to_pause = None
        for made in (self.go_on, self.pause, self.cancel, self.undo, self.leave):
            made.hide()

    def show_run(self, view: RunView, now: float) -> None:
        """Show a run and what may be done to it now. Cheap while nothing changed."""
        if view.plan is not (self._view.plan if self._view else None):
            put(self.title, tr(view.plan.title))
            self.name.setText(f"{view.plan.procedure} {MIDDLE} " + tr("run {number}", number=view.run_id))
        put(self.sentence, " ".join(filter(None, self._sentences(view, now))))
        self._view, self._now = view, now
        at = current_step(view)
        over, live = view.state in OVER, view.live
        ours = not view.elsewhere
        if self._asked_to_pause not in {None, (view.run_id, at)} or view.state is not RunState.RUNNING:
            self._asked_to_pause = None
        self.pause.setVisible(live and view.state is RunState.RUNNING)
        self.pause.setEnabled(self._asked_to_pause is None)
        self.pause.setText(tr("Pausing after this step…") if self._asked_to_pause else tr("&Pause after this step"))
        self.go_on.setVisible(ours and not over and (view.state is RunState.PAUSED or not live))
        self.go_on.setText(tr("&Continue") if live else tr("&Resume"))
        self.cancel.setVisible(live and view.state in _BREAKABLE)
        hindrance = pause_words(view, at)
        self.cancel.setEnabled(not hindrance)
        set_tip(self.cancel, hindrance)
        # The question has these itself then: twice on a page one letter only moves the focus between them.
        asked = view.question is not None and view.question.topic in {"breach", *RESTS_AT}
        self.undo.setVisible(ours and view.state in _UNDOABLE and not view.no_return and not asked)
        self.leave.setVisible(ours and not live and view.state in _LEAVABLE and not asked)

    def _sentences(self, view: RunView, now: float) -> tuple[str, ...]:
        begun = tr("Started {moment}.", moment=moment_words(view.started, now)) if view.started is not None else ""
        if view.state in {RunState.RUNNING, RunState.NOT_STARTED} and view.live:
            return (interrupted_words(view, now) or tr(view.plan.summary), begun)
        if view.elsewhere:
            there = tr(
                "Another program on this workstation, a terminal or a second window, drives the run: control it there."
            )
            return (tr("State: {state}.", state=run_words(view)), there, interrupted_words(view, now), begun)
        state = tr("State: {state}.", state=run_words(view))
        return (state, interrupted_words(view, now), _said(view), begun)

    def _pause(self) -> None:
        if self._view is not None:
            self._asked_to_pause = (self._view.run_id, current_step(self._view))
            self.show_run(self._view, self._now)
        self.pause_wanted.emit()


def _said(view: RunView) -> str:
    """Return the run's sentence; none where it is the question's own, which stands right below."""
    if view.question is not None and view.sentence == view.question.ask.question:
        return ""
    return tr(view.sentence) if view.sentence else tr(view.plan.summary)
