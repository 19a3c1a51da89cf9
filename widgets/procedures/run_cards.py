"""Cards of the procedures page: a procedure by what it does, a run by where it stands, an obligation by its danger."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import REFUSED, OpenObligation, RunState, RunView
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.labels import ElidedLabel, label, set_kind
from widgets.common.look.fonts import STRONG
from widgets.common.look.text import MIDDLE, format_duration, format_moment, seen_words
from widgets.common.look.theme import ui_font
from widgets.procedures.blocks import put, text_label
from widgets.procedures.words import OVER, driven, run_health, run_words, since_words

CARD_WIDTH = 300
_KIND = {Health.GOOD: "good", Health.TRANSFER: "transfer", Health.WARN: "warn", Health.BAD: "bad"}


class ProcedureCard(QFrame):
    """`chosen(name)` by its button, a click anywhere, Enter or Space; a card that can't begin says why instead."""

    chosen = Signal(str)

    def __init__(self, about: About, why_not: str = "") -> None:
        """Make the card.

        Args:
            why_not: why nothing can begin here; the card then has no button, and a click does nothing.
        """
        super().__init__()
        self.about = about
        self.setProperty("kind", "card")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        self._told = tuple(
            (text_label(text, kind), kind)
            for text, kind in (
                (tr(about.title), "section"),
                (tr(about.what), ""),
                (tr("Takes: {what}", what=tr(about.takes)), "second"),
                (tr("Can break: {what}", what=tr(about.can_break)), "second"),
            )
        )
        self._told[0][0].setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        for part, _ in self._told:
            column.addWidget(part)
        column.addStretch(1)
        foot = QHBoxLayout()
        foot.addWidget(label(about.name, "third"), 1, Qt.AlignmentFlag.AlignBottom)
        column.addLayout(foot)
        self.setAccessibleName(tr(about.title))
        self.open_button: QPushButton | None = None
        if why_not:
            column.addWidget(text_label(why_not, "third"))
            self.setAccessibleDescription(f"{tr(about.what)} {why_not}")
            return
        self.open_button = button(tr("Begin…"), on=self._choose, hint=tr(about.what))
        self.open_button.setAccessibleName(tr("Begin: {title}", title=tr(about.title)))
        foot.addWidget(self.open_button)
        self._refused = text_label("")
        column.addWidget(self._refused)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleDescription(tr(about.what))
        self.setFocusProxy(self.open_button)

    def refuse(self, why: str) -> None:
        """Say why this can't begin on what is in sight; '' where it can. What can't is muted and has no button."""
        if self.open_button is None:
            return
        self.open_button.setEnabled(not why)
        self.open_button.setVisible(not why)
        put(self._refused, why)
        for part, kind in self._told:
            muted = "caps" if kind == "section" else "third"
            set_kind(part, muted if why else kind)
        self.setAccessibleDescription(f"{tr(self.about.what)} {why}".strip())
        self.setCursor(Qt.CursorShape.ArrowCursor if why else Qt.CursorShape.PointingHandCursor)

    def can_begin(self) -> bool:
        """Return whether its button can be pressed."""
        return self.open_button is not None and self.open_button.isEnabled()

    def _choose(self) -> None:
        if self.can_begin():
            self.chosen.emit(self.about.name)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Take a click anywhere on the card."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._choose()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter open it too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose()
        else:
            super().keyPressEvent(event)


class RunRow(QFrame):
    """One run. Signals carry what the person wants of it."""

    chosen = Signal(str)
    resume_pressed = Signal(str)
    undo_pressed = Signal(str)
    leave_pressed = Signal(str)
    report_pressed = Signal(str)

    def __init__(self, view: RunView, now: float) -> None:
        super().__init__()
        self.view = view
        self._shape = HealthMark(run_health(view.state), 11)
        self._shape.set_owner(tr("run {number}", number=view.run_id))
        self.title = button("", "link", on=lambda: self.chosen.emit(self.view.run_id))
        self.title.setFont(ui_font(weight=STRONG))
        self._state = label("", "second")
        self._facts = ElidedLabel("", "third", Qt.TextElideMode.ElideRight)
        self._sentence = text_label("")
        self.resume = button(tr("Resume"), "primary", on=lambda: self.resume_pressed.emit(self.view.run_id))
        self.undo = button(tr("Undo…"), on=lambda: self.undo_pressed.emit(self.view.run_id))
        self.leave = button(tr("Leave…"), on=lambda: self.leave_pressed.emit(self.view.run_id))
        self.report = button(tr("Report…"), on=lambda: self.report_pressed.emit(self.view.run_id))
        head, below = QHBoxLayout(), QHBoxLayout()
        head.setSpacing(10)
        for part in (self.title, self._state):
            head.addWidget(part)
        head.addWidget(self._facts, 1)
        self._acts = QWidget()
        below.setContentsMargins(0, 6, 0, 0)
        below.setSpacing(8)
        for made in (self.resume, self.undo, self.leave):
            below.addWidget(made)
        below.addStretch(1)
        self._acts.setLayout(below)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._sentence)
        column.addWidget(self._acts)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 16, 10)
        row.setSpacing(12)
        row.addWidget(self._shape, 0, Qt.AlignmentFlag.AlignTop)
        self._shape.setContentsMargins(0, 4, 0, 0)
        row.addLayout(column, 1)
        row.addWidget(self.report, 0, Qt.AlignmentFlag.AlignTop)
        self.show_run(view, now)

    def show_run(self, view: RunView, now: float) -> None:
        """Show the run as it stands."""
        self.view = view
        health, over = run_health(view.state), view.state in OVER
        self._shape.set_health(health)
        self.title.setText(tr(view.plan.title))
        self._state.setProperty("kind", _KIND.get(health, "second"))
        put(self._state, run_words(view))
        self._state.style().polish(self._state)
        self._facts.setText(f" {MIDDLE} ".join(self._fact_words(now)))
        rests = not over and not driven(view) and view.binding not in REFUSED
        self._acts.setVisible(rests)
        put(self._sentence, "" if over and view.state is not RunState.LEFT else tr(view.sentence))
        for made in (self.resume, self.undo, self.leave):
            made.setVisible(rests)
            made.setAccessibleName(f"{made.text()} {view.run_id}")
        self.resume.setVisible(rests and view.state is not RunState.UNDO_FAILED)
        self.undo.setVisible(rests and view.state is not RunState.NOT_STARTED and not view.no_return)
        self.setAccessibleName(f"{view.plan.title}, {run_words(view)}, {view.sentence}")

    def _fact_words(self, now: float) -> tuple[str, ...]:
        view = self.view
        parts = [tr("run {number}", number=view.run_id), view.plan.procedure, view.plan.cluster_name]
        if view.started is not None:
            parts.append(format_moment(view.started)[:16] if view.ended else since_words(view.started, now))
            if view.ended is not None:
                parts.append(tr("took {span}", span=format_duration(view.ended - view.started)))
        if view.elsewhere:
            parts.append(tr("controlled by another program"))
        return tuple(part for part in parts if part)


class ObligationRow(QFrame):
    """Something that is still switched on. `release_pressed(run id, key)`."""

    release_pressed = Signal(str, str)

    def __init__(self, duty: OpenObligation, now: float, cluster: str = "") -> None:
        super().__init__()
        self.duty = duty
        self._cluster = cluster
        self._text, self._danger = text_label("", "section"), text_label("", "second")
        self._failed = text_label("", "bad")
        self.release = button(tr("Release"), "danger", on=self._press)
        column = QVBoxLayout()
        column.setSpacing(2)
        for part in (self._text, self._danger, self._failed):
            column.addWidget(part)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 16, 10)
        row.setSpacing(12)
        shape = HealthMark(Health.WARN, 11)
        row.addWidget(shape, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        row.addWidget(self.release, 0, Qt.AlignmentFlag.AlignTop)
        self.show_duty(duty, now)

    def show_duty(self, duty: OpenObligation, now: float) -> None:
        """Show since when it is on, what happens meanwhile, and why a release failed."""
        if duty != self.duty:
            self.release.setEnabled(True)
        self.duty = duty
        since = since_words(duty.since, now)
        text = f"{tr(duty.obligation.sentence)} {since} {MIDDLE} {format_duration(max(0.0, now - duty.since))}"
        text += f" {MIDDLE} {seen_words(duty.seen, duty.seen_off)}"
        put(self._text, text)
        where = f"{duty.obligation.host} {MIDDLE} " + tr("run {number}", number=duty.run_id)
        if self._cluster:
            where = f"{self._cluster} {MIDDLE} {where}"
        danger = duty.obligation.danger
        put(self._danger, f"{where} {MIDDLE} " + tr("while it is on: {danger}", danger=tr(danger)) if danger else where)
        why = duty.release_failed
        put(self._failed, tr("The last release failed: {reason}", reason=why) if why else "")
        self.release.setAccessibleName(tr("Release: {sentence}", sentence=tr(duty.obligation.sentence)))

    def _press(self) -> None:
        self.release.setEnabled(False)
        self.release_pressed.emit(self.duty.run_id, self.duty.obligation.key)
