"""A question before something serious, in the page and never over it: what it does, yes, back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from services.i18n import tr
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.common.controls.fields import line
from widgets.procedures.blocks import TintedFrame, put, text_label


class ConfirmStrip(TintedFrame):
    """Shown by `ask`, hidden by an answer or Esc. With `reason` the button waits until one is typed.

    Args:
        kind: how the button that agrees is drawn: "danger", or "primary" where agreeing is the safe way.
    """

    def __init__(self, kind: str = "danger") -> None:
        super().__init__(Health.WARN)
        self._then: Callable[[str], None] | None = None
        self._before: QWidget | None = None
        self._needs_reason = False
        self._expect = ""
        self.title = text_label("", "section")
        self.text = text_label("", "")
        self.reason = line(tr("Reason"), tr("your reason; it is kept in the journal and report"))
        self.reason.textChanged.connect(lambda _text: self._judge())
        self.reason.returnPressed.connect(self._agree)
        self.yes = button("", kind, on=self._agree)
        self.no = button(tr("&Back"), on=self.dismiss)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.yes)
        foot.addWidget(self.no)
        foot.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(6)
        for part in (self.title, self.text, self.reason):
            column.addWidget(part)
        column.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(12)
        row.addWidget(HealthMark(Health.WARN, 13), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.hide()

    def ask(
        self,
        title: str,
        sentences: tuple[str, ...],
        yes: str,
        then: Callable[[str], None],
        *,
        reason: bool = False,
        expect: str = "",
    ) -> None:
        """Ask; `then` is called with the reason ('' where none is asked) when the person agrees.

        Args:
            expect: what has to be typed word for word.
        """
        self._then, self._needs_reason, self._expect = then, reason or bool(expect), expect
        hint = (
            tr("Type {name} to confirm", name=expect)
            if expect
            else tr("your reason; it is kept in the journal and report")
        )
        self.reason.setPlaceholderText(hint)
        self.reason.setAccessibleName(hint if expect else tr("Reason"))
        put(self.title, title)
        put(self.text, "\n".join(sentences))
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(sentences))
        self.yes.setText(yes)
        self.reason.clear()
        self.reason.setVisible(self._needs_reason)
        self._judge()
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self.show()
        (self.reason if self._needs_reason else self.no).setFocus()

    def dismiss(self) -> None:
        """Forget the question; the keys go back to where they were."""
        self._then = None
        before, self._before = self._before, None
        here = self.isAncestorOf(QApplication.focusWidget() or self)
        if here and before is not None and isValid(before) and before.isVisible():
            before.setFocus()
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc is No."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def _judge(self) -> None:
        typed = self.reason.text().strip()
        self.yes.setEnabled(typed == self._expect if self._expect else bool(typed) or not self._needs_reason)

    def _agree(self) -> None:
        if self._then is None or not self.yes.isEnabled():
            return
        then = self._then
        self.dismiss()
        then(self.reason.text().strip())
