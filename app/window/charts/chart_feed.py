"""Feeds the charts page: which charts for whom, their data on a worker, the newest seconds as they come."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.window.charts.chart_plan import ChartPlan, chart_plan, devices_of
from app.window.charts.silences import silences
from app.window.controller import Controller
from services.discovery.model import ClusterSnapshot, NodeView
from services.i18n import tr
from services.sampling.metrics.charts import read_charts
from services.series import Series
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.charts.page import ChartsPage

Tails = list[tuple[str, str, Series]]
_LATE_S = 2.5
"""How far back the newest samples are asked for again: a sample is stamped before it is stored."""
_MEMORY_S = 600.0
"""How far back a source's `tail` reaches."""


class ChartFeed(QObject):
    """Joins one controller with one charts page; it goes with its page: none is fed that is gone."""

    def __init__(self, controller: Controller, page: ChartsPage, ops: Ops) -> None:
        super().__init__(page)
        self._controller = controller
        self._page = page
        self._ops = ops
        self._plan: ChartPlan | None = None
        self._about: tuple[object, ...] = ()
        self._title = ""
        self._tailed = 0.0
        controller.shown.connect(self._on_shown)
        controller.pump.ticked.connect(self._on_tick)
        page.data_wanted.connect(self._on_wanted)

    def plan(self) -> ChartPlan | None:
        """Return what the page shows."""
        return self._plan

    # --- what is charted ---------------------------------------------------------------------------------------------

    def _on_shown(self, cluster: ClusterSnapshot | None) -> None:
        node = self._controller.node()
        if cluster is None or node is None:
            return
        if cluster.name != self._title:
            self._title = cluster.name  # a cluster is named after its inventory only once its members are known
            self._page.set_title(cluster.name, tr("all nodes"))
        focus = node if node.host else next((n for n in cluster.nodes if n.host), node)
        about = _about(cluster, focus)
        if about == self._about:
            self._tell_silences()
            return
        self._about = about
        source = self._controller.source
        # Samples may be held for a while by who writes them, or by another reader of a recording's file.
        self._ops.run(
            "redo capacity",
            lambda: _redo_capacity(focus, source),
            lambda capacity: self._draw_up(cluster, focus, capacity),
            lambda _: self._draw_up(cluster, focus, None),  # its curves will say what is wrong with the file
        )

    def _draw_up(self, cluster: ClusterSnapshot, focus: NodeView, capacity: float | None) -> None:
        plan = self._plan = chart_plan(cluster, focus, capacity)
        if faults := read_charts().faults:
            self._page.say_faults(faults)
        QTimer.singleShot(0, self, lambda: self._grow(plan))

    def _grow(self, plan: ChartPlan) -> None:
        """Make the cards one a turn of the event loop: all at once would hold it up for more than a frame."""
        if plan is not self._plan:
            return
        standing = set(self._page.specs())
        missing = [spec for spec in plan.specs if spec not in standing]
        self._page.set_specs([spec for spec in plan.specs if spec in standing or spec is missing[0]])
        self._tell_silences()
        if len(missing) > 1:
            QTimer.singleShot(0, self, lambda: self._grow(plan))

    def _tell_silences(self) -> None:
        """Let empty charts say what is the matter: who does not answer and since when, which way in is missing."""
        cluster = self._controller.cluster()
        if self._plan is None or cluster is None:
            return
        told = silences(self._plan, cluster)
        self._page.set_silences(told.charts, told.curves)

    def _on_wanted(self, chart: str, curve: str, start: float, end: float, points: int) -> None:
        place = self._plan.places.get((chart, curve)) if self._plan is not None else None
        if place is None:
            return
        source, page = self._controller.source, self._page
        server, metric = place
        self._ops.run(
            f"series {chart} {curve}",
            lambda: source.series(server, metric, start, end, points),
            lambda series: page.set_series(chart, curve, series),
        )

    # --- the newest seconds ------------------------------------------------------------------------------------------

    def _on_tick(self, now: float) -> None:
        """Add what was sampled since the last time; a view of the past (or of a recording) asks for its own data."""
        live = self._page.view().live and self._controller.moment is None
        if self._plan is None or not live or now - self._tailed < 0.95 or not self._page.isVisible():
            return
        since, self._tailed = max(self._tailed - _LATE_S, now - _MEMORY_S), now
        places, source = dict(self._plan.places), self._controller.source
        self._ops.run("tails", lambda: _tails(source, places, since), self._append)

    def _append(self, tails: Tails) -> None:
        for chart, curve, series in tails:
            self._page.append(chart, curve, series)


def _tails(source: EstateSource, places: dict[tuple[str, str], tuple[str, str]], since: float) -> Tails:
    newest: dict[tuple[str, str], Series] = {}
    found: Tails = []
    for (chart, curve), place in places.items():
        if place not in newest:
            newest[place] = source.tail(*place, since)
        if len(newest[place].t):
            found.append((chart, curve, newest[place]))
    return found


def _about(cluster: ClusterSnapshot, focus: NodeView) -> tuple[object, ...]:
    """What the page's plan depends on: a change of anything else must not rebuild it."""
    nodes = tuple((n.node_id, n.name, n.host) for n in cluster.nodes)
    replicas = tuple(edge.replica_id for edge in cluster.replication)
    server = focus.facts.server if focus.facts is not None else None
    settings = dict(server.variables) if server is not None else {}
    redo = settings.get("innodb_redo_log_capacity") or settings.get("innodb_log_file_size")
    return (cluster.cluster_id, cluster.kind, focus.node_id, nodes, replicas, redo, devices_of(focus))


def _redo_capacity(node: NodeView, source: EstateSource) -> float | None:
    series = source.tail(node.host, "innodb.redo_capacity", source.now() - 30.0)
    known = [float(v) for v in series.value if v == v]  # noqa: PLR0124 - NaN is the one value unlike itself
    return known[-1] if known else None
