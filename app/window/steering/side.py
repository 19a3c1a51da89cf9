"""Beside a plan or a run: its cluster as it is now, the curves that the plan finds worth watching, and what leads on
where the cluster of a run serves nobody any more."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.window.controller import Controller
from services.discovery.model import ClusterSnapshot
from services.discovery.naming import shown_names
from services.i18n import tr
from services.procedures.plan.model import Chart, Plan
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RunView
from services.procedures.plan.way_back import way_back
from services.sampling.model import Metric
from services.series import Series
from widgets.bridge.ops import Ops
from widgets.bridge.source import EstateSource
from widgets.procedures.run.wizard import WizardPage
from widgets.procedures.values import Curve

EVERY_MS = 2000
BEFORE_S, AFTER_S, LEAST_S = 120.0, 30.0, 300.0
POINTS = 300
Curves = list[tuple[int, Series]]


class SideFeed(QObject):
    """Fills the wizard's side panel while it is in sight."""

    def __init__(self, controller: Controller, wizard: WizardPage, ops: Ops, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._wizard = wizard
        self._ops = ops
        self._plan: Plan | None = None
        self._run: RunView | None = None
        self._whole = ""  # the run that is over and whose curves are complete
        self._cluster = ""
        self._metrics: dict[str, Metric] = {}
        self._abouts: tuple[About, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)
        controller.pump.snapshot_changed.connect(lambda _snapshot: self._show_cluster())

    def use(self, abouts: tuple[About, ...]) -> None:
        """Know the procedures."""
        self._abouts = abouts
        self._show_cluster()

    def follow(self, plan: Plan | None, run: RunView | None, cluster: str) -> None:
        """Show what belongs to this plan or run; nothing stops the timer."""
        fresh = plan is not self._plan or (run is None) != (self._run is None)
        self._plan, self._run, self._cluster = plan, run, cluster
        if plan is None and not cluster:
            self._timer.stop()
            return
        if not self._timer.isActive():
            self._timer.start()
            fresh = True
        if fresh:
            self._whole = ""
            self._show_cluster()
            self.refresh()
        elif run is not None:
            self._show_way_back(self._found())

    def stop(self) -> None:
        """Show nothing any more."""
        self._timer.stop()
        self._plan, self._cluster = None, ""

    def _show_cluster(self) -> None:
        if not self._timer.isActive() or not self._cluster:
            return
        found = self._found()
        self._wizard.set_cluster(found)
        self._show_way_back(found)

    def _found(self) -> ClusterSnapshot | None:
        estate = self._controller.source.snapshot()
        return estate.cluster(self._cluster) or next((c for c in estate.clusters if c.name == self._cluster), None)

    def _show_way_back(self, cluster: ClusterSnapshot | None) -> None:
        """Judge by the cluster as it is now; where it is not seen, by what the run saw last."""
        run = self._run
        codes = run.problems if run is not None else ()
        if cluster is not None:
            codes = tuple(problem.code for problem in cluster.problems)
        back = way_back(run, codes, self._abouts) if run is not None else None
        if back is None:
            self._wizard.back.show_way()
        else:
            self._wizard.back.show_way(back.words, back.about.name, tr(back.about.title))

    def refresh(self) -> None:
        """Ask for the curves on a worker."""
        plan, run = self._plan, self._run
        if plan is None or not plan.charts or not self._wizard.isVisible():
            return
        now = self._controller.source.now()
        began = run.started if run is not None and run.started is not None else now
        ended = run.ended if run is not None else None
        if ended is not None and run is not None:
            if self._whole == run.run_id:
                return
            if now > ended + AFTER_S:
                self._whole = run.run_id
        end = now if ended is None else min(now, ended + AFTER_S)
        start = min(began - BEFORE_S, end - LEAST_S)
        source, charts = self._controller.source, plan.charts

        def shown(found: Curves) -> None:
            if plan is self._plan:
                for index, series in found:
                    unit = self._unit(charts[index].metric)
                    curve = Curve(tuple(float(t) for t in series.t), tuple(float(v) for v in series.value), unit, now)
                    self._wizard.side.set_series(index, curve)

        self._ops.run("side curves", lambda: _curves(source, charts, start, end), shown)

    def _unit(self, key: str) -> str:
        if not self._metrics:
            self._metrics = {metric.key: metric for metric in self._controller.source.catalogue()}
        metric = self._metrics.get(key)
        return metric.unit if metric is not None else ""


def _curves(source: EstateSource, charts: tuple[Chart, ...], start: float, end: float) -> Curves:
    known = set(source.servers())
    # A plan calls hosts as the window does; their samples are kept under their keys.
    keys = {name: host for host, name in shown_names(source.snapshot()).items()}
    wanted = [(index, keys.get(chart.host, chart.host), chart.metric) for index, chart in enumerate(charts)]
    return [(index, source.series(host, metric, start, end, POINTS)) for index, host, metric in wanted if host in known]
