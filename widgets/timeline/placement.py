"""Where events stand on the strip and which of their sentences fit. Pure geometry, no painting."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from operator import attrgetter

from services.events import Event
from services.types import Health, worst

GLYPH_PX = 11.0
_MERGE_PX = 10.0
_LABEL_GAP_PX = 8.0
_LEAST_LABEL_PX = 46.0
_WIDEST_LABEL_PX, _WIDEST_SHARE = 260.0, 0.2
_LEAST_SHARE = 0.5
_SPAN_LANES = 2
_begin = attrgetter("at")


@dataclass(frozen=True, slots=True)
class Mark:
    """Events at (nearly) the same pixel: one glyph. `events` oldest first, `x` of the first, `health` the worst."""

    x: float
    events: tuple[Event, ...]

    @property
    def health(self) -> Health:
        """Return the worst health of the events."""
        return worst(tuple(event.health for event in self.events))

    @property
    def lead(self) -> Event:
        """Return the event whose sentence stands for all: the most severe, of those the newest."""
        return max(self.events, key=lambda event: (event.health.severity, event.at))

    @property
    def text(self) -> str:
        """Return the sentence, with how many more there are."""
        more = len(self.events) - 1
        return f"{self.lead.text} +{more}" if more else self.lead.text


@dataclass(frozen=True, slots=True)
class Bar:
    """A span: from `left` to `right` in `lane` 0 or 1; `open_end`: nobody saw it end within the view."""

    left: float
    right: float
    lane: int
    event: Event
    starts: bool
    open_end: bool


@dataclass(frozen=True, slots=True)
class Label:
    """A sentence (perhaps to be cut) that has `width` pixels from `left`, in `row` 0 (near the glyphs) or 1 (above)."""

    left: float
    width: float
    row: int
    mark: Mark


def place_marks(events: Sequence[Event], x_of: Callable[[float], float], left: float, right: float) -> tuple[Mark, ...]:
    """Return the glyphs in sight; events closer than a glyph's width share one."""
    groups: list[tuple[float, list[Event]]] = []
    ordered = sorted(events, key=_begin)
    first = bisect_left(ordered, left - 1, key=lambda event: x_of(event.at))
    for event in islice(ordered, first, None):
        x = x_of(event.at)
        if x > right + 1:
            break
        if groups and x - groups[-1][0] < _MERGE_PX:
            groups[-1][1].append(event)
        else:
            groups.append((x, [event]))
    return tuple(Mark(x, tuple(members)) for x, members in groups)


def place_bars(
    events: Sequence[Event], x_of: Callable[[float], float], left: float, right: float, now: float
) -> tuple[Bar, ...]:
    """Return the spans in sight, those that overlap in two lanes (a third lies on the second)."""
    ends = [float("-inf")] * _SPAN_LANES
    bars: list[Bar] = []
    for event in sorted((e for e in events if e.spans), key=_begin):
        first, last = x_of(event.at), x_of(now if event.until is None else event.until)
        if last < left or first > right:
            continue
        lane = next((i for i, end in enumerate(ends) if end <= first), _SPAN_LANES - 1)
        ends[lane] = max(ends[lane], last)
        bars.append(
            Bar(
                max(first, left),
                max(min(last, right), max(first, left) + 2),
                lane,
                event,
                first >= left,
                event.until is None or event.unseen_end or last > right,
            )
        )
    return tuple(bars)


def place_labels(
    marks: Sequence[Mark], measure: Callable[[str], float], left: float, right: float
) -> tuple[Label, ...]:
    """Return the sentences that have room in two rows: transfers first, then the most severe, then the newest.

    A sentence stands beside its glyph, cut if need be; it gives way before it becomes too short to read, and its
    glyph and tooltip stay.
    """
    widest = max(_WIDEST_LABEL_PX, _WIDEST_SHARE * (right - left))
    ascending = sorted({mark.x for mark in marks})
    behind = dict(zip(ascending, (left, *(max(left, x + _LABEL_GAP_PX) for x in ascending)), strict=False))
    taken: tuple[list[_Piece], ...] = ([], [])
    labels: list[Label] = []
    for mark in sorted(marks, key=_importance, reverse=True):
        place = _Place(mark, min(measure(mark.text), widest), (left, right), behind[mark.x])
        label = _first_place(place, taken)
        if label is not None:
            taken[label.row].append((label.left - _LABEL_GAP_PX, label.left + label.width + _LABEL_GAP_PX))
            if label.row == 1:  # the line down to the glyph
                taken[0].append((mark.x - 3, mark.x + 3))
            labels.append(label)
    grown = (_grown(label, measure, taken[label.row], right) for label in labels)
    return tuple(sorted(grown, key=lambda label: (label.left, label.row)))


def _grown(label: Label, measure: Callable[[str], float], taken: Sequence[_Piece], right: float) -> Label:
    """Return a sentence that was cut for those that came after it, as long as they left it room at its end."""
    if label.left < label.mark.x:
        return label
    stop = min([right, *(first for first, _ in taken if first > label.left)])
    return replace(label, width=max(label.width, min(measure(label.mark.text), stop - label.left)))


_Piece = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence looking for room between `ends`; to the left it must not reach over the mark before: `behind`."""

    mark: Mark
    wanted: float
    ends: _Piece
    behind: float


def _importance(mark: Mark) -> tuple[bool, int, float]:
    return any(event.kind == "transfer" for event in mark.events), mark.health.severity, mark.x


def _first_place(place: _Place, taken: tuple[list[_Piece], ...]) -> Label | None:
    """Return the first place with room: right of the glyph in either row, there cut, left of it, there cut."""
    mark, wanted = place.mark, place.wanted
    cut = max(min(wanted, _LEAST_LABEL_PX), _LEAST_SHARE * wanted)
    for rightwards, least, row in product((True, False), (wanted, cut), (0, 1)):
        if row == 1 and any(first < mark.x < last for first, last in taken[0]):
            continue  # the line to the glyph would cross a sentence
        ends = place.ends if rightwards else (place.behind, place.ends[1])
        room = _room(mark.x, taken[row], ends, rightwards)
        if room is not None and room[1] - room[0] >= least:
            width = min(wanted, room[1] - room[0])
            return Label(room[0] if rightwards else room[1] - width, width, row, mark)
    return None


def _room(x: float, taken: Sequence[_Piece], ends: _Piece, rightwards: bool) -> _Piece | None:
    """Return the free stretch beside `x` (None when `x` itself is taken)."""
    if rightwards:
        start = x + _LABEL_GAP_PX
        if any(first < start < last for first, last in taken):
            return None
        return start, min([ends[1], *(first for first, _ in taken if first >= start)])
    end = min(x - _LABEL_GAP_PX, ends[1])
    if any(first < end < last for first, last in taken):
        return None
    return max([ends[0], *(last for _, last in taken if last <= end)]), end
