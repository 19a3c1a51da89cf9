"""Which start of which server a sample is of: 'UUID:MOMENT', '' while nobody knows. Pure.

MOMENT is computed as now minus Uptime (whole seconds, read over a network, sometimes by a console that was late): the
same start is named a little differently each time. A restart is told where something shows it, never where it is not
known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from services.series import Array

SAME_START_S = 5.0


def same_start(one: str, other: str) -> bool:
    """Return whether two epochs name one start of one server; of another run of the console it is seconds off."""
    (uuid, _, started), (other_uuid, _, other_started) = one.rpartition(":"), other.rpartition(":")
    if one == other:
        return True
    if not started or not other_started or uuid != other_uuid:
        return False
    return abs(float(started) - float(other_started)) < SAME_START_S


def was_up(uptime_s: float | None, before_s: float | None, since_s: float) -> bool:
    """Return whether a server is known not to have restarted, whatever start a late clock computes.

    Args:
        uptime_s: of now; before_s: of its last answer; None: not known. since_s: how long ago that answer was.
    """
    return uptime_s is not None and before_s is not None and uptime_s >= before_s and uptime_s > since_s


def known_starts(epochs: Array, name: Callable[[float], str]) -> Array:
    """Return the epochs with the same number wherever nothing shows another start.

    An unknown one is the last known one's, at the beginning the first known one's.

    Args:
        epochs: shape (n,), numbers in the order of the samples; name: number -> text.
    """
    if not len(epochs) or (epochs == epochs[0]).all():
        return epochs
    begins = np.flatnonzero(np.diff(epochs, prepend=np.nan) != 0)
    names = [name(epochs[place]) for place in begins]
    current = next((float(epochs[place]) for place, text in zip(begins, names, strict=True) if text), float(epochs[0]))
    called = name(current)
    told = np.empty_like(epochs)
    for place, end, text in zip(begins, [*begins[1:], len(epochs)], names, strict=True):
        if text and not same_start(text, called):
            current, called = float(epochs[place]), text
        told[place:end] = current
    return told
