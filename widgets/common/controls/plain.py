"""Tooltips that show their text as it is, whatever a server, a file or a neighbour put into it.

Qt takes a tooltip for HTML when it looks like it (Qt.mightBeRichText), and then opens the files that an <img> names
(QTextDocument.loadResource). So nobody calls setToolTip or QToolTip.showText but this module, and nobody makes a
label but `labels.py`, which sets PlainText: an architecture test finds whoever does.
"""

from __future__ import annotations

from html import escape
from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QToolTip, QWidget

from services.visible import visible


class _HasTip(Protocol):
    def setToolTip(self, text: str, /) -> None: ...


def plain_text(text: str) -> str:
    """Return a tooltip's text so that Qt shows it as it is; what no font draws is made visible."""
    shown = visible(text)
    # "&lt;" alone makes Qt take a text for HTML too.
    return f"<p>{escape(shown)}</p>".replace("\n", "<br>") if "<" in shown or "&lt;" in shown else shown


def set_tip(what: _HasTip, text: str) -> None:
    """Set the tooltip of a widget, an action or an item."""
    what.setToolTip(plain_text(text))


def show_tip(at: QPoint, text: str, owner: QWidget) -> None:
    """Show a tooltip at a place of the screen; '' hides the one that is shown."""
    if text:
        QToolTip.showText(at, plain_text(text), owner)
    else:
        QToolTip.hideText()
