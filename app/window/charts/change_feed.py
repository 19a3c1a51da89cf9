"""Measures a change for the charts page: reads and compares on a worker, hands the page words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import QObject

from app.window.charts.chart_feed import ChartFeed
from app.window.charts.run_windows import run_windows
from app.window.controller import Controller
from services.discovery.model import ClusterSnapshot
from services.errors import UserError
from services.i18n import tr
from services.sampling.change.judge import compare
from services.sampling.change.model import Asked, Comparison, Despite, Direction, Window
from services.sampling.change.words import HEADERS, footnote, row
from services.sampling.metrics.catalogue import load_catalogue
from widgets.bridge.ops import Ops
from widgets.charts.compare.panel import ALL, CHARTED, Wanted
from widgets.charts.compare.table import Result
from widgets.charts.page import ChartsPage

_ORDER = (Direction.HIGHER, Direction.LOWER, Direction.NONE, Direction.UNKNOWN)


class ChangeFeed(QObject):
    """Joins one controller with the panel of one charts page; it goes with its page."""

    def __init__(self, controller: Controller, page: ChartsPage, feed: ChartFeed, ops: Ops) -> None:
        super().__init__(page)
        self._controller = controller
        self._feed = feed
        self._panel = page.compare
        self._ops = ops
        self._node = ""
        controller.shown.connect(self._on_shown)
        self._panel.opened.connect(self._offer_runs)
        self._panel.wanted.connect(self._compare)

    def _on_shown(self, cluster: ClusterSnapshot | None) -> None:
        node = self._controller.node()
        name = node.name if cluster is not None and node is not None else ""
        if name and name != self._node:
            self._node = name
            self._panel.set_subject(name)

    def _offer_runs(self) -> None:
        runs = run_windows(self._controller.events, self._controller.source.now())
        self._panel.set_runs([(words, _ends(before), _ends(after)) for words, before, after in runs])

    def _compare(self, wanted: Wanted) -> None:
        names = self._names(everyone=wanted.everyone)
        if not names:
            self._panel.show_problem(tr("No node of this cluster is watched."))
            return
        asked = Asked(
            tuple(names),
            Window(*wanted.before),
            Window(*wanted.after),
            self._metrics(wanted.numbers),
            cast("frozenset[Despite]", wanted.despite),
        )
        source, panel = self._controller.source, self._panel

        def work() -> Result:
            return _told(compare(asked, source.series, load_catalogue()), names)

        def failed(problem: UserError) -> None:
            panel.show_problem(" ".join((problem.sentence, *problem.try_)))

        self._ops.run("change", work, panel.show_result, failed)

    def _names(self, *, everyone: bool) -> dict[str, str]:
        """Return whose numbers are compared: the host of each node -> its name."""
        cluster, chosen = self._controller.cluster(), self._controller.node()
        nodes = cluster.nodes if cluster is not None and everyone else [chosen] if chosen is not None else []
        return {node.host: node.name for node in nodes if node.host}

    def _metrics(self, numbers: str) -> tuple[str, ...]:
        plan = self._feed.plan()
        if numbers == CHARTED and plan is not None:
            return tuple(dict.fromkeys(metric for _, metric in plan.places.values()))
        return tuple(metric.key for metric in load_catalogue()) if numbers == ALL else ()


def _told(found: Comparison, names: Mapping[str, str]) -> Result:
    """Return what the panel shows, what differs first; the words are made on the worker, too."""
    ordered = sorted(found.changes, key=lambda change: _ORDER.index(change.verdict))
    rows = tuple((names.get(change.server, change.server), *row(change)[1:]) for change in ordered)
    return Result(tuple(tr(header) for header in HEADERS), rows, footnote(found))


def _ends(window: Window) -> tuple[float, float]:
    return window.start, window.end
