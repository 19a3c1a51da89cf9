"""Room around a notice above the pages: there only while the notice is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget


class NoticePlace(QFrame):
    """Shows and hides itself with what stands in it."""

    def __init__(self, notice: QWidget) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 4)
        column.addWidget(notice)
        notice.installEventFilter(self)
        self.setVisible(not notice.isHidden())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the notice."""
        if event.type() in {QEvent.Type.ShowToParent, QEvent.Type.HideToParent} and isinstance(watched, QWidget):
            self.setVisible(not watched.isHidden())
        return super().eventFilter(watched, event)
