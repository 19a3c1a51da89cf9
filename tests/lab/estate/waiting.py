"""Bounded waiting whose failure says why: the last reason the awaited thing was not yet so."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tests.lab.estate.errors import LabTimeoutError


def on_this_machine(seconds: float) -> float:
    """Return the limit for what a machine with nothing else to do does within `seconds`: longer while it is busy.

    By the load of the last minute a processor: three sessions and their servers share two processors in a whole run.
    Only for what is measured here; a limit that the program itself keeps stays what it is.
    """
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def wait_until(what: str, reason_not_yet: Callable[[], str | None], *, limit_s: float, every_s: float = 0.2) -> float:
    """Call `reason_not_yet` until it returns None; return the seconds that took.

    The callable returns a sentence while the thing is not so. An AssertionError it raises counts as such a sentence,
    so that a test may wait for its own assertions. Raises LabTimeoutError with the last one after `limit_s` seconds.
    """
    start = time.monotonic()
    while True:
        try:
            reason = reason_not_yet()
        except AssertionError as exc:
            reason = str(exc) or "assertion without a message"
        elapsed = time.monotonic() - start
        if reason is None:
            return elapsed
        if elapsed >= limit_s:
            raise LabTimeoutError(f"waited {elapsed:.1f} s for {what}; last reason: {reason}")
        time.sleep(min(every_s, max(0.0, limit_s - elapsed)))


def while_asserts(check: Callable[[], object], *, limit_s: float, every_s: float = 0.2) -> float:
    """Repeat `check` while it raises AssertionError; return the seconds it took to pass.

    Raises LabTimeoutError carrying the last assertion's message when it still fails after `limit_s` seconds.
    """

    def reason() -> str | None:
        check()
        return None

    return wait_until(getattr(check, "__name__", "the assertions"), reason, limit_s=limit_s, every_s=every_s)
