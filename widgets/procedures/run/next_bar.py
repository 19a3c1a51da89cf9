"""The foot of the page: what comes next, always in sight, and why it can't be done yet."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.common.controls.boxes import hairline
from widgets.common.controls.wrap_row import turn_box
from widgets.common.look.fonts import px


class Stage(Enum):
    """Where a person stands before a run."""

    INPUTS = "inputs"
    CHECKS = "checks"
    PLAN = "plan"
    RUN = "run"  # its own buttons stand in the head


_LEAST_WORDS = 120


class Foot(QWidget):
    """The buttons of one stage, the next action first, and the sentences beside them."""

    def __init__(self, action: QPushButton, *others: QPushButton | QLabel) -> None:
        super().__init__()
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        for made in (action, *(part for part in others if not isinstance(part, QLabel))):
            self._row.addWidget(made)
        self._row.addStretch(0)
        whole = self._whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addLayout(self._row)
        for part in others:
            if isinstance(part, QLabel):
                whole.addWidget(part, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the sentences below the buttons where these leave them no room."""
        super().resizeEvent(event)
        beside = self._row.minimumSize().width() + px(_LEAST_WORDS) <= self.width()
        turn_box(self._whole, beside=beside)


class NextBar(QFrame):
    """Shows the foot of one stage at a time, nothing while a run is shown."""

    def __init__(self, feet: dict[Stage, Foot]) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._feet = feet
        place = QVBoxLayout()
        place.setContentsMargins(20, 8, 20, 10)
        for foot in feet.values():
            place.addWidget(foot)
            foot.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(hairline())
        column.addLayout(place)
        self.stage = Stage.INPUTS

    def show_stage(self, stage: Stage) -> None:
        """Show what comes next at this stage; the keys go with it where they stood on the last one."""
        self.stage = stage
        for one, foot in self._feet.items():
            foot.setVisible(one is stage)
        self.setVisible(stage in self._feet)
