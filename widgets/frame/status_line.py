"""The line below everything: READ ONLY or ARMED, obligations, what is waited for, hosts that answer, pace, time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, QTimeZone, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from services.moments import local_time
from services.words import tr
from widgets.common.fonts import SMALL, STRONG, px
from widgets.common.labels import ElidedLabel, PlainLabel
from widgets.common.plain import set_tip
from widgets.common.theme import current_theme, theme_holder, ui_font
from widgets.common.wardrobe import wear
from widgets.frame.duties import Duties

if TYPE_CHECKING:  # the first paint does not wait for the values of procedures
    from services.procedures.run_model import OpenObligation

HEIGHT = 28
_PASSING_MS = 4000


class Badge(QWidget):
    """A small word on its tint: READ ONLY (calm green), REPLAY (blue); ARMED stands on the full colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word, self._tone, self._strong = "", "good", False
        theme_holder().changed.connect(self.update)
        theme_holder().sized.connect(self._fit_text)

    def show_word(self, word: str, tone: str, *, strong: bool = False) -> None:
        """Show `word` in the theme's `tone` ('good', 'transfer', 'warn'); `strong` ('warn' only): unmistakable."""
        self._word, self._tone, self._strong = word, tone, strong
        self.setAccessibleName(word)
        self._fit_text()
        self.update()

    def _fit_text(self) -> None:
        width = QFontMetricsF(ui_font(SMALL, STRONG)).horizontalAdvance(self._word) + 16
        self.setFixedSize(QSize(int(width) + 1, px(20)))

    def word(self) -> str:
        """Return the word shown."""
        return self._word

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the tint and the word."""
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.warn_fill if self._strong else getattr(theme, f"{self._tone}_tint"))
        painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        painter.setPen(theme.on_warn_fill if self._strong else getattr(theme, self._tone))
        painter.setFont(ui_font(SMALL, STRONG))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._word)
        painter.end()


class StatusLine(QFrame):
    """Badge, obligations and message at the left, facts of the console at the right."""

    release_wanted = Signal(str, str)
    """Run id, obligation key."""
    obligations_wanted = Signal()
    """The list of all obligations."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "canvas")
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(16)
        self._badge = Badge()
        row.addWidget(self._badge)
        self.duties = Duties()
        self.duties.release_wanted.connect(self.release_wanted)
        self.duties.list_wanted.connect(self.obligations_wanted)
        row.addWidget(self.duties)
        self._message = ElidedLabel("", "second", Qt.TextElideMode.ElideRight)
        row.addWidget(self._message, 1)
        self._journal, self._passing = PlainLabel(""), PlainLabel("")
        self._going = QTimer(self)
        self._going.setSingleShot(True)
        self._going.setInterval(_PASSING_MS)
        self._going.timeout.connect(self._passing.hide)
        self._journal.hide()
        self._passing.hide()
        self._hosts, self._pace, self._clock = PlainLabel(""), PlainLabel(""), PlainLabel("")
        for label in (self._passing, self._journal, self._hosts, self._pace, self._clock):
            label.setProperty("kind", "second")
            row.addWidget(label)
        self.show_read_only()
        wear(self)

    def _fit_text(self) -> None:
        self.setFixedHeight(px(HEIGHT))

    def show_read_only(self) -> None:
        """Say that nothing can change a server."""
        self._badge.show_word(tr("READ ONLY"), "good")
        set_tip(self._badge, tr("Every session is an Observer: it can't change a server."))

    def show_armed(self, run_id: str, hosts: Sequence[str]) -> None:
        """Say which run may change which servers; it disarms by itself when the run ends."""
        named = ", ".join(hosts)
        self._badge.show_word(tr("ARMED run {number} · {hosts}", number=run_id, hosts=named), "warn", strong=True)
        hint = tr("Run {number} may change {hosts}; it disarms when it ends.", number=run_id, hosts=named)
        set_tip(self._badge, hint)

    def badge(self) -> str:
        """Return the badge's word."""
        return self._badge.word()

    def show_obligations(self, duties: Sequence[OpenObligation], now: float) -> None:
        """Show what is still switched on, until it is discharged; `now` in UTC epoch seconds."""
        self.duties.show_duties(duties, now)

    def show_journal(self, text: str) -> None:
        """Show how fresh the run's journal is ("journal written 0.3 s ago"), or ''."""
        self._journal.setText(text)
        self._journal.setVisible(bool(text))

    def show_replay(self) -> None:
        """Say that what is shown is a recording."""
        self._badge.show_word(tr("REPLAY"), "transfer")
        set_tip(self._badge, tr("A recording: no server is contacted."))

    def show_message(self, text: str) -> None:
        """Show what the console waits for or can't do, or ''; what does not fit is in its tooltip."""
        self._message.setText(text)

    def show_passing(self, text: str) -> None:
        """Say something for a moment beside the facts of the console."""
        self._passing.setText(text)
        self._passing.show()
        self._going.start()

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
    return time.strftime("%Z", local_time(at)) or name
