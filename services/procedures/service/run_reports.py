"""A run's report with the samples of its time, where the local history has any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from services.errors import StoreError
from services.history.store import HistoryStore
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.service.service import Desk
from services.sampling.catalogue import load_catalogue
from services.sampling.reader import SeriesReader
from services.series import Series

POINTS = 600
Make = Callable[..., str]


def html_of(desk: Desk, run_id: str, history: Path) -> str:
    """Return the run as one self-contained HTML file."""
    return _made(report_html, desk, run_id, history)


def markdown_of(desk: Desk, run_id: str, history: Path) -> str:
    """Return the run as Markdown."""
    return _made(report_markdown, desk, run_id, history)


def _made(make: Make, desk: Desk, run_id: str, history: Path) -> str:
    view, entries = desk.view(run_id), desk.journal.entries(run_id)
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
        reader = SeriesReader(store, catalogue)

        def series(metric: str, host: str, start: float, end: float) -> Series:
            return reader.series(host, metric, start, end, POINTS)

        return make(view, entries, series=series, unit_of=unit_of)
    finally:
        store.close()
