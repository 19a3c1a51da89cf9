"""The frame: bar above, tree left, pages and event strip in the middle, inspector right, status line."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from widgets.common.messages import MessageBar
from widgets.frame.status_line import StatusLine
from widgets.frame.top_bar import TopBar
from widgets.inventory.tree import EstateTree
from widgets.topology.inspector import Inspector
from widgets.topology.view import TopologyView

PAGES = (("topology", "Topology"), ("charts", "Charts"), ("journal", "Journal"))
TREE_WIDTH, INSPECTOR_WIDTH = 232, 316


def _hairline(*, vertical: bool) -> QFrame:
    line = QFrame()
    line.setProperty("kind", "vline" if vertical else "hairline")
    return line


class MainWindow(QMainWindow):
    """Builds the light parts at once; heavy pages (charts, timeline) are added when their libraries are loaded.

    Signals:
        page_shown(str): a page came to the front. closing(): the window is about to close.
        live_wanted(): End was pressed. palette_wanted(): Ctrl+K was pressed.
    """

    page_shown = Signal(str)
    closing = Signal()
    live_wanted = Signal()
    palette_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Pilothouse")
        self.setMinimumSize(QSize(960, 600))
        self.top = TopBar(PAGES)
        self.tree = EstateTree()
        self.topology = TopologyView()
        self.inspector = Inspector()
        self.status = StatusLine()
        self.messages = MessageBar()
        self.pages = QStackedWidget()
        self._page_keys: list[str] = []
        self._strip_place = QVBoxLayout()
        self._build()
        self.add_page("topology", self.topology)
        self._shortcuts()
        self.top.page_chosen.connect(self.show_page)
        self.top.search_wanted.connect(self.palette_wanted)
        self.show_page("topology")

    def _build(self) -> None:
        centre = QVBoxLayout()
        centre.setContentsMargins(0, 0, 0, 0)
        centre.setSpacing(0)
        centre.addWidget(self.messages)
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
        self.tree.setFixedWidth(TREE_WIDTH)
        self.inspector.setFixedWidth(INSPECTOR_WIDTH)
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
        self.setCentralWidget(whole)

    def add_page(self, key: str, page: QWidget) -> None:
        """Add a page under its key."""
        self._page_keys.append(key)
        self.pages.addWidget(page)

    def set_first_run(self, page: QWidget) -> None:
        """Show `page` over everything in the middle while there is no host at all."""
        self.add_page("first-run", page)
        self.show_page("first-run")

    def add_strip(self, *widgets: QWidget) -> None:
        """Put the event strip (and the replay bar) below the pages."""
        self._strip_place.addWidget(_hairline(vertical=False))
        for widget in widgets:
            self._strip_place.addWidget(widget)

    def show_page(self, key: str) -> None:
        """Bring a page to the front; a page that is still loading is shown as soon as it is there."""
        if key not in self._page_keys:
            return
        self.pages.setCurrentIndex(self._page_keys.index(key))
        with_inspector = key == "topology"
        self.inspector.setVisible(with_inspector)
        self._inspector_line.setVisible(with_inspector)
        if key in dict(PAGES):
            self.top.show_page(key)
        self.page_shown.emit(key)

    def page(self) -> str:
        """Return the key of the page in front."""
        return self._page_keys[self.pages.currentIndex()]

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell the composition root, which stops the lanes."""
        self.closing.emit()
        super().closeEvent(event)

    def _shortcuts(self) -> None:
        for number, (key, _title) in enumerate(PAGES, start=1):
            QShortcut(QKeySequence(f"Alt+{number}"), self, lambda k=key: self.show_page(k))
        QShortcut(QKeySequence("Ctrl+K"), self, self.palette_wanted.emit)
        end = QShortcut(QKeySequence(Qt.Key.Key_End), self, self.live_wanted.emit)
        end.setContext(Qt.ShortcutContext.WindowShortcut)
