"""Backoff as a gate before a connection: after a failure it stays shut for a while, and says why and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.clock import Backoff
from services.errors import NothingListens, Unreachable, UserError
from services.i18n import tr

if TYPE_CHECKING:
    from services.clock import Clock
    from services.connections.limits import Limits


class Gate:
    """One per connection. While it is shut, calls fail at once instead of hammering a host that is down.

    A failure that only a person can end (a refused login, an unknown host key, a missing secret) is raised again as it
    is, so that whoever asks sees the real reason; one of the network as Unreachable with the time of the next attempt.
    """

    def __init__(self, what: str, clock: Clock, limits: Limits) -> None:
        self._what = what
        self._clock = clock
        self._backoff = Backoff(limits.backoff_first_s, limits.backoff_most_s)
        self._most = limits.backoff_most_s
        self._due = 0.0
        self._reason: UserError | None = None

    def check(self) -> None:
        """Raise when the next attempt is not due yet."""
        reason = self._reason
        wait = self._due - self._clock.monotonic()
        if reason is None or wait <= 0:
            return
        if not isinstance(reason, Unreachable):
            raise reason.with_traceback(None)
        kind = NothingListens if isinstance(reason, NothingListens) else Unreachable
        text = tr(
            "{what} is down; next attempt in {wait} s. Last reason: {reason}",
            what=self._what,
            wait=max(1, round(wait)),
            reason=reason.bare,  # of a way through SSH: what its own gate said is not said twice
        )
        again = kind(text, host=reason.host, safe=reason.safe, try_=reason.try_)
        again.bare, again.code = reason.bare, reason.code
        raise again from reason

    def failed(self, reason: UserError) -> None:
        """Shut after a failed attempt; longer each time, longest at once where only a person can help."""
        wait = self._backoff.next()
        if not isinstance(reason, Unreachable):
            wait = self._most
        self._reason = reason
        self._due = self._clock.monotonic() + wait

    def opened(self) -> None:
        """Open after a success."""
        self._reason = None
        self._backoff.reset()

    def try_now(self) -> None:
        """Let the next call attempt at once: the person has changed something (a key accepted, the VPN is up)."""
        self._due = 0.0
