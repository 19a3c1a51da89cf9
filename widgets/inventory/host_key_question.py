"""The one question that may stop everything: is this the host's key?"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.words import mark, tr
from widgets.common.boxes import button
from widgets.common.fonts import mono_font
from widgets.common.labels import ValueLabel, label
from widgets.inventory.draft import HostKey

_COMPARE = mark(
    "No login was attempted. Compare this fingerprint with the one the host's owner gives you, or with what this "
    "command prints on the host itself:"
)
_CONSEQUENCE = mark("Accept writes it to known_hosts and goes on. Another key later is refused, always.")


class HostKeyQuestion(QDialog):
    """Modal by design. `answered(HostKey, accepted)` once; closing it or Escape refuses."""

    answered = Signal(object, bool)

    def __init__(self, key: HostKey, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = key
        self._told = False
        self.setWindowTitle(tr("Unknown host key"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setFixedWidth(520)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        column.addWidget(label(tr("{host} is not known yet", host=key.host), "title", wrap=True))
        column.addWidget(label(tr(_COMPARE), "second", wrap=True))
        column.addWidget(_mono(_command(key.key_type), "second", 12))
        column.addSpacing(4)
        column.addWidget(label(tr("{key_type} key", key_type=key.key_type), "section"))
        column.addWidget(_mono(key.fingerprint, "", 13))
        column.addWidget(label(tr(_CONSEQUENCE), "second", wrap=True))
        column.addSpacing(4)
        column.addLayout(self._answers())
        self.finished.connect(self._tell)

    def _answers(self) -> QHBoxLayout:
        refuse = button(tr("Refuse"), on=self.reject)
        accept = button(tr("Accept the key of {host}", host=self._key.host), "primary", on=self.accept)
        refuse.setDefault(True)  # Enter must not accept what nobody compared
        refuse.setFocus()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(refuse)
        row.addWidget(accept)
        return row

    def words(self) -> tuple[str, ...]:
        """Return every sentence and value shown."""
        return tuple(w.text() for w in self.findChildren(QLabel))

    def _tell(self, result: int) -> None:
        if not self._told:
            self._told = True
            self.answered.emit(self._key, result == int(QDialog.DialogCode.Accepted.value))


def _mono(text: str, kind: str, size: int) -> ValueLabel:
    made = ValueLabel(text, kind)
    made.setFont(mono_font(size))
    made.setAccessibleName(text)
    return made


def _command(key_type: str) -> str:
    """Return what prints this key's fingerprint on the host (man ssh-keygen: -l, -f)."""
    kind = next((k for k in ("ed25519", "ecdsa", "rsa") if k in key_type), "*")
    return f"ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub"
