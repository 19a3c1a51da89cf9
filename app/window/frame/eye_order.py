"""Tab in the order of the eye: what stands higher comes first, and at one height what stands further left.

Qt's own order is that in which widgets were put into the window, whatever page they were made for and whenever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

_BY_TAB = Qt.FocusPolicy.TabFocus


def next_stop(places: Sequence[QWidget], now: QWidget | None, *, forward: bool) -> QWidget | None:
    """Return what Tab goes to from `now` within these places of the window, in their order; it goes round."""
    stops = [stop for place in places for stop in _stops(place)]
    if not stops:
        return None
    here = next((number for number, stop in enumerate(stops) if stop is now), None)
    if here is None:  # the focus is on something that Tab does not reach: from what is around it
        around = now
        while around is not None and here is None:
            around = around.parentWidget()
            inside = [n for n, stop in enumerate(stops) if around is not None and around.isAncestorOf(stop)]
            here = (inside[0] - 1 if forward else inside[-1] + 1) if inside else None
    if here is None:
        return stops[0 if forward else -1]
    return stops[(here + (1 if forward else -1)) % len(stops)]


def _stops(place: QWidget) -> Iterator[QWidget]:
    """Give what Tab reaches in a place: itself, then what its focus goes to, then the rest as it stands."""
    if not place.isVisible():
        return
    proxy = place.focusProxy()
    if proxy is None and place.isEnabled() and place.focusPolicy().value & _BY_TAB.value:
        yield place
    first = proxy if proxy is not None and place.isAncestorOf(proxy) else None
    if first is not None:
        yield from _stops(first)
    for child in _as_seen(place):
        if child is first:
            continue
        for stop in _stops(child):
            if first is None or (stop is not first and not first.isAncestorOf(stop)):
                yield stop


def _as_seen(place: QWidget) -> list[QWidget]:
    """Return the widgets in a place, line by line; one whose middle is below a line's beginning is in the next one."""
    widgets = [child for child in place.children() if isinstance(child, QWidget)]
    children = [widget for widget in widgets if not widget.isWindow() and widget.isVisible()]
    lines: list[list[QWidget]] = []
    for child in sorted(children, key=lambda c: c.y()):
        if lines and child.y() < lines[-1][0].geometry().center().y():
            lines[-1].append(child)
        else:
            lines.append([child])
    return [child for line in lines for child in sorted(line, key=lambda c: c.x())]
