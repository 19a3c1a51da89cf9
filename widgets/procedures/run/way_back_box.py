"""Beside a run whose cluster has no Primary Component: that it can go nowhere, and the procedure that leads on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from services.i18n import tr
from services.types import Health
from widgets.common.controls.boxes import HealthMark, button
from widgets.procedures.blocks import TintedFrame, put, text_label


class WayBackBox(TintedFrame):
    """`wanted(procedure)` by its button. Hidden where the cluster has what the run needs."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(Health.BAD)
        self._name = ""
        self._told = text_label("")
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

    def show_way(self, told: str = "", procedure: str = "", title: str = "") -> None:
        """Show why the run can go nowhere, and the procedure by its name and title; '' hides it."""
        put(self._told, told)
        self._name = procedure
        self.begin.setText(tr("{title}…", title=title))
        self.setVisible(bool(told))

    def text(self) -> str:
        """Return the sentences shown, '' while hidden."""
        return "" if self.isHidden() else self._told.text()
