"""The one question that may stop everything: is this the host's key?"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from services.i18n import mark, tr
from widgets.common.controls.labels import label
from widgets.inventory.draft import HostKey
from widgets.inventory.question import Question, mono

_COMPARE = mark(
    "No login was attempted. Compare this fingerprint with the one from the host's owner, or with the output "
    "of this command on the host itself:"
)
_CONSEQUENCE = mark("Accept writes the key to known_hosts and continues. A different key is always refused later.")


class HostKeyQuestion(Question):
    """`answered(HostKey, accepted)`."""

    def __init__(self, key: HostKey, parent: QWidget | None = None) -> None:
        super().__init__(key, tr("Unknown host key"), parent)
        self.column.addWidget(label(tr("{host} is not known yet", host=key.host), "title", wrap=True))
        self.column.addWidget(label(tr(_COMPARE), "second", wrap=True))
        self.column.addWidget(mono(_command(key.key_type), "second", 12))
        self.column.addSpacing(4)
        self.column.addWidget(label(tr("{key_type} key", key_type=key.key_type), "section"))
        self.column.addWidget(mono(key.fingerprint, "", 13))
        self.column.addWidget(label(tr(_CONSEQUENCE), "second", wrap=True))
        self.add_answers(tr("Accept the key of {host}", host=key.host))


def _command(key_type: str) -> str:
    """Return what prints this key's fingerprint on the host (man ssh-keygen: -l, -f)."""
    kind = next((k for k in ("ed25519", "ecdsa", "rsa") if k in key_type), "*")
    return f"ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub"
