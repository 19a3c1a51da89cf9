"""The box at an edge: its words, cut to the room its place has, and its rectangle."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt

from services.discovery.model import ReplicationEdge
from services.drawing.routes import Route
from widgets.topology.paint_state import Fonts
from widgets.topology.wording import lag_words

Kind = str  # "plain", "worse" (amber), "broken" (red, dashed), "transfer"


@dataclass(frozen=True, slots=True)
class Label:
    """The box at an edge. `shown` is what fits of `first` and `second`; `short`: for where not even that fits."""

    kind: Kind
    first: str
    second: str
    rect: QRectF
    shown: tuple[str, str]
    fraction: float | None = None
    short: str = ""


def _cut(text: str, fonts: Fonts, width: float, *, strong: bool) -> str:
    metrics = fonts.strong_width if strong else fonts.small_width
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)


def short_words(edge: ReplicationEdge, words: tuple[str, str]) -> tuple[str, str]:
    """Several channels enter one card: each box has room for its name and its lag only."""
    return edge.channel or words[0], lag_words(edge, short=True)


def boxed(
    kind: Kind, words: tuple[str, str], route: Route, fonts: Fonts, fraction: float | None = None, short: str = ""
) -> Label:
    transfer = kind == "transfer"
    first, second = words
    wide = max(
        (fonts.strong_width if transfer else fonts.small_width).horizontalAdvance(first),
        (fonts.small_width if transfer else fonts.strong_width).horizontalAdvance(second),
    )
    width = math.ceil(wide) + 22.0
    if width <= _NARROW:  # as much beside its words on the right as on the left
        width = max(40.0, math.ceil(wide) + 2 * side_of(width) + 2)
    width = min(width, max(40.0, route.room))
    height = 10.0 + 16.0 * bool(first) + 16.0 * bool(second) + (8.0 if fraction is not None else 0.0)
    x, y = route.anchor
    corner = {
        "right": (x, y - height / 2),
        "left": (x - width, y - height / 2),
        "below": (x - width / 2, y),
        "above": (x - width / 2, y - height),
    }[route.side]
    room = width - 2 * side_of(width)
    shown = (_cut(first, fonts, room, strong=transfer), _cut(second, fonts, room, strong=not transfer))
    return Label(kind, first, second, QRectF(round(corner[0]), round(corner[1]), width, height), shown, fraction, short)


def far_words(label: Label, fonts: Fonts, room: float) -> str:
    """Return the one line that can still be read from afar: a transfer's kind and share, a channel's lag."""
    words = label.second or label.first
    if label.kind == "transfer":
        kind = label.first.partition(",")[0].partition(" · ")[0]
        words = kind if label.fraction is None else f"{kind} · {label.fraction * 100:.0f} %"
    if label.short and fonts.far_state_width.horizontalAdvance(words) > room:
        words = label.short
    return fonts.far_state_width.elidedText(words, Qt.TextElideMode.ElideRight, room)


def side_of(width: float) -> float:
    """Return the margin beside a box's words: narrow boxes can't afford much."""
    return 10.0 if width > _NARROW else 5.0


_NARROW = 64.0
