"""Where the keys are when a page comes to the front: in what the page is about, never on a button.

A button that nobody went to would take Space from the recording that it plays.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QStackedWidget, QWidget

_BY_TAB = Qt.FocusPolicy.TabFocus


def turn_page(pages: QStackedWidget, number: int, held: QWidget | None) -> None:
    """Bring a page to the front; where the page before `held` the keys they go along, to where they were last."""
    before, page = pages.currentWidget(), pages.widget(number)
    last = page.focusWidget()
    along = held is None or held.isWindow() or before is None or held is before or before.isAncestorOf(held)
    if along:
        pages.window().setFocus()  # else the stack gives them to the page's first field or button
    pages.setCurrentIndex(number)
    if along and last is not None and last is not page and last.isVisibleTo(page):
        last.setFocus()
    elif along:
        give_keys(page)


def give_keys(page: QWidget) -> None:
    """Let the page, else the drawing, table or text in it, have the keys; while a drawing waits, the window."""
    whole = page.focusProxy() or page
    parts = (whole, *page.findChildren(QAbstractScrollArea))
    takers = (part for part in parts if part.focusPolicy().value & _BY_TAB.value and part.isVisibleTo(page))
    nothing = page if whole is page else page.window()
    next(takers, nothing).setFocus(Qt.FocusReason.OtherFocusReason)
