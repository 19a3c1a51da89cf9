"""Beside a run whose cluster has no Primary Component: that it can go nowhere, and the procedure that leads on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from services.discovery.model import ClusterSnapshot
from services.i18n import tr
from services.procedures.plan.procedure import About
from services.procedures.plan.run_model import RunView
from services.procedures.service.way_back import way_back
from services.types import Health
from widgets.common.boxes import HealthMark, button
from widgets.procedures.blocks import TintedFrame, put, words


class WayBackBox(TintedFrame):
    """`wanted(procedure)` by its button. Hidden where the cluster has what the run needs."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(Health.BAD)
        self._abouts: Sequence[About] = ()
        self._view: RunView | None = None
        self._live: frozenset[str] | None = None
        self._name = ""
        self._told = words("")
        self.begin = button("", on=lambda: self.wanted.emit(self._name))
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addWidget(self._told)
        column.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 12, 10)
        row.setSpacing(12)
        row.addWidget(HealthMark(Health.BAD, 13), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.hide()

    def use(self, abouts: Sequence[About]) -> None:
        """Know the procedures."""
        self._abouts = abouts
        self._judge()

    def show_run(self, view: RunView | None) -> None:
        """Judge for this run, None for none."""
        self._view = view
        self._judge()

    def show_cluster(self, cluster: ClusterSnapshot | None) -> None:
        """Judge by the cluster as it is now; None: by what the run saw last."""
        self._live = frozenset(problem.code for problem in cluster.problems) if cluster is not None else None
        self._judge()

    def text(self) -> str:
        """Return the sentences shown, '' while hidden."""
        return "" if self.isHidden() else self._told.text()

    def _judge(self) -> None:
        view = self._view
        codes: Collection[str] = self._live if self._live is not None else view.problems if view is not None else ()
        back = way_back(view, codes, self._abouts) if view is not None else None
        put(self._told, back.words if back is not None else "")
        if back is not None:
            self._name = back.about.name
            self.begin.setText(tr("{title}…", title=tr(back.about.title)))
        self.setVisible(back is not None)
