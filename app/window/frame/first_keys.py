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
    assert page is not None
    along = held is None or held.isWindow() or before is None or held is before or before.isAncestorOf(held)
    if not along:
        pages.setCurrentIndex(number)
        return
    last = _inside(page, page.focusWidget())
    pages.window().setFocus()  # else the stack gives them to the page's first field or button
    pages.setCurrentIndex(number)
    if last is not None:
        last.setFocus()
    else:
        give_keys(pages)


def give_keys(pages: QStackedWidget) -> None:
    """Let the page in front, else the table or text in it, have the keys; while its drawing waits, the window."""
    page = pages.currentWidget()
    assert page is not None
    whole = page.focusProxy() or page
    parts = (whole, *page.findChildren(QAbstractScrollArea))
    takers = (part for part in parts if part.focusPolicy().value & _BY_TAB.value and part.isVisibleTo(page))
    nothing = page if whole is page else page.window()
    next(takers, nothing).setFocus(Qt.FocusReason.OtherFocusReason)


def place_of(held: QWidget | None, page: QWidget) -> QWidget:
    """Return where Tab goes on from: a window that has the keys itself stands for its page."""
    return page if held is None or held.isWindow() else held


def _inside(page: QWidget, last: QWidget | None) -> QWidget | None:
    return last if last is not None and last is not page and last.isVisibleTo(page) else None
