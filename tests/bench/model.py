"""What a benchmark returns: rows of measured ratios beside their limits."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One budget measured.

    Attributes:
        number: the budget's number; part: 'a', 'b' where a budget has several clauses.
        title: what is measured, against what.
        ratio: measured value as the ratio named in `title` (or an absolute where the budget is one); limit: its limit.
        unit: 'x' for ratios, else the unit of an absolute figure ('ms', 'missed', '%', 'B/sample').
        detail: medians behind the ratio, rounds, versions.
    """

    number: int
    part: str
    title: str
    ratio: float
    limit: float
    unit: str = "x"
    detail: str = ""

    @property
    def kept(self) -> bool:
        """Return whether the budget is kept."""
        return self.ratio <= self.limit

    @property
    def measured(self) -> bool:
        """Return whether there is a figure at all; `missing` makes rows without one."""
        return not math.isnan(self.ratio)


def missing(number: int, part: str, title: str, limit: float, why: object) -> Row:
    """Return the row of a budget whose other side can't be had here."""
    return Row(number, part, title, math.nan, limit, detail=str(why))


def paired(first: Callable[[], float], second: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """Measure A B A B ...; return (median of per-round ratios A/B, median A, median B).

    Pairing keeps a comparison honest when the machine's speed drifts during the run.
    """
    ratios: list[float] = []
    a_values: list[float] = []
    b_values: list[float] = []
    for _ in range(rounds):
        a, b = first(), second()
        a_values.append(a)
        b_values.append(b)
        ratios.append(a / b if b else float("inf"))
    return statistics.median(ratios), statistics.median(a_values), statistics.median(b_values)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| # | budget | measured | limit | kept | detail |", "| --- | --- | --- | --- | --- | --- |"]
    for row in sorted(rows, key=lambda r: (r.number, r.part)):
        kept = "yes" if row.kept else "**no**"
        measured = f"{row.ratio:.3g} {row.unit}" if row.measured else "**not measured**"
        lines.append(
            f"| {row.number}{row.part} | {row.title} | {measured} | {row.limit:.3g} {row.unit} "
            f"| {kept if row.measured else ''} | {row.detail} |"
        )
    return "\n".join(lines) + "\n"
