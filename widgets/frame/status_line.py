"""The line below everything: READ ONLY or armed, what is waited for, hosts that answer, the pace, the time."""

from __future__ import annotations

import time

from PySide6.QtCore import QRectF, QSize, Qt, QTimeZone
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from services.words import tr
from widgets.common.fonts import SMALL, STRONG
from widgets.common.labels import ElidedLabel
from widgets.common.theme import current_theme, theme_holder, ui_font
from widgets.common.wardrobe import wear

HEIGHT = 28


class Badge(QWidget):
    """A small word on its tint: READ ONLY (calm green), REPLAY (blue)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word, self._tone = "", "good"
        theme_holder().changed.connect(self.update)

    def show_word(self, word: str, tone: str) -> None:
        """Show `word` in the theme's `tone` ('good', 'transfer', 'warn')."""
        self._word, self._tone = word, tone
        self.setAccessibleName(word)
        width = QFontMetricsF(ui_font(SMALL, STRONG)).horizontalAdvance(word) + 16
        self.setFixedSize(QSize(int(width) + 1, 20))
        self.update()

    def word(self) -> str:
        """Return the word shown."""
        return self._word

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the tint and the word."""
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(getattr(theme, f"{self._tone}_tint"))
        painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        painter.setPen(getattr(theme, self._tone))
        painter.setFont(ui_font(SMALL, STRONG))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._word)
        painter.end()


class StatusLine(QFrame):
    """Badge and message at the left, facts of the console at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "canvas")
        self.setFixedHeight(HEIGHT)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(16)
        self._badge = Badge()
        row.addWidget(self._badge)
        self._message = ElidedLabel("", "second", Qt.TextElideMode.ElideRight)
        row.addWidget(self._message, 1)
        self._hosts, self._pace, self._clock = QLabel(""), QLabel(""), QLabel("")
        for label in (self._hosts, self._pace, self._clock):
            label.setProperty("kind", "second")
            row.addWidget(label)
        self.show_read_only()
        wear(self)

    def show_read_only(self) -> None:
        """Say that nothing can change a server."""
        self._badge.show_word(tr("READ ONLY"), "good")
        self._badge.setToolTip(tr("Every session is an Observer: it can't change a server."))

    def show_replay(self) -> None:
        """Say that what is shown is a recording."""
        self._badge.show_word(tr("REPLAY"), "transfer")
        self._badge.setToolTip(tr("A recording: no server is contacted."))

    def show_message(self, text: str) -> None:
        """Show what the console waits for or can't do, or ''; what does not fit is in its tooltip."""
        self._message.setText(text)

    def message(self) -> str:
        """Return the message shown."""
        return self._message.text()

    def show_facts(self, hosts: str, pace: str, clock: str) -> None:
        """Show the three facts at the right."""
        self._hosts.setText(hosts)
        self._pace.setText(pace)
        self._clock.setText(clock)


def zone_name(at: float) -> str:
    """Return the workstation's time zone as people know it ("Europe/Berlin"), the short name where Qt has no other.

    QTimeZone.systemTimeZoneId gives the IANA name; "Etc/" names (Etc/UTC) say no more than the short one.
    """
    name = bytes(QTimeZone.systemTimeZoneId().data()).decode(errors="replace")
    if "/" in name and not name.startswith("Etc/"):
        return name
    return time.strftime("%Z", time.localtime(at)) or name
