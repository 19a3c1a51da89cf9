"""Lets the window stand as it stood, and notes how it stands: size, page, panels, theme, text size."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.window.main_window import PAGES, MainWindow
from app.window.settings.keeper import Keeper
from services.i18n import tr
from widgets.common.look.fonts import next_size, text_percent
from widgets.common.look.theme import Theme, ThemeName, apply_text_size, apply_theme, system_theme_name, theme_holder


class WindowState(QObject):
    """One per window."""

    def __init__(self, window: MainWindow, keeper: Keeper, application: QApplication, given: ThemeName | None) -> None:
        """Begin.

        Args:
            given: the theme that the command line asks for: of this run, and not kept.
        """
        super().__init__(window)
        self._window = window
        self._keeper = keeper
        self._application = application
        self._given = given
        self._applying = False
        self._page = keeper.begun.page
        kept = keeper.now
        if kept.tree_hidden or kept.inspector_hidden:
            window.panels.set_hidden(kept.tree_hidden, kept.inspector_hidden)
        window.panels.changed.connect(self._note_panels)
        window.text_size_wanted.connect(self.step_text)
        window.closing.connect(self._note_window)
        theme_holder().changed.connect(self._note_theme)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)

    def show_page(self) -> None:
        """Show the page that was in front last, once: an estate that is opened anew stays where the person is."""
        page, self._page = self._page, ""
        if page in dict(PAGES) and self._window.page() == PAGES[0][0]:
            self._window.show_page(page)

    def set_theme(self, name: str) -> None:
        """Follow the desktop, or wear this theme always."""
        self._given = None
        self._keeper.change(theme=name)
        self._apply(theme_of(name))

    def step_text(self, way: int) -> None:
        """Make text a step larger (1) or smaller (-1), or of its usual size (0)."""
        self.set_text(next_size(way))

    def set_text(self, percent: int) -> None:
        """Give text this size."""
        apply_text_size(self._application, percent)
        self._keeper.change(text_percent=text_percent())
        self._window.status.show_passing(tr("text at {percent} %", percent=text_percent()))

    def _apply(self, name: ThemeName) -> None:
        self._applying = True
        try:
            apply_theme(self._application, name)
        finally:
            self._applying = False

    def _follow(self) -> None:
        if self._given is None and self._keeper.now.theme == "system":
            self._apply(system_theme_name())

    def _note_theme(self, theme: Theme) -> None:
        """A theme that was chosen elsewhere (the palette) is kept too."""
        shown = self._given or theme_of(self._keeper.now.theme)
        if not self._applying and theme.name != shown:
            self._given = None
            self._keeper.change(theme=theme.name)

    def _note_panels(self) -> None:
        tree, inspector = self._window.panels.hidden()
        if (tree, inspector) != (self._keeper.now.tree_hidden, self._keeper.now.inspector_hidden):
            self._keeper.change(tree_hidden=tree, inspector_hidden=inspector)

    def _note_window(self) -> None:
        window, widths = self._window, self._window.panels.widths()
        size = window.normalGeometry().size() if window.isMaximized() else window.size()
        page = window.page()
        self._keeper.change(
            width=size.width(),
            height=size.height(),
            maximised=window.isMaximized(),
            page=page if page in dict(PAGES) else self._keeper.now.page,
            tree_width=widths.tree,
            inspector_width=widths.inspector,
        )


def theme_of(name: str) -> ThemeName:
    """Return the theme that a setting means now."""
    if name == "system":
        return system_theme_name()
    return "dark" if name == "dark" else "light"
