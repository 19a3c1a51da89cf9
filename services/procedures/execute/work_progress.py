"""How far detached work is: the bytes of what it fills, its rate, and how long it may still take."""

from __future__ import annotations

from collections.abc import Callable

from services.connections.command import Command
from services.connections.ports import OperatorSession
from services.errors import UserError
from services.facts.machine.machine import parse_du
from services.i18n import tr
from services.moments import estimate

EVERY_S = 5.0
"""du reads every inode of the folder: not at each look."""
SPAN_S = 60.0
_LIMIT_S = 30.0


class WorkProgress:
    """Measures what one work fills (du -sb), and tells it as one phrase.

    Args:
        session: gives the host's session anew; apart: what is not counted (old data that are kept in the same folder).
    """

    def __init__(self, session: Callable[[], OperatorSession], path: str, total: int, apart: str = "") -> None:
        self._session = session
        self._total = total
        self._words = ("du", "-sb", *((f"--exclude={apart}",) if apart else ()), "--", path)
        self._seen: list[tuple[float, int]] = []

    def told(self, now: float) -> str:
        """Return '1.20 of 3.40 GB, 80.0 MB/s, about 28 s left' as far as it is known; '' where nothing is."""
        if not self._seen or now - self._seen[-1][0] >= EVERY_S:
            found = self._measured()
            if found is not None:
                self._seen = [*(one for one in self._seen if now - one[0] <= SPAN_S), (now, found)]
        return told_of(self._seen, self._total)

    def _measured(self) -> int | None:
        try:
            output = self._session().run(Command(self._words, sudo=True), limit_s=_LIMIT_S)
        except UserError:
            return None  # what the work itself does is looked at in its own way
        return parse_du(output.text)


def told_of(seen: list[tuple[float, int]], total: int) -> str:
    """Return the phrase of what was measured: (monotonic seconds, bytes), oldest first; total: 0 = not known."""
    if not seen:
        return ""
    (began, first), (at, done) = seen[0], seen[-1]
    sentences = [tr("{done} of {total} GB", done=f"{done / 1e9:.2f}", total=f"{total / 1e9:.2f}") if total
            else tr("{done} GB", done=f"{done / 1e9:.2f}")]  # fmt: skip
    rate = (done - first) / (at - began) if at > began else 0.0
    if rate > 0:
        sentences.append(tr("{rate} MB/s", rate=f"{rate / 1e6:.1f}"))
    if rate > 0 and total > done:
        sentences.append(tr("about {left} left", left=estimate((total - done) / rate)))
    return ", ".join(sentences)
