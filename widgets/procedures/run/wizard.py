"""One procedure from its questions to its report: a page that grows downwards, where what is done folds to one line.

Frozen values in, signals out. Every setter may be called at any time; `set_run` up to ten times a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from services.discovery.model import ClusterSnapshot
from services.i18n import tr
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Fault, Field
from services.procedures.plan.model import Plan
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RESTS_AT, RunState, RunView
from services.types import Health
from widgets.common.commands.shortcuts import PROCEDURE, act_of
from widgets.common.controls.boxes import hairline
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder
from widgets.common.messages import MessageBar
from widgets.procedures.run.beside import broken_rules, idle_words, over_since
from widgets.procedures.run.confirm_strip import ConfirmStrip
from widgets.procedures.run.consequences import cancel_sentences, leave_sentences, undo_sentences
from widgets.procedures.run.question import LEAVE, STOP, UNDO, QuestionBanner
from widgets.procedures.run.run_head import RunHead
from widgets.procedures.run.side import SidePanel
from widgets.procedures.run.stages import Stages
from widgets.procedures.run.way_back_box import WayBackBox
from widgets.procedures.values import Rehearsed
from widgets.procedures.words import OVER, asks_for_the_rest, current_step, driven

SIDE_WIDTH = 445
SIDE_FROM = 1100  # the page is narrower: the side would squeeze the plan
_WIDE_SIDE, _WIDE_FROM = 640, 2000
_LEAST_PLACE = 110
_TICK_MS = 1000
_SETTLE_MS = 150


class WizardPage(QFrame):
    """Signals are named for what a person wants; `closed` when the page is left."""

    inputs_changed = Signal(object)
    """dict[str, str]: the answers a person gave."""
    check_wanted = Signal()
    plan_wanted = Signal()
    rehearse_wanted = Signal()
    start_wanted = Signal(object, object)
    """tuple[Override, ...], dict[step id, text typed]."""
    pause_wanted = Signal()
    go_on_wanted = Signal()
    """Go on after a pause, or resume a run that no engine drives."""
    cancel_wanted = Signal()
    undo_wanted = Signal()
    leave_wanted = Signal(str, str)
    """Run id, reason."""
    answered = Signal(str, str, object)
    """Run id, answer, the Question that was shown with it."""
    report_wanted = Signal(str)
    """'html' or 'markdown'."""
    step_chosen = Signal(int)
    closed = Signal()

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._clock = clock
        self._view: RunView | None = None
        self._cancelling: int | None = None
        self.head, self.question, self.confirm = RunHead(), QuestionBanner(), ConfirmStrip()
        self.messages, self.stages, self.side, self.back = MessageBar(), Stages(), SidePanel(), WayBackBox()
        self._build()
        self._connect()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._count_on)
        self._show: Callable[[], None] | None = None
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLE_MS)
        self._settled.timeout.connect(self._let_go)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._show_again)
        wear(self)

    # -- making --------------------------------------------------------------------------------------------------
    def _build(self) -> None:
        inner = QFrame()
        inner.setProperty("kind", "canvas")
        column = QVBoxLayout(inner)
        column.setContentsMargins(20, 4, 20, 24)
        column.addWidget(self.stages)
        column.addStretch(1)
        self._inner = inner
        self._scroll = QScrollArea()
        self._scroll.setWidget(inner)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.viewport().setAutoFillBackground(False)
        self._scroll.viewport().installEventFilter(self)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        left = QVBoxLayout()
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(0)
        left.addWidget(self._pinned())
        left.addWidget(self._scroll, 1)
        left.addWidget(self.stages.next)
        self._side_line = hairline("vline")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(left, 1)
        row.addWidget(self._side_line)
        row.addWidget(self.side)
        self._place_side()

    def _fit_text(self) -> None:
        """Below a head that fills a small window there is still a place to read in: the page is scrolled to it."""
        self._scroll.setMinimumHeight(px(_LEAST_PLACE))

    def _pinned(self) -> QFrame:
        """What must be in reach however far a long plan is scrolled: the run's buttons, its question."""
        place = QFrame()
        column = QVBoxLayout(place)
        column.setContentsMargins(20, 16, 20, 8)
        column.setSpacing(8)
        column.addWidget(self.head)
        column.addWidget(self.messages)
        column.addWidget(self.back)
        column.addWidget(self.question)
        column.addWidget(self.confirm)
        return place

    def _connect(self) -> None:
        stages = self.stages
        stages.form.inputs_changed.connect(self.inputs_changed)
        stages.form.check_wanted.connect(self.check_wanted)
        stages.checklist.check_wanted.connect(stages.form.go_on)  # what was typed last goes with it
        stages.checklist.plan_wanted.connect(self.plan_wanted)
        stages.checklist.answer_wanted.connect(self._show_field)
        stages.checklist.shown_wanted.connect(self._scroll.ensureWidgetVisible)
        stages.approval.rehearse_wanted.connect(self.rehearse_wanted)
        stages.approval.start_wanted.connect(self._start)
        stages.report.report_wanted.connect(self.report_wanted)
        stages.steps.step_chosen.connect(self._look_at)
        stages.steps.shown_wanted.connect(self._scroll_to)
        self.head.pause_wanted.connect(self.pause_wanted)
        self.head.go_on_wanted.connect(self.go_on_wanted)
        self.head.cancel_pressed.connect(self._ask_cancel)
        self.head.undo_pressed.connect(lambda: self._ask_undo(self.undo_wanted.emit))
        self.head.leave_pressed.connect(self._ask_leave)
        self.head.closed.connect(self.closed)
        self.question.answered.connect(self._answer)

    # -- before a run --------------------------------------------------------------------------------------------
    def set_about(self, about: About) -> None:
        """Begin anew with this procedure: everything else is forgotten."""
        self._view = None
        self._tick.stop()
        self.confirm.dismiss()
        self.question.show_question(None, 0.0)
        self.messages.say(Health.UNKNOWN, ())
        self.head.show_about(tr(about.title), about.name, tr(about.what))
        self.head.forget_run()
        self.back.show_way()
        self.stages.begin(about)
        self.side.begin()
        self._place_side()

    def set_fields(self, fields: tuple[Field, ...], inputs: dict[str, str], faults: tuple[Fault, ...]) -> None:
        """Show the questions, the answers given so far and their faults; focus and cursor stay where they are."""
        self.stages.set_fields(fields, inputs, faults)

    def set_checks(self, checks: tuple[Check, ...], waiting: bool = False, *, live: bool = False) -> None:
        """Show the checklist; `waiting` while it is being read anew; `live`: as one types, nothing is folded."""
        self.stages.set_checks(checks, waiting, live=live)

    def set_plan(
        self,
        plan: Plan,
        wording: Mapping[str, tuple[str, ...]],
        violations: tuple[str, ...] = (),
        *,
        live: bool = False,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        """Show a plan before its approval: step id -> exact masked lines; `violations` are sentences that bar it.

        `addresses`: host -> where it is, shown beside its name.
        """
        self.side.set_plan(plan)
        self._place_side()  # first: the rows are then laid out for the width they will have
        new = plan != self.stages.approval.plan()
        self.stages.set_plan(plan, wording, violations, live=live, addresses=addresses or {})
        if new and not live:
            self._show_top(self.stages.plan)

    def set_cluster(self, cluster: ClusterSnapshot | None) -> None:
        """Show the cluster beside it as it is now."""
        had = self.side.has_content()
        self.side.set_cluster(cluster)
        if self.side.has_content() != had:
            self._place_side()

    def set_rehearsal(self, results: tuple[Rehearsed, ...], running: bool = False) -> None:
        """Show what the rehearsal found so far, step by step."""
        self.stages.set_rehearsal(results, running)

    def say_message(self, health: Health, sentences: tuple[str, ...]) -> None:
        """Say something above all (a refusal, a lock that another console has); () takes it away."""
        self.messages.say(health, sentences)

    # -- the run -------------------------------------------------------------------------------------------------
    def set_run(self, view: RunView, wording: Mapping[str, tuple[str, ...]] | None = None) -> int:
        """Show a run as it stands, in place; return how many rows changed.

        Args:
            wording: lines per step where `set_plan` did not give them (a run from the journal, a continued plan).
        """
        before, self._view = self._view, view
        now = self._clock()
        self.head.show_run(view, now)
        asked = self.question.isAncestorOf(QApplication.focusWidget() or self)
        # What another program asks is answered there: two answers to one question would be two drivers of one run.
        question = None if view.elsewhere else view.question
        self.question.show_question(question, now, broken_rules(view), over_since(view), idle_words(view))
        if asked and view.question is None:
            self.head.close_button.setFocus()  # what was answered takes its buttons away: the keys stay on the page
        changed = self.stages.set_run(view, now, wording)
        if asks_for_the_rest(view) and (before is None or not asks_for_the_rest(before)):
            self._show_top(self.stages.preflight)
        self.side.set_run(view)
        if before is None:
            self._place_side()
        if self._cancelling is not None and self._cancelling != current_step(view):
            self._cancelling = None  # what was to be broken off is over: a yes would break off the step after it
            self.confirm.dismiss()
        if view.state in OVER and (before is None or before.state not in OVER):
            self.confirm.dismiss()
            self._bring(lambda: self._scroll.ensureWidgetVisible(self.stages.outcome, 0, 16))
        running = driven(view) and view.state not in OVER
        if running != self._tick.isActive():
            (self._tick.start if running else self._tick.stop)()
        return changed

    def run(self) -> RunView | None:
        """Return the run shown, None before one begins."""
        return self._view

    def focus_first(self) -> None:
        """Give the keys to what comes first: the first question, else the steps."""
        self.stages.focus_first()

    # -- what a person wants -------------------------------------------------------------------------------------
    def _start(self) -> None:
        checklist = self.stages.checklist
        if not checklist.standing_blocks():
            self.start_wanted.emit(checklist.overrides(), self.stages.approval.confirmations())

    def _answer(self, answer: str) -> None:
        asked = self.question.question()
        if self._view is None or asked is None:
            return
        run_id = self._view.run_id
        own = asked.topic in {"breach", *RESTS_AT}
        if answer == UNDO and own:
            self._ask_undo(lambda: self.answered.emit(run_id, UNDO, asked))
        elif answer == LEAVE and own:
            self._ask_leave()
        elif answer == STOP and own:
            self._ask_leave(lambda: self.answered.emit(run_id, STOP, asked))
        else:
            self.answered.emit(run_id, answer, asked)

    def _ask_undo(self, then: Callable[[], None]) -> None:
        if self._view is None:
            return
        hosts = ", ".join(self._view.plan.hosts)
        title = tr("Undo run {number} on {hosts}?", number=self._view.run_id, hosts=hosts)
        self.confirm.ask(title, undo_sentences(self._view), tr("Undo the &run"), lambda _reason: then())

    def _ask_cancel(self) -> None:
        if self._view is None:
            return
        self._cancelling = current_step(self._view)
        sentences = cancel_sentences(self._view, self._cancelling)
        agreed = tr("&Cancel the step")
        self.confirm.ask(tr("Cancel the running step?"), sentences, agreed, lambda _reason: self.cancel_wanted.emit())

    def _ask_leave(self, then: Callable[[], None] | None = None) -> None:
        """Ask before a run is left for good; with a reason, unless the run itself asked (`then` answers it)."""
        if self._view is None:
            return
        run_id = self._view.run_id
        title = tr("Leave run {number} in its current state?", number=run_id)
        sentences = leave_sentences(self._view)
        agreed = tr("Lea&ve it")
        if then is not None:
            self.confirm.ask(title, sentences, agreed, lambda _reason: then())
        else:
            self.confirm.ask(title, sentences, agreed, lambda why: self.leave_wanted.emit(run_id, why), reason=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc goes back to the procedures; a run goes on without its page."""
        if act_of(PROCEDURE, event) == "back":
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    # -- place ---------------------------------------------------------------------------------------------------
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the side where there is no room for it."""
        super().resizeEvent(event)
        self._place_side()

    def _place_side(self) -> None:
        self.side.setFixedWidth(px(_WIDE_SIDE if self.width() >= px(_WIDE_FROM) else SIDE_WIDTH))
        shown = self.width() >= px(SIDE_FROM) and self.side.has_content()
        self.side.setVisible(shown)
        self._side_line.setVisible(shown)
        self.stages.steps.set_inline_evidence(not shown and self._view is not None)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the step that runs in sight."""
        super().showEvent(event)
        if self._view is not None and (at := current_step(self._view)) >= 0:
            self._scroll_to(at)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A question above takes its room from below: the step that runs stays in sight if it was."""
        if watched is self._scroll.viewport() and isinstance(event, QResizeEvent) and self._view is not None:
            at, rows, room = current_step(self._view), self.stages.steps.rows, event.oldSize().height()
            if asks_for_the_rest(self._view):
                self._show_top(self.stages.preflight)
            elif event.size().height() < room and 0 <= at < len(rows):
                top = rows[at].mapTo(self._inner, QPoint(0, 0)).y()
                if top < self._scroll.verticalScrollBar().value() + room:
                    self._scroll_to(at)
        return super().eventFilter(watched, event)

    def _scroll_to(self, index: int) -> None:
        """Bring a row into sight once the layout has settled."""

        def show() -> None:
            rows = self.stages.steps.rows
            if index < len(rows):
                top = rows[index].mapTo(self._inner, QPoint(0, 0)).y()
                self._scroll.ensureVisible(0, top + rows[index].height(), 0, 32)
                self._scroll.ensureVisible(0, top, 0, 32)

        self._bring(show)

    def _show_top(self, section: QWidget) -> None:
        """Begin with the top of a section: with a plan's first step, or with what its rest was made from."""

        def show() -> None:
            top = section.mapTo(self._inner, QPoint(0, 0)).y()
            self._scroll.verticalScrollBar().setValue(top - 8)

        self._bring(show)

    def _bring(self, show: Callable[[], None]) -> None:
        """Scroll so now and while the layout settles: what opens and folds moves the rest a few turns later."""
        self._show = show
        QTimer.singleShot(0, self, self._show_again)
        self._settled.start()

    def _show_again(self) -> None:
        if self._show is not None:
            self._show()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go on by Tab, and leave the scroll bar to the person from here on."""
        self._show = None
        return super().focusNextPrevChild(forward)

    def _let_go(self) -> None:
        """Leave the scroll bar to the person."""
        self._show_again()
        self._show = None

    def _show_field(self, name: str) -> None:
        """Bring the question that a check asks for into sight: unfolded just now, its place is not settled yet."""

        def show() -> None:
            row = self.stages.form.rows.get(name)
            if row is not None:
                self._scroll.ensureWidgetVisible(row, 0, 48)

        self._bring(show)

    def _look_at(self, index: int) -> None:
        self.side.look_at(index)
        self.step_chosen.emit(index)

    def _count_on(self) -> None:
        if self._view is not None and self._view.state is not RunState.PAUSED:
            self.stages.tick(self._view, self._clock())
