"""The stretches of time around each run, out of the events that its journal tells: a recording has them too. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from services.events import WATCH, Event
from services.sampling.change.around import windows_of
from services.sampling.change.model import Window

_MOST = 12


def run_windows(events: Sequence[Event], now: float) -> tuple[tuple[str, Window, Window], ...]:
    """Return the newest runs that changed something and are over: what began them, before, after; newest first."""
    found = []
    for begun in events:
        if begun.kind != "run" or not begun.key.endswith(":"):  # 'run:47:'; its end is 'run:47:done' (run_events.py)
            continue
        told = [event for event in events if event.key.startswith(begun.key)]
        steps = [event.at for event in told if event.kind == "step" and WATCH not in event.key]
        ends = [event.at for event in told if event.kind == "run" and event is not begun]
        windows = windows_of(min(steps), max(*ends, *steps), now) if steps and ends else None
        if windows is not None:
            found.append((begun.text, *windows))
    return tuple(sorted(found, key=lambda one: one[1].end, reverse=True)[:_MOST])
