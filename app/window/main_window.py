"""The frame: bar above, tree left, pages and event strip in the middle, inspector right, status line.

Budget 1 (first paint) allows this module nothing but Qt, and of Qt what the first frame needs: each class that is
imported is made then and there. What stands in the frame is imported when it is furnished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from services.i18n import mark
from widgets.frame.first_frame import FirstFrame, Sides

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QKeyEvent
    from PySide6.QtWidgets import QFrame

    from app.window.frame.panels import Panels
    from widgets.common.messages import MessageBar
    from widgets.frame.shortcut_sheet import ShortcutSheet
    from widgets.frame.status_line import StatusLine
    from widgets.frame.top_bar import TopBar
    from widgets.inventory.tree import EstateTree
    from widgets.topology.inspector.panel import Inspector
    from widgets.topology.view import TopologyView

PAGES = (
    ("topology", mark("Topology")),
    ("charts", mark("Charts")),
    ("procedures", mark("Procedures")),
    ("journal", mark("Journal")),
)
FIRST_RUN, SETTINGS = "first-run", "settings"


def _hairline(*, vertical: bool) -> QFrame:
    """Return a line between panels; it belongs to none, so it takes its colour from the palette."""
    from PySide6.QtGui import QPalette
    from PySide6.QtWidgets import QFrame

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
        live_wanted(), palette_wanted(), play_wanted(): their keys were pressed.
        text_size_wanted(int): text larger (1), smaller (-1) or in its usual size (0).
        inventory_wanted(): another inventory's file shall be chosen.
        setting_wanted(str): a setting shall be shown, by its name.
    """

    page_shown = Signal(str)
    page_awaited = Signal(str)
    closing = Signal()
    first_painted = Signal()
    live_wanted = Signal()
    palette_wanted = Signal()
    play_wanted = Signal()
    text_size_wanted = Signal(int)
    inventory_wanted = Signal()
    setting_wanted = Signal(str)

    top: TopBar
    tree: EstateTree
    topology: TopologyView
    inspector: Inspector
    status: StatusLine
    messages: MessageBar
    panels: Panels

    def __init__(
        self,
        *,
        bare: bool = False,
        dark: bool | None = None,
        sides: Sides | None = None,
        percent: int = 100,
        hidden: tuple[bool, bool] = (False, False),
    ) -> None:
        """Make the window; how it stood last (`percent`: text size, `hidden`: estate, inspector) is a bare one's."""
        super().__init__()
        self.setWindowTitle("Pilothouse")
        self.setMinimumSize(960, 600)
        self._page_keys: list[str] = []
        self._awaited = self._before_settings = ""
        self._sides = sides or Sides()
        self._strip: tuple[QWidget, ...] = ()
        self._sheet: ShortcutSheet | None = None
        self.acts: dict[str, Callable[[], object]] = {}
        self.may_close: Callable[[], bool] | None = None
        if bare:
            frame = FirstFrame(self._sides, dark=dark, percent=percent, hidden=hidden)
            frame.painted.connect(self.first_painted)
            self.setCentralWidget(frame)
        else:
            for _ in (*self.furnish(), *self.reveal()):
                pass

    def furnish(self) -> Iterator[None]:
        """Make what stands in the frame, a piece a step: between steps the event loop may run."""
        from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

        from widgets.common.look.styling import dress_left, undressed
        from widgets.common.messages import MessageBar
        from widgets.frame.status_line import StatusLine
        from widgets.frame.top_bar import TopBar
        from widgets.inventory.tree import EstateTree
        from widgets.topology.inspector.panel import Inspector
        from widgets.topology.view import TopologyView

        with undressed():
            self.top, self.status, self.messages = TopBar(PAGES), StatusLine(), MessageBar()
        yield
        with undressed():
            self.tree = EstateTree()
        yield
        with undressed():
            self.topology = TopologyView()
        yield
        with undressed():
            self.inspector = Inspector()
        yield
        self.pages = QStackedWidget()
        self._strip_place = QVBoxLayout()
        with undressed():
            self._whole = self._build()
        self.place_page("topology", self.topology)
        self._bind()
        self.show_page("topology")
        for _ in dress_left():
            yield

    def reveal(self) -> Iterator[None]:
        """Let what was built take the place of the first frame: dressed part by part, then painted part by part."""
        from app.window.frame.first_keys import give_keys

        parts = (self.top, self.tree, self.topology, self.inspector, self.status)
        for part in parts:
            for widget in (part, *part.findChildren(QWidget)):
                widget.ensurePolished()
            part.setUpdatesEnabled(False)
        yield
        self.setCentralWidget(self._whole)
        give_keys(self.pages)
        yield
        for part in parts:
            part.setUpdatesEnabled(True)
            yield

    def _build(self) -> QWidget:
        from PySide6.QtWidgets import QVBoxLayout

        from app.window.frame.panels import Panels
        from widgets.frame.pages_place import PagesPlace

        centre = QVBoxLayout()
        centre.setContentsMargins(0, 0, 0, 0)
        centre.setSpacing(0)
        centre.addWidget(self._message_place())
        centre.addWidget(PagesPlace(self.pages), 1)
        self._strip_place.setContentsMargins(0, 0, 0, 0)
        self._strip_place.setSpacing(0)
        centre.addLayout(self._strip_place)
        middle = QWidget()
        middle.setLayout(centre)
        self.panels = Panels(self.tree, middle, self.inspector, self._sides)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top)
        column.addWidget(_hairline(vertical=False))
        column.addWidget(self.panels, 1)
        column.addWidget(_hairline(vertical=False))
        column.addWidget(self.status)
        return whole

    def _message_place(self) -> QFrame:
        """The bar's own sheet is its state's colours: what stands around it wears the theme's."""
        from PySide6.QtWidgets import QFrame, QVBoxLayout

        from widgets.common.look.styling import wear

        place = self._notices_frame = QFrame()
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
        """Add a page under its key; one that was made undressed is dressed where it stands."""
        from widgets.common.look.styling import dress_left

        self.place_page(key, page)
        for _ in dress_left():
            pass
        if key == self._awaited:
            self.show_page(key)

    def place_page(self, key: str, page: QWidget) -> None:
        """Give a page its place; it is shown by `show_page`."""
        self._page_keys.append(key)
        self.pages.addWidget(page)

    def set_first_run(self, page: QWidget) -> None:
        """Show `page` over everything in the middle while there is no host at all."""
        self._drop_first_run()
        self.add_page(FIRST_RUN, page)
        self.show_page(FIRST_RUN)

    def leave_first_run(self) -> None:
        """Show the topology again: there is a host."""
        self._drop_first_run()
        self.show_page("topology")

    def _drop_first_run(self) -> None:
        if FIRST_RUN in self._page_keys:
            place = self._page_keys.index(FIRST_RUN)
            if (old := self.pages.widget(place)) is not None:
                self.pages.removeWidget(old)
                old.deleteLater()
            del self._page_keys[place]

    def add_strip(self, *widgets: QWidget) -> None:
        """Put the event strip (and the replay bar) below the pages."""
        self._strip_place.addWidget(_hairline(vertical=False))
        for widget in widgets:
            self._strip_place.addWidget(widget)
        self._strip = widgets

    def show_strip(self, *, shown: bool) -> None:
        """Show or hide what stands below the pages."""
        for place in range(self._strip_place.count()):
            item = self._strip_place.itemAt(place)
            if item is not None and (widget := item.widget()) is not None:
                widget.setVisible(shown)

    def show_page(self, key: str) -> None:
        """Bring a page to the front; a page that is still loading is shown as soon as it is there."""
        self._awaited = "" if key in self._page_keys else key
        if self._awaited:
            self.page_awaited.emit(key)
            return
        from app.window.frame.first_keys import turn_page

        turn_page(self.pages, self._page_keys.index(key), self.focusWidget())
        self.panels.show_inspector(key == "topology")
        self.top.show_page(key)
        self.top.show_pages(FIRST_RUN not in self._page_keys or key not in {FIRST_RUN, SETTINGS})
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the key that plays a recording where nothing that has the focus wanted it."""
        from widgets.common.commands.shortcuts import WINDOW, act_of

        if act_of(WINDOW, event) == "play":
            self.play_wanted.emit()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go in the order of the eye: bar, notices, estate, page, inspector, time axis, status line."""
        from PySide6.QtCore import Qt

        from app.window.frame.eye_order import next_stop
        from app.window.frame.first_keys import place_of
        from widgets.common.controls.sight import bring_into_sight

        page = self.pages.currentWidget() if hasattr(self, "pages") else None
        if page is None:
            return super().focusNextPrevChild(forward)
        places = [self.top, self._notices_frame, self.tree, page, self.inspector, *self._strip, self.status]
        if self._sheet is not None and self._sheet.isVisible():
            places = [self._sheet]
        stop = next_stop(places, place_of(self.focusWidget(), page), forward=forward)
        if stop is not None:
            why = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
            stop.setFocus(why)
            bring_into_sight(stop)
        return stop is not None

    def show_sheet(self) -> None:
        """Show the sheet of shortcuts over the window, or take it away."""
        from widgets.frame.shortcut_sheet import ShortcutSheet

        if self._sheet is None:
            self._sheet = ShortcutSheet(self)
        self._sheet.toggle()

    def show_settings(self) -> None:
        """Show the page of settings."""
        from app.window.frame.first_keys import give_keys

        if self.page() != SETTINGS:
            self._before_settings = self.page()
        self.show_page(SETTINGS)
        page = self.pages.currentWidget()
        held: QWidget | None = self.focusWidget()
        if self.page() == SETTINGS and page is not None and (held is None or not page.isAncestorOf(held)):
            give_keys(self.pages)  # who asks for them by a key wants to set something, wherever the keys were

    def leave_settings(self) -> None:
        """Show what was shown before the settings."""
        self.show_page(self._before_settings if self._before_settings in self._page_keys else self._page_keys[0])

    def _turn_inspector(self) -> None:
        """Hide or show the inspector where it stands: beside the drawing."""
        if self.page() == PAGES[0][0]:
            tree, inspector = self.panels.hidden()
            self.panels.set_hidden(tree, not inspector)

    def _to_numbers(self) -> None:
        """Bring the keys to the inspector, wherever a node was chosen for good."""
        self.show_page("topology")
        self.panels.set_hidden(self.panels.hidden()[0], inspector=False)
        self.inspector.focus_numbers()

    def _bind(self) -> None:
        from app.window.frame.keys import bind_window

        panels, size = self.panels, self.text_size_wanted
        self.acts = {
            "palette": self.palette_wanted.emit,
            "settings": self.show_settings,
            "live": self.live_wanted.emit,
            "tree": lambda: panels.set_hidden(not panels.hidden()[0], panels.hidden()[1]),
            "inspector": self._turn_inspector,
            "narrower": lambda: panels.widen(-1),
            "wider": lambda: panels.widen(1),
            "larger": lambda: size.emit(1),
            "smaller": lambda: size.emit(-1),
            "usual-size": lambda: size.emit(0),
            "sheet": self.show_sheet,
            "quit": self.close,
            **{f"page-{n}": partial(self._go_to, key) for n, (key, _) in enumerate(PAGES, start=1)},
        }
        bind_window(self, self.acts)
        self.top.page_chosen.connect(lambda key: self.show_settings() if key == SETTINGS else self.show_page(key))
        self.top.search_wanted.connect(self.palette_wanted)
        self.top.act_wanted.connect(lambda act: self.acts[act]())
        panels.changed.connect(lambda: self.top.show_hidden(*panels.hidden()))
        for part in (self.tree, self.topology):
            part.node_activated.connect(self._to_numbers)
