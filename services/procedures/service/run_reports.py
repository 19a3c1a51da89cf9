"""A run's report with the samples of its time, where the local history has any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from services.errors import StoreError, UserError
from services.history.store import HistoryStore
from services.procedures.plan.run_model import RunView
from services.procedures.report.around import windows_around
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.service.service import ProcedureService
from services.sampling.change.judge import SeriesOf, compare
from services.sampling.change.model import Asked, Comparison
from services.sampling.metrics.catalogue import Catalogue, load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.sampling.past.own_past import mark_of
from services.series import Series

POINTS = 600
"""Of each curve."""
Make = Callable[..., str]


def html_of(service: ProcedureService, run_id: str, history: Path) -> str:
    """Return the run as one self-contained HTML file."""
    return _made(report_html, service, run_id, history)


def markdown_of(service: ProcedureService, run_id: str, history: Path) -> str:
    """Return the run as Markdown."""
    return _made(report_markdown, service, run_id, history)


def _measured(view: RunView, series: SeriesOf, catalogue: Catalogue, now: float) -> Comparison | str:
    """Return what the run's hosts did before and after it, or why not; `now`: the newest sample's moment."""
    try:
        before, after = windows_around(view, now)
        return compare(Asked(view.plan.hosts, before, after), series, catalogue)
    except UserError as problem:
        return problem.sentence


def _made(make: Make, service: ProcedureService, run_id: str, history: Path) -> str:
    view, entries = service.view(run_id), service.journal.entries(run_id)
    catalogue = load_catalogue()

    def unit_of(key: str) -> str:
        metric = catalogue.metric(key)
        return metric.unit if metric is not None else ""

    try:
        store = HistoryStore.open(history, read_only=True) if history.exists() else None
    except StoreError:
        store = None  # a report without curves is better than none
    if store is None:
        return make(view, entries, unit_of=unit_of)
    try:
        store.of_inventory(mark_of(Path(service.inventory.path)), service.inventory.addresses())
        reader = SeriesReader(store, catalogue)

        def series(metric: str, host: str, start: float, end: float) -> Series:
            return reader.series(host, metric, start, end, POINTS)

        held = store.range()
        change = None if held is None else _measured(view, reader.series, catalogue, held[1])
        return make(view, entries, series=series, unit_of=unit_of, change=change)
    finally:
        store.close()
