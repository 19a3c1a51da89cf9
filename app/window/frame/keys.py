"""What the window's keys do: each act of the table of shortcuts is bound here, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from services.i18n import tr
from widgets.common.commands.palette import PaletteEntry
from widgets.common.commands.shortcuts import WINDOW, bind, keys_of

if TYPE_CHECKING:
    from app.window.main_window import MainWindow

_OFFERED = frozenset({"settings", "sheet", "tree", "inspector", "larger", "smaller", "usual-size", "quit"})


def bind_window(window: MainWindow, acts: dict[str, Callable[[], object]]) -> None:
    """Bind the window's acts to their keys; Space and Tab it takes only where what has the focus wants them not."""
    if sys.platform != "win32":  # Windows itself makes a menu request of these keys, X11 and Wayland do not
        acts = {**acts, "context-menu": lambda: ask_for_menu(window)}
    for shortcut in WINDOW.shortcuts:
        if shortcut.act in acts:
            bind(window, WINDOW, shortcut.act, acts[shortcut.act])


def frame_entries() -> Iterator[PaletteEntry]:
    """Give what the palette offers of the window itself, whatever is shown."""
    for shortcut in WINDOW.shortcuts:
        if shortcut.act in _OFFERED:
            title = tr("Keyboard shortcuts") if shortcut.act == "sheet" else tr(shortcut.words)
            yield PaletteEntry(shortcut.act, "action", title, keys=keys_of(WINDOW, shortcut.act))


def ask_for_menu(window: MainWindow) -> None:
    """Ask what has the keys for its menu, as the Menu key does (qtbase: QWidgetWindow::handleContextMenuEvent)."""
    focus = QApplication.focusWidget() or window
    cursor = focus.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
    at = (cursor if isinstance(cursor, QRect) else focus.rect()).center()
    asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, focus.mapToGlobal(at))
    QApplication.sendEvent(focus, asked)
