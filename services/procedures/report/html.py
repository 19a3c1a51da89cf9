"""A report as one HTML file: no script, no address outside, light or dark, printable. Text is only ever set."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from services.discovery.model import ClusterSnapshot
from services.i18n import tr
from services.procedures.plan.run_model import Entry, RunView
from services.procedures.report.blocks import Block, Fold, Grid, Heading, Lines, Picture, Sentence, clean
from services.procedures.report.content import SeriesOf, UnitOf, report_blocks
from services.procedures.report.style import style
from services.sampling.change.model import Comparison

_SHORT = 24
"""Characters of a cell that stands on one line: a code, a moment, a host; what is longer is broken where it must be."""


def report_html(
    view: RunView,
    entries: tuple[Entry, ...],
    before: ClusterSnapshot | None = None,
    after: ClusterSnapshot | None = None,
    series: SeriesOf | None = None,
    *,
    unit_of: UnitOf | None = None,
    change: Comparison | str | None = None,
) -> str:
    """Return the whole file's text; write it as UTF-8.

    Args:
        before, after: the cluster around the run; None: what the journal has (entries.topology).
        series: the history's samples, None for a report without curves; unit_of: a metric's unit.
        change: what was measured around the run, or why nothing was.
    """
    blocks = report_blocks(view, entries, before, after, series, unit_of, change)
    html = Element("html")
    head = SubElement(html, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "title").text = clean(tr("Run {run}: {title}", run=view.run_id, title=view.plan.title))
    SubElement(head, "style").text = style()
    body = SubElement(SubElement(html, "body"), "main")
    for block in blocks:
        _put(body, block)
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _put(body: Element, block: Block) -> None:
    if isinstance(block, Heading):
        SubElement(body, f"h{block.level}").text = clean(block.text)
    elif isinstance(block, Sentence):
        paragraph = SubElement(body, "p", {"class": block.tone} if block.tone else {})
        paragraph.text = clean(block.text)
    elif isinstance(block, Grid):
        _put_grid(body, block)
    elif isinstance(block, Lines):
        part = SubElement(body, "div", {"class": "lines"})
        SubElement(part, "b").text = clean(block.title)
        SubElement(part, "pre").text = clean("\n".join(block.lines))
    elif isinstance(block, Fold):
        _put_fold(body, block)
    else:
        _put_picture(body, block)


def _put_fold(parent: Element, fold: Fold) -> None:
    """Put a part that opens and shuts without a script (HTML, "The details element")."""
    part = SubElement(parent, "details", {"class": f"fold level{fold.level}", **({"open": ""} if fold.open else {})})
    summary = SubElement(part, "summary")
    SubElement(summary, f"h{fold.level}").text = clean(fold.title)
    for block in fold.blocks:
        _put(part, block)


def _put_grid(parent: Element, grid: Grid) -> None:
    table = SubElement(parent, "table")
    if grid.headers:
        row = SubElement(SubElement(table, "thead"), "tr")
        for header in grid.headers:
            SubElement(row, "th", {"scope": "col"}).text = clean(header)
    body = SubElement(table, "tbody")
    for cells in grid.rows:
        row = SubElement(body, "tr")
        for i, cell in enumerate(cells):
            names = not grid.headers and i == 0
            kind = {"scope": "row"} if names else {"class": "short"} if len(cell) <= _SHORT else {}
            SubElement(row, "th" if names else "td", kind).text = clean(cell)


def _put_picture(parent: Element, picture: Picture) -> None:
    figure = SubElement(parent, "figure")
    SubElement(figure, "figcaption").text = clean(picture.title)
    figure.append(picture.svg)
    if not picture.words.rows:
        return
    details = SubElement(figure, "details")
    SubElement(details, "summary").text = tr("The same as numbers")
    _put_grid(details, picture.words)
