"""The steps of a plan, one row each; one Tab stop for all of them, arrows move inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.procedures.model import Step
from services.procedures.run_model import TAKEN_BACK, StepView
from services.words import tr
from widgets.common.fonts import STRONG, px
from widgets.common.theme import ui_font
from widgets.procedures.step_content import RowInput
from widgets.procedures.step_row import StepRow
from widgets.procedures.values import Rehearsed

_LEAST_HOST, _MOST_HOST = 34.0, 132.0


class StepList(QWidget):
    """Signals: `step_chosen(int)` for the step a person looks at, `shown_wanted(int)` to scroll a row into sight."""

    step_chosen = Signal(int)
    shown_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[StepRow] = []
        self._steps: tuple[Step, ...] = ()
        self._views: tuple[StepView, ...] = ()
        self._wording: Mapping[str, tuple[str, ...]] = {}
        self._rehearsed: dict[str, Rehearsed] = {}
        self._now = 0.0
        self._asked = -1
        self._current = -1
        self._expanded: set[int] = set()
        self._inline_evidence = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setAccessibleName(tr("Steps"))

    def show_plan(self, steps: tuple[Step, ...], wording: Mapping[str, tuple[str, ...]], now: float = 0.0) -> None:
        """Show a plan; rows of steps that stay are kept (a continued plan begins with what was done)."""
        self._wording = dict(wording)
        same = 0
        while same < min(len(steps), len(self._steps)) and steps[same] == self._steps[same]:
            same += 1
        for row in self.rows[same:]:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        del self.rows[same:]
        self._steps = steps
        self._views = (*self._views[:same], *(StepView(step) for step in steps[same:]))
        self._rehearsed = {key: found for key, found in self._rehearsed.items() if key in {s.step_id for s in steps}}
        width = self._host_width()
        for index in range(same, len(steps)):
            row = StepRow(index, self._views[index], self._given(index), width)
            row.chosen.connect(self.step_chosen)
            row.moved.connect(partial(self._move, row))
            self.rows.append(row)
            self._column.addWidget(row)
        self._refresh(now)
        self._one_stop(0)

    @property
    def wording(self) -> Mapping[str, tuple[str, ...]]:
        """Return the lines known of each step."""
        return self._wording

    def focus_current(self) -> None:
        """Give the keys to the step that runs, else to the first."""
        self.rows[max(0, self._current)].setFocus(Qt.FocusReason.TabFocusReason)

    def show_rehearsal(self, results: tuple[Rehearsed, ...], now: float = 0.0) -> None:
        """Show under each step what its rehearsal found."""
        self._rehearsed = {found.step_id: found for found in results}
        self._refresh(now)

    def show_views(self, views: tuple[StepView, ...], current: int, asked: int, now: float) -> int:
        """Bring the rows up to date in place; return how many changed. `views` belong to the plan shown."""
        moved = current != self._current
        self._views, self._current, self._asked = views, current, asked
        changed = self._refresh(now)
        if moved and 0 <= current < len(self.rows):
            self._one_stop(current)
            self.shown_wanted.emit(current)
        return changed

    def set_inline_evidence(self, wanted: bool) -> None:
        """Show the current step's evidence in its row, where there is no room beside."""
        if wanted != self._inline_evidence:
            self._inline_evidence = wanted
            self._refresh(self._now)

    def tick(self, now: float) -> None:
        """Let the durations of what runs go on."""
        self._refresh(now)

    def _refresh(self, now: float) -> int:
        self._now = now
        return sum(
            row.show_step(view, self._given(row.index), now) for row, view in zip(self.rows, self._views, strict=True)
        )

    def _given(self, index: int) -> RowInput:
        step = self._steps[index]
        back = index < len(self._views) and self._views[index].state in TAKEN_BACK
        return RowInput(
            wording=self._wording.get(f"undo:{step.step_id}" if back else step.step_id, ()),
            rehearsed=self._rehearsed.get(step.step_id),
            expanded=index in self._expanded,
            asked=index == self._asked,
            with_evidence=self._inline_evidence and index == self._current,
        )

    def _host_width(self) -> float:
        metrics = QFontMetricsF(ui_font(weight=STRONG))
        names = {step.host or tr("all") for step in self._steps}
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(max(widest + 1, px(_LEAST_HOST)), px(_MOST_HOST))

    def _one_stop(self, index: int) -> None:
        for row in self.rows:
            row.setFocusPolicy(Qt.FocusPolicy.StrongFocus if row.index == index else Qt.FocusPolicy.ClickFocus)

    def _move(self, row: StepRow, by: int) -> None:
        if by == 0:
            self._expanded ^= {row.index}
            row.show_step(replace(self._views[row.index]), self._given(row.index), self._now)
            return
        index = min(max(row.index + by, 0), len(self.rows) - 1)
        self._one_stop(index)
        self.rows[index].setFocus(Qt.FocusReason.TabFocusReason)
        self.shown_wanted.emit(index)
