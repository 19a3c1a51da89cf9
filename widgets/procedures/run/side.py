"""Beside the run: the cluster small, the plan's curves with the steps marked, the evidence of the step looked at."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout

from services.discovery.model import ClusterSnapshot
from services.i18n import tr
from services.procedures.plan.model import Chart, Plan
from services.procedures.plan.run_model import RunView, StepState, StepView
from widgets.common.controls.labels import label
from widgets.common.nodes import curve_index
from widgets.procedures.mono import MonoBox
from widgets.procedures.run.mini_plot import MiniPlot, StepMark
from widgets.procedures.run.mini_topology import MiniTopology
from widgets.procedures.values import Curve
from widgets.procedures.words import current_step

_EVIDENCE_LINES = 12


class SidePanel(QFrame):
    """Values in; nothing here can be clicked but the evidence, which can be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._view: RunView | None = None
        self._plan: Plan | None = None
        self._cluster: ClusterSnapshot | None = None
        self._looked_at = -1
        self.topology = MiniTopology()
        self.plots: list[MiniPlot] = []
        self._plots = QVBoxLayout()
        self._plots.setSpacing(12)
        self._title = label(tr("Evidence of this step"), "section")
        self.evidence = MonoBox(name=tr("Evidence of this step"), framed=False)
        self._card = QFrame()
        self._card.setProperty("kind", "card")
        boxed = QVBoxLayout(self._card)
        boxed.setContentsMargins(12, 8, 12, 10)
        boxed.addWidget(self.evidence)
        inner = QFrame()
        inner.setProperty("kind", "canvas")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(20, 16, 20, 20)
        self._column.setSpacing(12)
        self._column.addWidget(self.topology)
        self._column.addLayout(self._plots)
        self._column.addWidget(self._title)
        self._column.addWidget(self._card)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self.begin()

    def begin(self) -> None:
        """Forget the last run."""
        self._view = self._plan = self._cluster = None
        self._looked_at = -1
        self.topology.set_cluster(None)
        self._make_plots(())
        self._show_evidence()

    def has_content(self) -> bool:
        """Return whether there is something to show beside the plan."""
        return self._plan is not None or self.topology.has_cluster()

    def set_cluster(self, cluster: ClusterSnapshot | None) -> None:
        """Show the cluster as it is now."""
        self.topology.set_cluster(cluster)
        self._cluster = cluster
        self._color_plots()

    def _color_plots(self) -> None:
        """A node has the same colour here as in the charts."""
        for node in self._cluster.nodes if self._cluster is not None else ():
            for plot in self.plots:
                if self._cluster is not None and plot.chart.host in {node.host, node.name}:
                    plot.set_color(curve_index(self._cluster, node.node_id))

    def set_plan(self, plan: Plan) -> None:
        """Make a place for each curve that the plan finds worth watching."""
        if self._plan is None or plan.charts != self._plan.charts:
            self._make_plots(plan.charts)
        self._plan = plan

    def set_series(self, index: int, curve: Curve) -> None:
        """Show the curve of the plan's `index`-th chart; an index without a chart is none of ours."""
        if 0 <= index < len(self.plots):
            self.plots[index].set_curve(curve)
            self._share_axis()

    def _share_axis(self) -> None:
        """Give all curves one span: a step began at one place across, in every one of them."""
        spans = [span for plot in self.plots if (span := plot.own_span()) is not None]
        whole = (min(first for first, _ in spans), max(last for _, last in spans)) if spans else None
        for plot in self.plots:
            plot.set_span(whole)

    def set_run(self, view: RunView) -> None:
        """Mark where steps began, show the evidence of the one that runs."""
        before, self._view = self._view, view
        self.set_plan(view.plan)
        if before is None or current_step(before) != current_step(view):
            self._looked_at = -1
        marks = step_marks(view)
        for plot in self.plots:
            plot.set_marks(marks)
        self.topology.set_duties(tuple((o.obligation.host, o.obligation.sentence) for o in view.obligations))
        self._show_evidence()

    def look_at(self, index: int) -> None:
        """Show the evidence of another step, until the run goes on to its next."""
        self._looked_at = index
        self._show_evidence()

    def _make_plots(self, charts: tuple[Chart, ...]) -> None:
        for old in self.plots:
            self._plots.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.plots = [MiniPlot(chart) for chart in charts]
        for plot in self.plots:
            self._plots.addWidget(plot)
        self._color_plots()

    def _shown_step(self) -> StepView | None:
        if self._view is None:
            return None
        index = self._looked_at if self._looked_at >= 0 else current_step(self._view)
        if index < 0:
            begun = [i for i, shown in enumerate(self._view.steps) if shown.state is not StepState.PENDING]
            index = begun[-1] if begun else -1
        return self._view.steps[index] if 0 <= index < len(self._view.steps) else None

    def _show_evidence(self) -> None:
        shown = self._shown_step()
        lines = () if shown is None else shown.broken or shown.raw[-_EVIDENCE_LINES:]
        self.evidence.set_lines(tuple(lines))
        for part in (self._title, self._card):
            part.setVisible(bool(lines))


def step_marks(view: RunView) -> tuple[StepMark, ...]:
    """Return a mark where each changing step began; reads would only hide the curve."""
    current = current_step(view)
    return tuple(
        StepMark(shown.started, tr("step {number}", number=number))
        for number, shown in enumerate(view.steps, 1)
        if shown.started is not None and (shown.step.takes is not None or shown.step.moves or number - 1 == current)
    )
