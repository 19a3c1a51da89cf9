"""Adds or edits a host: fields left, what a test of them found right. Never modal: the topology stays in reach."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from services.i18n import tr
from services.inventory.model import HostEntry
from services.types import Health
from widgets.common.controls.boxes import button, hairline
from widgets.common.controls.fields import default_button
from widgets.common.controls.labels import label
from widgets.common.controls.sight import bring_into_sight
from widgets.common.controls.wrap_row import turn_box
from widgets.common.look.fonts import px
from widgets.common.look.styling import wear
from widgets.common.messages import MessageBar
from widgets.inventory.access_form import AccessForm
from widgets.inventory.certificate_question import CertificateQuestion, NoTlsQuestion
from widgets.inventory.draft import HostKey, ServerCertificate, StepLike
from widgets.inventory.host_key_question import HostKeyQuestion
from widgets.inventory.steps_pane import StepsPane

_WIDTH, _HEIGHT = 880, 720
_BESIDE, _LEAST_STEPS = 640, 72
_MARGIN = 40
"""How much lower than its window the dialog stays: on a small screen its buttons must be on it."""


class ConnectionDialog(QDialog):
    """Signals carry a `HostDraft`: `test_requested`, `save_requested`; `host_key_answered(HostKey, accepted)`,
    `certificate_answered(ServerCertificate, accepted)`. `outdated`: what a test was asked for, or found, is not so any
    more: a field is another now."""

    test_requested = Signal(object)
    save_requested = Signal(object)
    host_key_answered = Signal(object, bool)
    certificate_answered = Signal(object, bool)
    outdated = Signal()

    def __init__(self, parent: QWidget | None = None, entry: HostEntry | None = None) -> None:
        super().__init__(parent)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = tr("Connection of {name}", name=entry.name) if entry else tr("Add a host")
        self.setWindowTitle(heading)
        self.resize(_WIDTH, _fitting_height(parent))
        self._testing = False
        self._tested = False
        self._faulty = False
        self.form = AccessForm()
        if entry is not None:
            self.form.show_entry(entry)
        self.steps = StepsPane()
        self.question: HostKeyQuestion | CertificateQuestion | NoTlsQuestion | None = None
        self._bar = MessageBar()
        self._test = button(tr("Test"), on=self._ask_test, hint=tr("Test every step once; nothing is changed"))
        self._save = default_button(button(tr("Save") if entry else tr("Add and watch"), "primary", on=self._ask_save))
        self._build(heading)
        self.form.changed.connect(self._input_changed)
        self.form.address.setFocus()
        wear(self)

    def _build(self, heading: str) -> None:
        body = self._body = QHBoxLayout()
        body.setSpacing(0)
        body.addLayout(self._left_half(heading), 9)
        body.addWidget(hairline("vline"))
        body.addWidget(self.steps, 7)
        notice = QHBoxLayout()
        notice.setContentsMargins(20, 8, 20, 0)
        notice.addWidget(self._bar)
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 12, 20, 12)
        foot.setSpacing(8)
        foot.addWidget(self._test)
        foot.addStretch(1)
        foot.addWidget(button(tr("Cancel"), on=self.reject))
        foot.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(body, 1)
        column.addWidget(hairline())
        column.addLayout(notice)
        column.addLayout(foot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what a test found below the fields where both side by side would be cut."""
        beside = self.width() >= px(_BESIDE)
        turn_box(self._body, beside=beside)
        self.steps.setMinimumHeight(0 if beside else px(_LEAST_STEPS))
        super().resizeEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab from the buttons goes round to the fields: they are scrolled to."""
        moved = super().focusNextPrevChild(forward)
        if moved and (held := self.focusWidget()) is not None:
            bring_into_sight(held)
        return moved

    def _left_half(self, heading: str) -> QVBoxLayout:
        scroll = self._scroll = QScrollArea()
        scroll.setAccessibleName(heading)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields have the focus, and scroll it
        scroll.setWidget(self.form)
        scroll.setWidgetResizable(True)
        scroll.viewport().setAutoFillBackground(False)
        self.form.setAutoFillBackground(False)
        title = label(heading, "title")
        title.setContentsMargins(20, 16, 20, 0)
        intro = label(tr("One host is enough: the rest of its cluster is discovered from it."), "second", wrap=True)
        intro.setContentsMargins(20, 4, 20, 8)
        left = QVBoxLayout()
        left.setSpacing(0)
        left.addWidget(title)
        left.addWidget(intro)
        left.addWidget(scroll, 1)
        return left

    # -- what a person asks for ----------------------------------------------------------------------------------
    def _checked(self) -> bool:
        faults = self.form.faults()
        self._faulty = bool(faults)
        self._bar.say(Health.BAD, faults)
        wrong = self.form.first_wrong()
        if wrong is not None:
            wrong.setFocus()
            self._scroll.ensureWidgetVisible(wrong)
        return not faults

    def _ask_test(self) -> None:
        if not self._testing and self._checked():
            draft = self.form.draft()
            self.set_testing(True)
            self._tested = True
            self.steps.begin((), tr("Trying to reach {address}.", address=draft.entry.address))
            self.test_requested.emit(draft)

    def _ask_save(self) -> None:
        if self._checked():
            self.save_requested.emit(self.form.draft())

    def _input_changed(self) -> None:
        """What was found, or said, of other fields is not so of these."""
        self._bar.say(Health.BAD, self.form.faults() if self._faulty else ())
        if self._tested:
            self._tested = False
            self.set_testing(False)
            self.steps.clear(tr("The values have changed since the test: test again."))
            self.outdated.emit()

    # -- what the test answers -----------------------------------------------------------------------------------
    def set_testing(self, testing: bool) -> None:
        """Say that a test runs; a second one can't be started meanwhile.

        The button stays enabled: disabling it would send the focus to its neighbour, Cancel.
        """
        self._testing = testing
        self._test.setText(tr("Testing…") if testing else tr("Test"))

    def begin_steps(self, steps: Sequence[StepLike]) -> None:
        """Show the steps that will be tried, each in its place."""
        self.steps.begin(steps, self.steps.told())

    def show_steps(self, steps: Sequence[StepLike], *, done: bool = True) -> None:
        """Show the steps so far (`AccessReport.steps` fits); `done` ends the test."""
        self._tested = True
        self.steps.show_steps(steps, done=done)
        self.set_testing(not done)

    def tell_unknown_name(self, name: str) -> None:
        """Say at the address that nobody here knows the name it stands for."""
        self.form.tell_address(tr('The name "{name}" cannot be resolved.', name=name))

    def say(self, health: Health, sentences: Sequence[str]) -> None:
        """Say something about the whole: it could not be saved, and why."""
        self._bar.say(health, sentences)

    def show_keyring_absence(self, sentences: Sequence[str]) -> None:
        """Say that no keyring could keep a password, and the ways out."""
        self.form.keeping.show_absence(sentences)

    def message(self) -> str:
        """Return what the dialog's bar says, '' while it is hidden."""
        return self._bar.text() if self._bar.isVisibleTo(self) else ""

    def ask_host_key(self, key: HostKey) -> HostKeyQuestion:
        """Ask whether this is the host's key; the answer comes as `host_key_answered`."""
        self.question = question = HostKeyQuestion(key, self)
        question.answered.connect(self.host_key_answered)
        question.open()
        return question

    def ask_certificate(self, shown: ServerCertificate) -> CertificateQuestion:
        """Ask whether this is the server's certificate; the answer comes as `certificate_answered`."""
        self.question = question = CertificateQuestion(shown, self)
        question.answered.connect(self.certificate_answered)
        question.open()
        return question

    def ask_without_tls(self, host: str) -> NoTlsQuestion:
        """Ask how a server without TLS shall be watched; the answer changes the form, and the test runs again."""
        self.question = question = NoTlsQuestion(host, self.form.other_way_through_ssh(), self)
        question.chosen.connect(self._go_another_way)
        question.open()
        return question

    def _go_another_way(self, way: str) -> None:
        self.form.choose_way(way)
        self._ask_test()


def _fitting_height(parent: QWidget | None) -> int:
    return _HEIGHT if parent is None else min(_HEIGHT, parent.window().height() - _MARGIN)
