"""Is this the server's certificate? And where there is none: how shall the server be watched?"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from services.i18n import mark, tr
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import label
from widgets.inventory.draft import ServerCertificate
from widgets.inventory.question import Question, ScrolledQuestion, mono_lines

_COMPARE = mark(
    "No login was attempted. Compare this fingerprint with the one from the server's owner, or with the "
    "output of this command on the host itself:"
)
_CONSEQUENCE = mark(
    "Accept stores the certificate for this server and continues with the password. A different certificate "
    "is always refused later."
)
_BARE = mark(
    "The server offers no TLS: its identity cannot be verified, and results can be read in transit. No "
    "password was sent."
)
_SSH = mark("Through SSH the host is verified by its key, and everything is encrypted.")
_OPEN = mark("Unencrypted, statements and results can be read in transit.")
_PROVEN = mark(
    "The password cannot: it is never sent, only proven (mysql_native_password, ed25519). An account that "
    "would have to send it is refused."
)


class CertificateQuestion(Question):
    """`answered(ServerCertificate, accepted)`."""

    def __init__(self, shown: ServerCertificate, parent: QWidget | None = None) -> None:
        super().__init__(shown, tr("Unknown certificate"), parent)
        title = tr("The server of {host} cannot be verified", host=shown.host)
        self.column.addWidget(label(title, "title", wrap=True))
        self.column.addWidget(label(tr("Its certificate is not trusted: {why}.", why=shown.why), "second", wrap=True))
        self.column.addWidget(label(tr(_COMPARE), "second", wrap=True))
        self.column.addWidget(mono_lines(_command(shown.port), "second", 11))
        self.column.addSpacing(4)
        self.column.addWidget(label(tr("SHA-256 of its certificate"), "section"))
        self.column.addWidget(mono_lines(_halves(shown.fingerprint), "", 13))
        if shown.subject:
            self.column.addWidget(label(tr("Its subject is {subject}.", subject=shown.subject), "second", wrap=True))
        self.column.addWidget(label(tr(_CONSEQUENCE), "second", wrap=True))
        self.add_answers(tr("Accept the certificate of {host}", host=shown.host))


class NoTlsQuestion(ScrolledQuestion):
    """Modal by design. `chosen("tunnel" | "socket" | "off")`; closing it, Enter or Escape choose nothing."""

    chosen = Signal(str)

    def __init__(self, host: str, ssh: str, parent: QWidget | None = None) -> None:
        """Ask; ssh: the way through SSH that is left to try ('tunnel', 'socket'), '' without SSH."""
        super().__init__(tr("No TLS"), parent)
        self.column.addWidget(label(tr("How should {host} be watched?", host=host), "title", wrap=True))
        for words in (_BARE, *((_SSH,) if ssh else ()), _OPEN, _PROVEN):
            self.column.addWidget(label(tr(words), "second", wrap=True))
        refuse = button(tr("Cancel"), on=self.reject)
        refuse.setDefault(True)
        refuse.setFocus()
        self.answers.addWidget(refuse)
        self.answers.addWidget(button(tr("Unencrypted"), "" if ssh else "primary", on=partial(self._choose, "off")))
        if ssh:
            self.answers.addWidget(button(tr("Through SSH"), "primary", on=partial(self._choose, ssh)))

    def words(self) -> tuple[str, ...]:
        """Return every sentence shown."""
        return tuple(w.text() for w in self.findChildren(QLabel))

    def _choose(self, way: str) -> None:
        self.accept()
        self.chosen.emit(way)


def _halves(fingerprint: str) -> tuple[str, ...]:
    pairs = fingerprint.split(":")
    return ":".join(pairs[:16]) + ":", ":".join(pairs[16:])


def _command(port: int) -> tuple[str, ...]:
    """Return what prints the fingerprint on the host (man openssl-s_client: -starttls; man openssl-x509)."""
    return (
        f"openssl s_client -starttls mysql -connect 127.0.0.1:{port} \\",
        "  </dev/null | openssl x509 -noout -fingerprint -sha256",
    )
