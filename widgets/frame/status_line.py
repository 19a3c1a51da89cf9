"""The line below everything: READ ONLY or ARMED, obligations, what is waited for, hosts that answer, pace, time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, QTimeZone, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from services.i18n import tr
from services.moments import local_time
from widgets.common.controls.labels import ElidedLabel, PlainLabel
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import SMALL, STRONG, px
from widgets.common.look.styling import wear
from widgets.common.look.theme import current_theme, theme_holder, ui_font
from widgets.frame.duties import Duties

if TYPE_CHECKING:  # the first paint does not wait for the values of procedures
    from services.procedures.plan.run_model import OpenObligation

HEIGHT = 28
_PASSING_MS = 4000
_SPACING, _MARGIN = 16, 12
_BADGE_SHARE = 0.45
_LEAST_MESSAGE = 120
_MESSAGE_SHARE = 0.75


class Badge(QWidget):
    """A small word on its tint: READ ONLY (calm green), REPLAY (blue); ARMED stands on the full colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._word, self._tone, self._strong = "", "good", False
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme_holder().changed.connect(self.update)
        theme_holder().sized.connect(self._fit_text)

    def show_word(self, word: str, tone: str, *, strong: bool = False) -> None:
        """Show `word` in the theme's `tone` ('good', 'transfer', 'warn'); `strong` ('warn' only): unmistakable."""
        self._word, self._tone, self._strong = word, tone, strong
        self.setAccessibleName(word)
        self._fit_text()
        self.update()

    def _fit_text(self) -> None:
        self.setFixedHeight(px(20))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return room for the word."""
        return QSize(int(QFontMetricsF(ui_font(SMALL, STRONG)).horizontalAdvance(self._word)) + 17, px(20))

    def word(self) -> str:
        """Return the word."""
        return self._word

    def shown_word(self) -> str:
        """Return the word as cut for the present width."""
        metrics = QFontMetricsF(ui_font(SMALL, STRONG))
        return metrics.elidedText(self._word, Qt.TextElideMode.ElideRight, self.width() - 15)

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
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.shown_word())
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
        row.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
        row.setSpacing(_SPACING)
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
        self._going.timeout.connect(lambda: self.show_passing(""))
        self._hosts, self._pace, self._clock = PlainLabel(""), PlainLabel(""), PlainLabel("")
        for label in (self._passing, self._journal, self._hosts, self._pace, self._clock):
            label.setProperty("kind", "second")
            label.hide()
            row.addWidget(label)
        self.show_read_only()
        wear(self)

    def _fit_text(self) -> None:
        self.setFixedHeight(px(HEIGHT))
        QTimer.singleShot(0, self, self._make_room)  # the facts have their new font by then

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show what there is room for."""
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Leave out facts that have no room, the least telling first; what is armed or still on keeps its place."""
        badge = self._badge.sizeHint().width()
        self._badge.setMinimumWidth(min(badge, round(_BADGE_SHARE * self.width())))
        room = self.width() - 2 * _MARGIN - badge - _SPACING
        if self.duties.text():
            room -= self.duties.sizeHint().width() + _SPACING
        if self._message.text():
            room -= max(px(_LEAST_MESSAGE), min(self._message.sizeHint().width(), round(_MESSAGE_SHARE * room)))
        for fact in (self._passing, self._clock, self._hosts, self._journal, self._pace):
            need = fact.sizeHint().width() + _SPACING if fact.text() else 0
            fact.setVisible(0 < need <= room)
            room = room - need if need <= room else 0

    def show_read_only(self) -> None:
        """Say that nothing can change a server."""
        self._badge.show_word(tr("READ ONLY"), "good")
        self._make_room()
        set_tip(self._badge, tr("Every session is an Observer and cannot change a server."))

    def show_armed(self, run_id: str, hosts: Sequence[str]) -> None:
        """Say which run may change which servers; it disarms by itself when the run ends."""
        named = ", ".join(hosts)
        self._badge.show_word(tr("ARMED run {number} · {hosts}", number=run_id, hosts=named), "warn", strong=True)
        self._make_room()
        hint = tr(
            "Run {number} may change {hosts}; the window is disarmed when the run ends.", number=run_id, hosts=named
        )
        set_tip(self._badge, hint)

    def badge(self) -> str:
        """Return the badge's word."""
        return self._badge.word()

    def show_obligations(
        self, duties: Sequence[OpenObligation], now: float, clusters: Mapping[str, str] | None = None
    ) -> None:
        """Show what is still switched on, until it is discharged.

        Args:
            now: UTC epoch seconds.
            clusters: run id -> the name of its cluster.
        """
        self.duties.show_duties(duties, now, clusters or {})
        self._make_room()

    def show_journal(self, text: str) -> None:
        """Show how fresh the run's journal is ("journal written 0.3 s ago"), or ''."""
        self._journal.setText(text)
        self._make_room()

    def show_replay(self) -> None:
        """Say that what is shown is a recording."""
        self._badge.show_word(tr("REPLAY"), "transfer")
        self._make_room()
        set_tip(self._badge, tr("A recording: no server is contacted."))

    def show_message(self, text: str) -> None:
        """Show what the console waits for or can't do, or ''; what does not fit is in its tooltip."""
        self._message.setText(text)
        self._make_room()

    def show_passing(self, text: str) -> None:
        """Say something for a moment beside the facts of the console."""
        self._passing.setText(text)
        self._make_room()
        if text:
            self._going.start()

    def message(self) -> str:
        """Return the message shown."""
        return self._message.text()

    def show_facts(self, hosts: str, pace: str, clock: str) -> None:
        """Show the three facts at the right."""
        self._hosts.setText(hosts)
        self._pace.setText(pace)
        self._clock.setText(clock)
        self._make_room()


def zone_name(at: float) -> str:
    """Return the workstation's time zone as people know it ("Europe/Berlin"), the short name where Qt has no other.

    QTimeZone.systemTimeZoneId gives the IANA name; "Etc/" names (Etc/UTC) say no more than the short one.
    """
    name = bytes(QTimeZone.systemTimeZoneId().data()).decode(errors="replace")
    if "/" in name and not name.startswith("Etc/"):
        return name
    return time.strftime("%Z", local_time(at)) or name
