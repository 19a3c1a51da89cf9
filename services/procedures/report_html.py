"""A report as one HTML file: no script, no address outside, light, printable. Text is only ever set, never pasted."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from services.discovery.model import ClusterSnapshot
from services.procedures.report_blocks import Block, Grid, Heading, Lines, Picture, Sentence, clean
from services.procedures.report_content import SeriesOf, UnitOf, report_blocks
from services.procedures.run_model import Entry, RunView
from services.words import tr

_STYLE = """
body { font: 14px/1.5 Inter, system-ui, sans-serif; color: #1A1E23; background: #FFFFFF; margin: 0 auto;
       max-width: 960px; padding: 32px 24px; font-feature-settings: "tnum"; }
h1 { font-size: 24px; margin: 0 0 12px; } h2 { font-size: 18px; margin: 32px 0 8px; border-bottom: 1px solid #D8DDE3; }
h3 { font-size: 14px; margin: 20px 0 4px; } p { margin: 4px 0; } figure { margin: 12px 0; }
figcaption, summary, .lines b { color: #4E5762; font-size: 12px; font-weight: 600; }
table { border-collapse: collapse; margin: 8px 0; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: 3px 12px 3px 0; border-bottom: 1px solid #E7EAEE; }
th { color: #4E5762; font-weight: 600; } td { overflow-wrap: anywhere; }
pre { font: 12px/1.45 "JetBrains Mono", ui-monospace, monospace; background: #F7F8FA; border: 1px solid #E7EAEE;
      border-radius: 4px; padding: 6px 10px; margin: 2px 0 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
.good, .warn, .bad { border-left: 3px solid; padding-left: 10px; }
.good { border-color: #147A55; } .warn { border-color: #E09A12; } .bad { border-color: #B8262B; color: #B8262B; }
svg { max-width: 100%; height: auto; font-family: Inter, system-ui, sans-serif; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } h2, h3 { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; } }
"""


def report_html(
    view: RunView,
    entries: tuple[Entry, ...],
    before: ClusterSnapshot | None = None,
    after: ClusterSnapshot | None = None,
    series: SeriesOf | None = None,
    *,
    unit_of: UnitOf | None = None,
) -> str:
    """Return the whole file's text; write it as UTF-8.

    Args:
        before, after: the cluster around the run; None: what the journal has (journal_entries.topology).
        series: the history's samples, None for a report without curves; unit_of: a metric's unit.
    """
    blocks = report_blocks(view, entries, before, after, series, unit_of)
    html = Element("html")
    head = SubElement(html, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
    SubElement(head, "title").text = clean(tr("Run {run}: {title}", run=view.run_id, title=view.plan.title))
    SubElement(head, "style").text = _STYLE
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
    else:
        _put_picture(body, block)


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
            SubElement(row, "th" if names else "td", {"scope": "row"} if names else {}).text = clean(cell)


def _put_picture(parent: Element, picture: Picture) -> None:
    figure = SubElement(parent, "figure")
    SubElement(figure, "figcaption").text = clean(picture.title)
    figure.append(picture.svg)
    details = SubElement(figure, "details")
    SubElement(details, "summary").text = tr("The same in figures")
    _put_grid(details, picture.words)
