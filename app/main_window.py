"""The frame: bar above, tree left, pages and event strip in the middle, inspector right, status line.

Budget 1 (first paint) allows this module nothing but Qt: what stands in the frame is imported when it is furnished.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from services.words import mark
from widgets.frame.first_frame import FirstFrame, wider

if TYPE_CHECKING:
    from widgets.common.messages import MessageBar
    from widgets.frame.status_line import StatusLine
    from widgets.frame.top_bar import TopBar
    from widgets.inventory.tree import EstateTree
    from widgets.topology.inspector import Inspector
    from widgets.topology.view import TopologyView

PAGES = (
    ("topology", mark("Topology")),
    ("charts", mark("Charts")),
    ("procedures", mark("Procedures")),
    ("journal", mark("Journal")),
)
FIRST_RUN = "first-run"
TREE_WIDTH, INSPECTOR_WIDTH = 232, 316


def _hairline(*, vertical: bool) -> QFrame:
    """Return a line between panels; it belongs to none, so it takes its colour from the palette."""
    line = QFrame()
    (line.setFixedWidth if vertical else line.setFixedHeight)(1)
    line.setBackgroundRole(QPalette.ColorRole.Mid)
    line.setAutoFillBackground(True)
    return line


class MainWindow(QMainWindow):
    """Furnished at once, or (bare) painted first and furnished in steps; heavy pages are added when they are loaded.

    Signals:
        page_shown(str): a page came to the front. page_awaited(str): one not there yet was asked for.
        closing(): the window is about to close.
        first_painted(): a bare window is on the screen for the first time.
        live_wanted(): End was pressed. palette_wanted(): Ctrl+K was pressed.
        inventory_wanted(): another inventory's file shall be chosen.
    """

    page_shown = Signal(str)
    page_awaited = Signal(str)
    closing = Signal()
    first_painted = Signal()
    live_wanted = Signal()
    palette_wanted = Signal()
    inventory_wanted = Signal()

    top: TopBar
    tree: EstateTree
    topology: TopologyView
    inspector: Inspector
    status: StatusLine
    messages: MessageBar

    def __init__(self, *, bare: bool = False, dark: bool | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Pilothouse")
        self.setMinimumSize(QSize(960, 600))
        self._page_keys: list[str] = []
        self._awaited = ""
        self.may_close: Callable[[], bool] | None = None
        if bare:
            frame = FirstFrame(TREE_WIDTH, INSPECTOR_WIDTH, dark=dark)
            frame.painted.connect(self.first_painted)
            self.setCentralWidget(frame)
        else:
            for _ in (*self.furnish(), *self.reveal()):
                pass

    def furnish(self) -> Iterator[None]:
        """Make what stands in the frame, a piece a step: between steps the event loop may run."""
        from widgets.common.messages import MessageBar
        from widgets.frame.status_line import StatusLine
        from widgets.frame.top_bar import TopBar
        from widgets.inventory.tree import EstateTree
        from widgets.topology.inspector import Inspector
        from widgets.topology.view import TopologyView

        self.top, self.status, self.messages = TopBar(PAGES), StatusLine(), MessageBar()
        yield
        self.tree = EstateTree()
        yield
        self.topology = TopologyView()
        yield
        self.inspector = Inspector()
        yield
        self.pages = QStackedWidget()
        self._strip_place = QVBoxLayout()
        self._whole = self._build()
        self.add_page("topology", self.topology)
        self._shortcuts()
        self.top.page_chosen.connect(self.show_page)
        self.top.search_wanted.connect(self.palette_wanted)
        self.show_page("topology")

    def reveal(self) -> Iterator[None]:
        """Let what was built take the place of the first frame: dressed part by part, then painted part by part."""
        parts = (self.top, self.tree, self.topology, self.inspector, self.status)
        for part in parts:
            for widget in (part, *part.findChildren(QWidget)):
                widget.ensurePolished()
            part.setUpdatesEnabled(False)
        yield
        self.setCentralWidget(self._whole)
        yield
        for part in parts:
            part.setUpdatesEnabled(True)
            yield

    def _build(self) -> QWidget:
        centre = QVBoxLayout()
        centre.setContentsMargins(0, 0, 0, 0)
        centre.setSpacing(0)
        centre.addWidget(self._message_place())
        inner = QHBoxLayout()
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.pages, 1)
        centre.addLayout(inner, 1)
        self._strip_place.setContentsMargins(0, 0, 0, 0)
        self._strip_place.setSpacing(0)
        centre.addLayout(self._strip_place)
        body = QHBoxLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        self._spread()
        self._inspector_line = _hairline(vertical=True)
        body.addWidget(self.tree)
        body.addWidget(_hairline(vertical=True))
        body.addLayout(centre, 1)
        body.addWidget(self._inspector_line)
        body.addWidget(self.inspector)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top)
        column.addWidget(_hairline(vertical=False))
        column.addLayout(body, 1)
        column.addWidget(_hairline(vertical=False))
        column.addWidget(self.status)
        return whole

    def _spread(self) -> None:
        """Give estate and inspector their share of a wide screen: their names are not cut there."""
        self.tree.setFixedWidth(wider(TREE_WIDTH, self.width()))
        self.inspector.setFixedWidth(wider(INSPECTOR_WIDTH, self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out anew."""
        super().resizeEvent(event)
        if hasattr(self, "inspector"):
            self._spread()

    def _message_place(self) -> QFrame:
        """The bar's own sheet is its state's colours: what stands around it wears the theme's."""
        from widgets.common.wardrobe import wear

        place = QFrame()
        self._notices = QVBoxLayout(place)
        self._notices.setContentsMargins(0, 0, 0, 0)
        self._notices.setSpacing(0)
        self._notices.addWidget(self.messages)
        wear(place)
        return place

    def add_notice(self, notice: QWidget) -> None:
        """Put something that must be seen on every page above the pages; it hides itself while it has no words."""
        from widgets.frame.notice_place import NoticePlace

        self._notices.addWidget(NoticePlace(notice))

    def add_page(self, key: str, page: QWidget) -> None:
        """Add a page under its key."""
        self._page_keys.append(key)
        self.pages.addWidget(page)
        if key == self._awaited:
            self.show_page(key)

    def set_first_run(self, page: QWidget) -> None:
        """Show `page` over everything in the middle while there is no host at all."""
        if FIRST_RUN in self._page_keys:
            place = self._page_keys.index(FIRST_RUN)
            if (old := self.pages.widget(place)) is not None:
                self.pages.removeWidget(old)
                old.deleteLater()
            del self._page_keys[place]
        self.add_page(FIRST_RUN, page)
        self.show_page(FIRST_RUN)

    def add_strip(self, *widgets: QWidget) -> None:
        """Put the event strip (and the replay bar) below the pages."""
        self._strip_place.addWidget(_hairline(vertical=False))
        for widget in widgets:
            self._strip_place.addWidget(widget)

    def show_page(self, key: str) -> None:
        """Bring a page to the front; a page that is still loading is shown as soon as it is there."""
        self._awaited = "" if key in self._page_keys else key
        if self._awaited:
            self.page_awaited.emit(key)
            return
        self.pages.setCurrentIndex(self._page_keys.index(key))
        with_inspector = key == "topology"
        self.inspector.setVisible(with_inspector)
        self._inspector_line.setVisible(with_inspector)
        if key in dict(PAGES):
            self.top.show_page(key)
        self.top.show_pages(key != FIRST_RUN)
        self.page_shown.emit(key)

    def _go_to(self, key: str) -> None:
        """A page by its keys; without an estate there is none but the first-run page."""
        if self.page() != FIRST_RUN:
            self.show_page(key)

    def page(self) -> str:
        """Return the key of the page in front."""
        return self._page_keys[self.pages.currentIndex()]

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell the composition root, which stops the lanes; whoever must be asked first keeps the window open."""
        if self.may_close is not None and not self.may_close():
            event.ignore()
            return
        self.closing.emit()
        super().closeEvent(event)

    def _ask_for_menu(self) -> None:
        """Ask what has the keys for its menu, as the Menu key does (qtbase: QWidgetWindow::handleContextMenuEvent)."""
        from PySide6.QtCore import QRect, Qt
        from PySide6.QtGui import QContextMenuEvent
        from PySide6.QtWidgets import QApplication

        focus = QApplication.focusWidget() or self
        cursor = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
        at = (cursor if isinstance(cursor, QRect) else focus.rect()).center()
        asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, focus.mapToGlobal(at))
        QApplication.sendEvent(focus, asked)

    def _shortcuts(self) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QKeySequence, QShortcut

        for number, (key, _title) in enumerate(PAGES, start=1):
            QShortcut(QKeySequence(f"Alt+{number}"), self, lambda k=key: self._go_to(k))
        QShortcut(QKeySequence("Ctrl+K"), self, self.palette_wanted.emit)
        if sys.platform != "win32":  # Windows itself makes a menu request of these keys, X11 and Wayland do not
            QShortcut(QKeySequence("Shift+F10"), self, self._ask_for_menu)
        end = QShortcut(QKeySequence(Qt.Key.Key_End), self, self.live_wanted.emit)
        end.setContext(Qt.ShortcutContext.WindowShortcut)
