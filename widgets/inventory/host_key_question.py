"""The one question that may stop everything: is this the host's key?"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from widgets.common.boxes import button
from widgets.common.fonts import mono_font
from widgets.common.labels import ValueLabel, label
from widgets.inventory.draft import HostKey


class HostKeyQuestion(QDialog):
    """Modal by design. `answered(HostKey, accepted)` once; closing it or Escape refuses."""

    answered = Signal(object, bool)

    def __init__(self, key: HostKey, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = key
        self._told = False
        self.setWindowTitle("Unknown host key")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setFixedWidth(520)
        title = label(f"{key.host} is not known yet", "title", wrap=True)
        text = label(
            "No login was attempted. Compare this fingerprint with the one the host's owner gives you, or with what "
            "this command prints on the host itself:",
            "second",
            wrap=True,
        )
        self._fingerprint = ValueLabel(key.fingerprint)
        self._fingerprint.setFont(mono_font(13))
        self._fingerprint.setAccessibleName(f"Fingerprint {key.fingerprint}")
        consequence = label(
            "Accept writes it to known_hosts and goes on. Another key later is refused, always.", "second", wrap=True
        )
        refuse = button("Refuse", on=self.reject)
        accept = button(f"Accept the key of {key.host}", "primary", on=self.accept)
        refuse.setDefault(True)  # Enter must not accept what nobody compared
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(refuse)
        row.addWidget(accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(text)
        command = ValueLabel(_command(key.key_type), "second")
        command.setFont(mono_font())
        column.addWidget(command)
        column.addSpacing(4)
        column.addWidget(label(f"{key.key_type} key", "section"))
        column.addWidget(self._fingerprint)
        column.addWidget(consequence)
        column.addSpacing(4)
        column.addLayout(row)
        self.finished.connect(self._tell)
        refuse.setFocus()

    def words(self) -> tuple[str, ...]:
        """Return every sentence and value shown."""
        return tuple(w.text() for w in self.findChildren(QLabel))

    def _tell(self, result: int) -> None:
        if not self._told:
            self._told = True
            self.answered.emit(self._key, result == int(QDialog.DialogCode.Accepted.value))


def _command(key_type: str) -> str:
    """Return what prints this key's fingerprint on the host (man ssh-keygen: -l, -f)."""
    kind = next((k for k in ("ed25519", "ecdsa", "rsa") if k in key_type), "*")
    return f"ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub"
