"""Where the charts' time axis stands, and where each way of moving it leads. Pure, no Qt."""

from __future__ import annotations

from dataclasses import replace

from widgets.common.time_axis.view import MINUTE, View

DEFAULT_SPAN = 15 * MINUTE
_ROOM = 0.06
"""What is left on both sides of a stretch that is brought into sight, as a share of it."""


class Navigation:
    """One view, and the way back from it: each method that moves it returns the new one."""

    def __init__(self) -> None:
        self.view = View(0.0, DEFAULT_SPAN, live=True, now=DEFAULT_SPAN)
        self.whole: View | None = None
        """All of a recording; None while there is a present."""
        self._base: View | None = None
        self._span = DEFAULT_SPAN

    def take(self, start: float, end: float, *, live: bool, now: float | None) -> None:
        """Stand here (epoch seconds); `now` is the newest moment there is (live: `end`)."""
        newest = end if live else max(self.view.now if now is None else now, end)
        self.view = View(start, end, live, newest)

    def play(self, start: float, end: float) -> None:
        """Be of a recording from now on: it has no present, so the way back is the whole of it."""
        self.whole = View(start, end, live=False, now=end)

    def latest(self) -> View:
        """Return to the newest span; of a recording to all of it."""
        self._base = None
        return self._to(self.view.latest(self._span) if self.whole is None else self.whole)

    def last(self, span: float) -> View:
        """Show the newest `span` seconds."""
        self._span, self._base = span, None
        return self._to(self.view.latest(span))

    def back(self) -> View:
        """Go back to the span before zooming and panning began."""
        base, self._base = self._base, None
        if base is None or base.live:
            return self._to(self.view.latest(self._span))
        return self._to(View(base.start, base.end, live=False, now=self.view.now))

    def pan(self, seconds: float) -> View:
        """Move by seconds."""
        self._remember()
        view = self.view.panned(seconds)
        # The end of a recording is no present to follow: its newest minutes would be those around the position.
        return self._to(view if self.whole is None else replace(view, live=False))

    def zoom(self, around: float, factor: float) -> View:
        """Show a span longer or shorter by a factor."""
        self._remember()
        return self._to(self.view.zoomed(around, factor))

    def zoom_to(self, first: float, last: float) -> View:
        """Show a span that was dragged out."""
        self._remember()
        return self._to(self.view.spanning(first, last))

    def bring(self, first: float, last: float) -> View | None:
        """Show a stretch, with room at its sides; None where it is in sight already."""
        if self.view.start <= first and last <= self.view.end:
            return None
        room = _ROOM * (last - first)
        return self.zoom_to(first - room, min(last + room, max(last, self.view.now)))

    def _remember(self) -> None:
        if self._base is None:
            self._base = self.view

    def _to(self, view: View) -> View:
        self.view = view
        return view
