"""Where the pages stand: a page that needs more room than the window has left is scrolled, both ways, never cut."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedWidget, QWidget

from widgets.common.look.styling import wear


class PagesPlace(QScrollArea):
    """Holds the stack of pages as large as itself, or as the page in front needs where that is more.

    A page scrolls its own content: this one moves only where large text in a small window leaves a page's bars and
    margins no room.
    """

    def __init__(self, pages: QStackedWidget) -> None:
        super().__init__()
        self._pages = pages
        self._dressed = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.setWidget(pages)
        pages.installEventFilter(self)
        pages.currentChanged.connect(lambda _at: self._fit())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the pages the new room."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A page that needs another room gets it."""
        if watched is self._pages and event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys that no page wanted to the window."""
        event.ignore()

    def _dress_bars(self) -> None:
        """Its own bars only: the pages dress themselves, and few windows ever need these."""
        if not self._dressed:
            self._dressed = True
            wear(self.verticalScrollBar())
            wear(self.horizontalScrollBar())

    def _fit(self) -> None:
        room = self.maximumViewportSize()
        least = _least(self._pages, room.width())
        if least.height() > room.height() or least.width() > room.width():
            self._dress_bars()
        if least.height() > room.height():
            least = _least(self._pages, room.width() - self.verticalScrollBar().sizeHint().width())
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if least.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        size = room.expandedTo(least)
        if size != self._pages.size():
            self._pages.resize(size)


def _least(page: QWidget, width: int) -> QSize:
    """Return the least room of the page in front, with what its wrapped words need at this width."""
    while isinstance(page, QStackedWidget) and (front := page.currentWidget()) is not None:
        page = front
    least = page.minimumSizeHint().expandedTo(page.minimumSize())
    layout = page.layout()
    if layout is not None and layout.hasHeightForWidth():
        least.setHeight(max(least.height(), layout.minimumHeightForWidth(max(width, least.width()))))
    return least
