"""What a start of the window says at once: which run was broken off, exactly where it stands, how to go on or back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.run_model import REFUSED, Binding, RunState, RunView, StepState
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.look.text import format_moment, still_on
from widgets.procedures.blocks import TintedFrame, emptied, text_label
from widgets.procedures.words import run_words

_SETTLED = frozenset({StepState.DONE, StepState.ALREADY})
_MOST = 3


class StandingNotice(TintedFrame):
    """Signals: `resume_wanted(run)`, `undo_wanted(run)`, `shown_wanted(run)`. Hidden while nothing is unfinished."""

    resume_wanted = Signal(str)
    undo_wanted = Signal(str)
    shown_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(Health.WARN)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self._views: tuple[RunView, ...] = ()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 12, 10)
        row.setSpacing(12)
        row.addWidget(HealthMark(Health.WARN, 13), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(self._column, 1)
        self.later = button(tr("Later"), on=self.hide, hint=tr("It stays on the Procedures page"))
        row.addWidget(self.later, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_runs(self, views: Sequence[RunView]) -> None:
        """Show these unfinished runs; none hides the notice. What was put off stays away until it changes."""
        wanted = tuple(views)[:_MOST]
        if wanted == self._views:
            return
        self._views = wanted
        emptied(self._column)
        for view in wanted:
            self._column.addWidget(self._row(view))
        self.setVisible(bool(wanted))
        self.setAccessibleName(" ".join(where_it_stands(view) for view in wanted))

    def text(self) -> str:
        """Return the sentences shown, '' while hidden."""
        return "\n".join(where_it_stands(view) for view in self._views) if not self.isHidden() else ""

    def _row(self, view: RunView) -> QWidget:
        place = QWidget()
        column = QVBoxLayout(place)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(text_label(where_it_stands(view)))
        foot = QHBoxLayout()
        foot.setSpacing(8)
        changed = view.binding in REFUSED
        undoable = view.state is not RunState.NOT_STARTED and not changed and not view.no_return
        resumable = view.state is not RunState.UNDO_FAILED and not changed
        ways: list[tuple[bool, str, str, Callable[[], None]]] = [
            (resumable, tr("Resume"), "primary", lambda: self.resume_wanted.emit(view.run_id)),
            (undoable, tr("Undo…"), "", lambda: self.undo_wanted.emit(view.run_id)),
            (True, tr("Show run {run}", run=view.run_id), "", lambda: self.shown_wanted.emit(view.run_id)),
        ]
        for open_now, text, kind, act in ways:
            if not open_now:
                continue
            made = button(text, kind, on=act)
            made.setAccessibleName(f"{text} {view.run_id}")
            foot.addWidget(made)
        foot.addStretch(1)
        column.addLayout(foot)
        return place


def where_it_stands(view: RunView) -> str:
    """Return the sentences: what, since when, how far, what is next, what is switched on."""
    done = sum(step.state in _SETTLED for step in view.steps)
    at = next((step for step in view.steps if step.state not in _SETTLED), None)
    parts = [
        tr(
            "Run {run} is not finished ({state}): {title}.",
            run=view.run_id,
            state=run_words(view),
            title=tr(view.plan.title),
        ),
        tr("{done} of {total} steps are done", done=done, total=len(view.steps))
        + (tr("; next: {title}.", title=tr(at.step.title)) if at is not None else "."),
    ]
    if view.binding is not Binding.BOUND:
        parts.append(tr(view.sentence))
    if view.started is not None:
        parts.append(tr("Started {moment}.", moment=format_moment(view.started)[:16]))
    for since, what in view.interrupted:
        parts.append(tr("Since {moment} {what}.", moment=format_moment(since)[:16], what=tr(what)))
    parts += [still_on(tr(duty.obligation.sentence), duty.seen, duty.seen_off) for duty in view.obligations]
    return " ".join(parts)
