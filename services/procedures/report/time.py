"""The time of a run as one drawing: a lane for each host, a bar for each step, numbered as in the plan. Pure.

The curves stand under it on the same axis (`Axis`). What was taken back is hollow, what failed is crossed: a bar's
meaning is never its colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from services.drawing.curve import Frame, x_of
from services.drawing.round_moments import round_moments, time_step
from services.i18n import tr
from services.procedures.plan.model import Risk
from services.procedures.plan.run_model import RunView, StepState, StepView
from services.procedures.report.blocks import Grid, Picture, hour
from services.procedures.report.style import INK
from services.procedures.report.topology import new_svg, put_text

WIDTH, LEFT, RIGHT = 960.0, 84.0, 16.0
_TOP, _LANE, _BAR, _LEGEND = 22.0, 30.0, 10.0, 26.0
_LEAST = 3.0  # a bar that took no time still is seen
_ROOM = 16.0  # what a number of two digits takes
_TICKS = 9
_ILL = frozenset({StepState.FAILED, StepState.UNDO_FAILED, StepState.CANCELLED, StepState.IN_DOUBT})


@dataclass(frozen=True, slots=True)
class Axis:
    """The time that timeline and curves share: from, to (UTC epoch seconds)."""

    start: float
    end: float

    def x(self, at: float) -> float:
        """Return where a moment is, inside the drawing."""
        within = min(max(at, self.start), self.end)
        return x_of(within, self.start, max(self.end, self.start + 1.0), LEFT, WIDTH - LEFT - RIGHT)

    def frame(self, top: float, bottom: float, values: tuple[float, float]) -> Frame:
        """Return where a curve of this time stands: between which heights, from which value to which."""
        end = max(self.end, self.start + 1.0)
        return Frame(LEFT, top, WIDTH - RIGHT, bottom, self.start, end, values[0], values[1])

    def ticks(self) -> tuple[float, ...]:
        """Return round moments, at most nine."""
        step = time_step(max(self.end - self.start, 1.0), _TICKS)
        return round_moments(self.start, self.end, step)


@dataclass(frozen=True, slots=True)
class Bar:
    """One stretch of one step: its number in the plan, when, which ink, whether it is its undo, whether it failed."""

    number: int
    start: float
    end: float
    ink: str
    undo: bool = False
    ill: bool = False


def axis_of(view: RunView) -> Axis:
    """Return the run's time with a little room on either side."""
    start = view.started or 0.0
    end = max(view.ended or view.journal_at or start, start)
    room = min(30.0, max(2.0, (end - start) * 0.04))
    return Axis(start - room, end + room)


def timeline(view: RunView, axis: Axis) -> Picture | None:
    """Return the drawing, None where no step began."""
    lanes = _lanes(view)
    if not lanes:
        return None
    height = _TOP + len(lanes) * _LANE + _LEGEND
    svg = new_svg(WIDTH, height, tr("The run's steps by host and time"))
    upright(svg, axis, _TOP - 4, _TOP + len(lanes) * _LANE)
    axis_words(svg, axis, _TOP - 9)
    for row, (host, bars) in enumerate(lanes):
        _lane(svg, axis, _TOP + row * _LANE, host or tr("console"), bars)
    _legend(svg, height - 8, {(bar.ink, bar.undo, bar.ill) for _, bars in lanes for bar in bars})
    return Picture(tr("Steps by host (UTC)"), svg, _in_figures(lanes))


def _in_figures(lanes: list[tuple[str, list[Bar]]]) -> Grid:
    headers = (tr("Host"), tr("Step"), tr("From (UTC)"), tr("Until"))
    rows = (
        (host or tr("console"), _number(bar), hour(bar.start), hour(bar.end))
        for host, bars in lanes
        for bar in sorted(bars, key=lambda b: b.start)
    )
    return Grid(headers, tuple(rows))


def _number(bar: Bar) -> str:
    """Return '6', '↶6' for its undo; '6 ✕' for what failed."""
    return f"{'↶' if bar.undo else ''}{bar.number}{' ✕' if bar.ill else ''}"


def upright(svg: Element, axis: Axis, top: float, bottom: float) -> None:
    """Put the axis' thin lines into a drawing."""
    for at in axis.ticks():
        x = f"{axis.x(at):.1f}"
        SubElement(svg, "line", {"x1": x, "x2": x, "y1": f"{top:g}", "y2": f"{bottom:g}", "stroke": INK["divider"]})


def axis_words(svg: Element, axis: Axis, y: float) -> None:
    """Put the moments over or under the lines."""
    for at in axis.ticks():
        x = axis.x(at)
        if LEFT - 4 <= x <= WIDTH - RIGHT - 16:
            put_text(svg, (x, y), hour(at), font_size="11", fill=INK["third"], text_anchor="middle")


def bars_of(number: int, shown: StepView) -> tuple[Bar, ...]:
    """Return the stretches of a step: its own, and its undo's."""
    found = []
    if shown.started is not None and shown.state is not StepState.PENDING:
        ill = bool(shown.failed) or shown.state in _ILL - {StepState.UNDO_FAILED}
        end = shown.ended if shown.ended is not None else shown.undo.started if shown.undo else shown.started
        found.append(Bar(number, shown.started, max(end, shown.started), _ink(shown), ill=ill))
    if shown.undo is not None:
        end = shown.undo.ended if shown.undo.ended is not None else shown.undo.started
        ill = shown.state is StepState.UNDO_FAILED
        found.append(Bar(number, shown.undo.started, max(end, shown.undo.started), INK["transfer"], undo=True, ill=ill))
    return tuple(found)


def _lanes(view: RunView) -> list[tuple[str, list[Bar]]]:
    lanes: dict[str, list[Bar]] = {}
    for number, shown in enumerate(view.steps, 1):
        for bar in bars_of(number, shown):
            lanes.setdefault(shown.step.host, []).append(bar)
    order = [*view.plan.hosts, *sorted(set(lanes) - set(view.plan.hosts) - {""}), ""]
    return [(host, lanes[host]) for host in order if host in lanes]


def _ink(shown: StepView) -> str:
    risk = shown.step.risk
    if risk in {Risk.READS, Risk.YOU}:
        return INK["stale"]
    return INK["warn_fill"] if risk in {Risk.NODE_DOWN, Risk.IRREVERSIBLE} else INK["curve"]


def _lane(svg: Element, axis: Axis, top: float, host: str, bars: list[Bar]) -> None:
    middle = top + _LANE - _BAR / 2 - 4
    put_text(svg, (LEFT - 10, middle + 4), _cut(host), font_size="12", fill=INK["text"], text_anchor="end")
    ends = {"x1": f"{LEFT:g}", "x2": f"{WIDTH - RIGHT:g}", "y1": f"{middle:.1f}", "y2": f"{middle:.1f}"}
    SubElement(svg, "line", {**ends, "stroke": INK["divider"]})
    for bar in sorted(bars, key=lambda b: b.start):
        x = axis.x(bar.start)
        _bar(svg, x, middle, max(_LEAST, axis.x(bar.end) - x), bar.ink, undo=bar.undo, ill=bar.ill)
    marks = sorted((axis.x(b.start), f"↶{b.number}" if b.undo else str(b.number)) for b in bars)
    for x, label in grouped(marks):
        put_text(svg, (x, middle - _BAR / 2 - 3), label, font_size="10", fill=INK["second"])


def _bar(svg: Element, x: float, middle: float, wide: float, ink: str, *, undo: bool, ill: bool) -> None:
    """Draw one bar: hollow for an undo, crossed for what failed."""
    box = {"x": f"{x:.1f}", "y": f"{middle - _BAR / 2:.1f}", "width": f"{wide:.1f}", "height": f"{_BAR:g}", "rx": "2"}
    painted = INK["bad"] if ill else ink
    look = {"fill": INK["panel"], "stroke": painted, "stroke-width": "1.5"} if undo else {"fill": painted}
    SubElement(svg, "rect", {**box, **look})
    if ill:
        middle_x = x + wide / 2
        for dy in (-1, 1):
            d = f"M{middle_x - 4:.1f} {middle - 4 * dy:.1f} L{middle_x + 4:.1f} {middle + 4 * dy:.1f}"
            SubElement(svg, "path", {"d": d, "stroke": INK["text"], "stroke-width": "1.5"})


def grouped(marks: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the labels where they stand; those too close to be read apart as '2–7' at the first."""
    groups: list[list[tuple[float, str]]] = []
    for mark in marks:
        room = _ROOM if not groups or len(groups[-1]) == 1 else 2 * _ROOM + 4
        if groups and mark[0] - groups[-1][0][0] < room:
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return [(g[0][0], _range(g[0][1], g[-1][1])) for g in groups]


def _range(first: str, last: str) -> str:
    """Return '2–7'; two undos share one arrow."""
    if first == last:
        return first
    return f"{first}–{last.removeprefix('↶') if first.startswith('↶') else last}"


def _legend(svg: Element, y: float, used: set[tuple[str, bool, bool]]) -> None:
    known = (
        (INK["curve"], False, False, tr("changes")),
        (INK["warn_fill"], False, False, tr("node down, or cannot be undone")),
        (INK["stale"], False, False, tr("reads, waits, asks you")),
        (INK["transfer"], True, False, tr("rolled back")),
    )
    x = LEFT
    inks = {(ink, undo) for ink, undo, _ in used}
    shown = [(ink, undo, ill, text) for ink, undo, ill, text in known if (ink, undo) in inks]
    if any(ill for _, _, ill in used):
        shown.append((INK["bad"], False, True, tr("failed or interrupted")))
    for ink, undo, ill, text in shown:
        _bar(svg, x, y - 4, 18.0, ink, undo=undo, ill=ill)
        put_text(svg, (x + 24, y), text, font_size="11", fill=INK["third"])
        x += 24 + 6.2 * len(text) + 20


def _cut(text: str, most: int = 12) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
