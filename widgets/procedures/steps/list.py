"""The steps of a plan, read by node: groups that fold, a row a step; one Tab stop for all, arrows move inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.model import Step
from services.procedures.plan.run_model import TAKEN_BACK, StepView
from widgets.common.look.fonts import STRONG, px
from widgets.common.look.theme import theme_holder, ui_font
from widgets.procedures.steps.content import RowInput
from widgets.procedures.steps.group_head import GroupHead
from widgets.procedures.steps.group_state import Phase, head_words, next_step, phase_of, stands_open
from widgets.procedures.steps.groups import StepGroup, grouped
from widgets.procedures.steps.row import StepRow
from widgets.procedures.values import Rehearsed

_LEAST_HOST, _MOST_HOST = 34.0, 132.0


class StepList(QWidget):
    """Signals: `step_chosen(int)` for the step a person looks at, `shown_wanted(int)` to scroll a row into sight.

    `rows` has a row for every step, shown or folded; `heads` one head for each group of more than one step.
    """

    step_chosen = Signal(int)
    shown_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[StepRow] = []
        self.heads: list[GroupHead] = []
        self.groups: tuple[StepGroup, ...] = ()
        self._steps: tuple[Step, ...] = ()
        self._views: tuple[StepView, ...] = ()
        self._wording: Mapping[str, tuple[str, ...]] = {}
        self._rehearsed: dict[str, Rehearsed] = {}
        self._now = 0.0
        self._asked = -1
        self._current = -1
        self._to_read = True
        self._phases: dict[int, Phase] = {}
        """Of each group's first step where the group stood when it opened or folded by itself last."""
        self._expanded: set[int] = set()
        self._inline_evidence = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setAccessibleName(tr("Steps"))
        theme_holder().sized.connect(self._fit_text)

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
            row.turned.connect(partial(self._turn_row, row))
            self.rows.append(row)
            self._column.addWidget(row)
        if not same:
            self._to_read, self._current = True, -1
        self._make_heads(same, width)
        self._refresh(now)
        self._fold()
        self._one_stop(self._first_stop())

    @property
    def wording(self) -> Mapping[str, tuple[str, ...]]:
        """Return the lines known of each step."""
        return self._wording

    def focus_current(self) -> None:
        """Give the keys to the step that runs, else to the first that is shown."""
        row = self.rows[max(0, self._current)]
        stop = row if row in self._stops() else self._first_stop()
        stop.setFocus(Qt.FocusReason.TabFocusReason)

    def show_rehearsal(self, results: tuple[Rehearsed, ...], now: float = 0.0) -> None:
        """Show under each step what its rehearsal found."""
        self._rehearsed = {found.step_id: found for found in results}
        self._refresh(now)
        for head, group in self._headed():
            if self._hindered(group):
                self._set_open(head, opened=True)

    def show_views(
        self, views: tuple[StepView, ...], current: int, asked: int, now: float, *, to_read: bool = False
    ) -> int:
        """Bring the rows up to date in place; return how many changed. `views` belong to the plan shown.

        Args:
            to_read: the run waits for the approval of what is still to come.
        """
        moved = current != self._current
        self._views, self._current, self._asked, self._to_read = views, current, asked, to_read
        changed = self._refresh(now)
        self._fold()
        if moved and 0 <= current < len(self.rows):
            self._open_group_of(current)
            self._one_stop(self.rows[current])
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

    def _fit_text(self) -> None:
        width = self._host_width()
        for row in self.rows:
            row.set_host_width(width)
        for head in self.heads:
            head.set_host_width(width)

    def _host_width(self) -> float:
        metrics = QFontMetricsF(ui_font(weight=STRONG))
        names = {step.host or tr("all") for step in self._steps}
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        return min(max(widest + 1, px(_LEAST_HOST)), px(_MOST_HOST))

    # -- groups --------------------------------------------------------------------------------------------------
    def _make_heads(self, same: int, width: float) -> None:
        """Put a head above each group; one that holds steps that were shown before stays as it stood."""
        stood = {head.number: head.opened for head in self.heads}
        for head in self.heads:
            self._column.removeWidget(head)
            head.hide()
            head.deleteLater()
        self.heads = []
        self.groups = grouped(self._steps, self._wording)
        self._phases = {first: phase for first, phase in self._phases.items() if first < same}
        for group in self.groups:
            if group.size > 1:
                head = GroupHead(group.first, width)
                head.set_open(stood.get(group.first, True) if group.first < same else True)
                head.turned.connect(partial(self._turn_group, head))
                head.moved.connect(partial(self._move, head))
                self._column.insertWidget(self._column.indexOf(self.rows[group.first]), head)
                head.show()  # now: a layout would a turn later, and until then it takes no keys
                self.heads.append(head)

    def _headed(self) -> tuple[tuple[GroupHead, StepGroup], ...]:
        return tuple(zip(self.heads, (group for group in self.groups if group.size > 1), strict=True))

    def _hindered(self, group: StepGroup) -> bool:
        mine = (self._rehearsed.get(step.step_id) for step in self._steps[group.first : group.last + 1])
        return any(found is not None and found.holds is False for found in mine)

    def _fold(self) -> None:
        """Open and fold what came to stand elsewhere since; say in each head where it stands."""
        at = next_step(self._views, self._current)
        for head, group in self._headed():
            phase = phase_of(group, self._views, at, to_read=self._to_read)
            head.say(head_words(group, self._views, phase))
            if self._phases.get(group.first) is not phase:
                self._phases[group.first] = phase
                self._set_open(head, opened=stands_open(group, phase, hindered=self._hindered(group)))

    def _open_group_of(self, index: int) -> None:
        for head, group in self._headed():
            if index in group:
                self._set_open(head, opened=True)

    def _set_open(self, head: GroupHead, *, opened: bool) -> None:
        group = next(group for group in self.groups if group.first == head.number)
        rows = self.rows[group.first : group.last + 1]
        if not opened and any(row.hasFocus() for row in rows):
            head.setFocus()
        head.set_open(opened)
        if not opened and any(row.focusPolicy() == Qt.FocusPolicy.StrongFocus for row in rows):
            self._one_stop(head)  # a row that is hidden can't be the way in
        for row in rows:
            row.setVisible(opened)

    # -- hand ----------------------------------------------------------------------------------------------------
    def _stops(self) -> list[GroupHead | StepRow]:
        """Return what takes the keys, from top to bottom."""
        heads = {head.number: head for head in self.heads}
        found: list[GroupHead | StepRow] = []
        for group in self.groups:
            head = heads.get(group.first)
            if head is not None:
                found.append(head)
            if head is None or head.opened:
                found += self.rows[group.first : group.last + 1]
        return found

    def _first_stop(self) -> QWidget:
        stops = self._stops()
        return next((stop for stop in stops if isinstance(stop, StepRow)), next(iter(stops), self))

    def _one_stop(self, at: QWidget) -> None:
        for part in (*self.heads, *self.rows):
            part.setFocusPolicy(Qt.FocusPolicy.StrongFocus if part is at else Qt.FocusPolicy.ClickFocus)

    def _go_to(self, stop: GroupHead | StepRow) -> None:
        self._one_stop(stop)
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        self.shown_wanted.emit(stop.index if isinstance(stop, StepRow) else stop.number)

    def _turn_group(self, head: GroupHead, opened: bool) -> None:
        self._one_stop(head)
        self._set_open(head, opened=opened)

    def _turn_row(self, row: StepRow, opened: bool) -> None:
        """Show all of a row, or its short form; what is short already goes back to its group's head."""
        if opened or row.index in self._expanded:
            self._expand(row, opened=opened)
            return
        head = next((head for head, group in self._headed() if row.index in group), None)
        if head is not None:
            self._go_to(head)

    def _expand(self, row: StepRow, *, opened: bool) -> None:
        (self._expanded.add if opened else self._expanded.discard)(row.index)
        row.show_step(replace(self._views[row.index]), self._given(row.index), self._now)

    def _move(self, part: GroupHead | StepRow, by: int) -> None:
        if by == 0 and isinstance(part, StepRow):
            self._expand(part, opened=part.index not in self._expanded)
            return
        stops = self._stops()
        self._go_to(stops[min(max(stops.index(part) + by, 0), len(stops) - 1)])
