"""A report as Markdown (CommonMark with tables, as GitHub and GitLab show it); pictures become their tables.

What hosts and people wrote is escaped, so that a host's name or a log line can't become a heading, a link or HTML.
"""

from __future__ import annotations

import re

from services.discovery.model import ClusterSnapshot
from services.procedures.plan.run_model import Entry, RunView
from services.procedures.report.blocks import Block, Fold, Grid, Heading, Lines, Sentence, clean
from services.procedures.report.content import SeriesOf, UnitOf, report_blocks
from services.sampling.change.model import Comparison

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_LIST = re.compile(r"(\d*)([-+.)])(?=\s|$)|(--)")


def report_markdown(
    view: RunView,
    entries: tuple[Entry, ...],
    before: ClusterSnapshot | None = None,
    after: ClusterSnapshot | None = None,
    series: SeriesOf | None = None,
    *,
    unit_of: UnitOf | None = None,
    change: Comparison | str | None = None,
) -> str:
    """Return the whole file's text (arguments as of `report_html`)."""
    blocks = report_blocks(view, entries, before, after, series, unit_of, change)
    return "\n\n".join(filter(None, map(_text, blocks))) + "\n"


def _text(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_inline(block.text)}"
    if isinstance(block, Sentence):
        return f"**{_inline(block.text)}**" if block.tone == "bad" else _sentence(block.text)
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Lines):
        return _lines(block)
    if isinstance(block, Fold):
        return "\n\n".join(filter(None, (f"{'#' * block.level} {_inline(block.title)}", *map(_text, block.blocks))))
    return f"### {_inline(block.title)}\n\n{_grid(block.words)}" if block.words.rows else ""


def _inline(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(clean(text).split()))


def _sentence(text: str) -> str:
    """Return text that stays a paragraph though it begins like an item of a list or a rule."""
    shown = _inline(text)
    found = _LIST.match(shown)
    at = found.start(3) if found and found[3] else found.start(2) if found else None
    return shown if at is None else f"{shown[:at]}\\{shown[at:]}"


def _grid(grid: Grid) -> str:
    width = len(grid.headers) or max((len(row) for row in grid.rows), default=2)
    rows = [grid.headers or ("",) * width, ("---",) * width]
    lines = [_row(rows[0]), "| " + " | ".join(rows[1]) + " |", *(_row(row) for row in grid.rows)]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_inline(cell) for cell in cells) + " |"


def _lines(block: Lines) -> str:
    """Return a fence longer than any run of backticks inside (CommonMark: "Fenced code blocks")."""
    body = clean("\n".join(block.lines))
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{_inline(block.title)}:\n\n{fence}text\n{body}\n{fence}"
