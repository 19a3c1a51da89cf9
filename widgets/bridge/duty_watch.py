"""What runs left on is looked at again while the window is open: at once, and every quarter of an hour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject

from widgets.bridge.ops import Ops

if TYPE_CHECKING:
    from services.procedures.plan.run_model import OpenObligation
    from services.procedures.service.service import ProcedureService

EVERY_MS = 15 * 60_000


class DutyWatch(QObject):
    """Asks hosts on a worker; what was seen stands in the journal then, and `look` reads it."""

    def __init__(self, ops: Ops, look: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ops = ops
        self._look = look
        self._since = QElapsedTimer()

    def saw(self, service: ProcedureService, duties: Sequence[OpenObligation]) -> None:
        """Take what is on by the journal; look at the hosts where nobody has for a while."""
        if not duties or (self._since.isValid() and not self._since.hasExpired(EVERY_MS)):
            return
        self._since.start()
        self._ops.run("duties", service.look_at_obligations, lambda _: self._look())
