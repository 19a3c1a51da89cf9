"""Which data a view needs that were not asked for yet. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.common.time_axis.view import View

# Ask for more than is in sight, so that a short pan finds its data there.
_MARGIN = 0.5
_POINTS_PER_PIXEL = 2
# A span this many times smaller than what was asked for deserves finer data.
_FINER = 2.5
_COARSER = 6.0


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: from `start` to `end` (epoch seconds) in about `points` points."""

    start: float
    end: float
    points: int


class Demand:
    """Remembers what was asked for each curve of each chart."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], Ask] = {}
        self._renewed: dict[tuple[str, str], float] = {}

    def forget(self) -> None:
        """Ask for everything again."""
        self._asked.clear()
        self._renewed.clear()

    def ask(self, key: tuple[str, str], view: View, pixels: int, step_s: float) -> Ask | None:
        """Return what to fetch for a curve now, None when what was asked for still serves.

        `step_s` is the step of the data in hand; a live view of aggregates is renewed once per step.
        """
        had = self._asked.get(key)
        if had is not None and self._serves(had, view) and not self._is_due(key, view, step_s):
            return None
        start = view.start - _MARGIN * view.span
        end = view.end if view.live else min(view.now, view.end + _MARGIN * view.span)
        asked = Ask(start, end, round(pixels * _POINTS_PER_PIXEL * (end - start) / view.span))
        self._asked[key] = asked
        self._renewed[key] = view.now
        return asked

    def _serves(self, had: Ask, view: View) -> bool:
        slack = 0.01 * view.span
        until = view.start if view.live else min(view.end, view.now)
        # A live view's end is fed by appended samples; a view of the past must lie within what was asked.
        inside = had.start <= view.start + slack and had.end >= until - slack
        if not inside and view.live:
            return False
        ratio = (had.end - had.start) / view.span
        return inside and (ratio <= _FINER * (1 + 2 * _MARGIN) or view.live) and ratio <= _COARSER

    def _is_due(self, key: tuple[str, str], view: View, step_s: float) -> bool:
        return view.live and step_s > 1.5 and view.now - self._renewed[key] >= step_s
