"""The host keys of hosts that were taken several at once: asked one after the other, beside the window's own work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from app.vault import SessionVault
from app.window.main_window import MainWindow
from services.errors import HostKeyUnknown, UserError
from services.inventory.model import HostEntry
from widgets.bridge.ops import Ops
from widgets.inventory.draft import HostKey
from widgets.inventory.host_key_question import HostKeyQuestion

if TYPE_CHECKING:  # paramiko stands behind it, and this is loaded for hosts without SSH too
    from services.connections.probe.test import AccessReport


class AskKeys(QObject):
    """Tries each host once; one whose key is not known is asked about, as for a host that is added alone.

    Who refuses, closes the question or leaves the window loses nothing: the host stays, unasked, and says so itself.

    Args:
        try_now: asks these hosts again at once.
    """

    def __init__(
        self, window: MainWindow, ops: Ops, vault: SessionVault, try_now: Callable[[Sequence[str]], None],
        parent: QObject,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._window = window
        self._ops = ops
        self._vault = vault
        self._try_now = try_now
        self._left: deque[HostEntry] = deque()
        self._busy = False

    def ask_about(self, entries: Sequence[HostEntry]) -> None:
        """Ask about these after those that are still to be asked about; one without SSH has no host key."""
        self._left.extend(entry for entry in entries if entry.ssh is not None)
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._left)
        if not self._busy:
            return
        entry, vault = self._left.popleft(), self._vault

        def work() -> AccessReport:
            from services.connections.probe.test import probe_access

            return probe_access(entry, vault)

        self._ops.run("try-key", work, lambda report: self._tried(entry, report), self._failed)

    def _tried(self, entry: HostEntry, report: AccessReport) -> None:
        asked = report.question
        if asked is None:
            self._next()
            return
        shown = HostKey(entry.name, asked.key_type, asked.fingerprint)
        question = HostKeyQuestion(shown, self._window)
        question.setWindowModality(Qt.WindowModality.NonModal)  # the drawing stays in reach: nobody waits for this
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question.answered.connect(lambda _key, accepted: self._answered(entry, asked, accepted=accepted))
        question.show()

    def _answered(self, entry: HostEntry, asked: HostKeyUnknown, *, accepted: bool) -> None:
        if not accepted:
            self._next()
            return

        def work() -> None:
            from services.connections.ssh.host_key_check import accept_host_key

            accept_host_key(asked)

        self._ops.run("keep-key", work, lambda _none: self._kept(entry), self._failed)

    def _kept(self, entry: HostEntry) -> None:
        self._try_now([entry.name])
        self._next()

    def _failed(self, problem: UserError) -> None:
        self._window.messages.say_error(problem)
        self._next()
