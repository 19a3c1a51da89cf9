"""The span of the window's one time axis: how hand and keyboard move it. Pure, no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

SHORTEST_S = 5.0
LONGEST_S = 400 * 86400.0
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
SPANS = ((1 * MINUTE, "1 min"), (15 * MINUTE, "15 min"), (6 * HOUR, "6 h"), (7 * DAY, "7 d"))


@dataclass(frozen=True, slots=True)
class View:
    """A span (epoch seconds). `live`: its end follows the present. `now`: the newest moment there is."""

    start: float
    end: float
    live: bool
    now: float

    @property
    def span(self) -> float:
        """Return the length in seconds."""
        return self.end - self.start

    def panned(self, seconds: float) -> View:
        """Return the view moved by `seconds`; it does not go beyond the present, and reaching it is being live."""
        end = self.end + seconds
        if end >= self.now:
            return replace(self, start=self.now - self.span, end=self.now, live=self.live or seconds > 0)
        return replace(self, start=self.start + seconds, end=end, live=False)

    def zoomed(self, around: float, factor: float) -> View:
        """Return the view longer or shorter by `factor`; a live view keeps its end at the present."""
        span = min(LONGEST_S, max(SHORTEST_S, self.span * factor))
        if self.live:
            return replace(self, start=self.end - span)
        share = (around - self.start) / self.span
        start = around - share * span
        end = start + span
        if end > self.now:
            start, end = self.now - span, self.now
        return replace(self, start=start, end=end)

    def spanning(self, first: float, last: float) -> View:
        """Return a view of the past from `first` to `last`."""
        middle, half = (first + last) / 2, max(SHORTEST_S, last - first) / 2
        return replace(self, start=middle - half, end=middle + half, live=False)

    def latest(self, span: float) -> View:
        """Return the live view of the newest `span` seconds."""
        return replace(self, start=self.now - span, end=self.now, live=True)
