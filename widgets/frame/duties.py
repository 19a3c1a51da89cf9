"""Obligations in the status line: what is still on, since when, and the button that switches it off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from services.i18n import tr, tr_n
from services.moments import local_time
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ElidedLabel
from widgets.common.duty import DutyMark
from widgets.common.look.fonts import px
from widgets.common.look.text import format_clock, format_moment, seen_words
from widgets.common.look.theme import theme_holder, ui_font

if TYPE_CHECKING:  # the first paint does not wait for the values of procedures
    from services.procedures.plan.run_model import OpenObligation


_LEAST_WIDTH, _MOST_WIDTH = 60, 360


def _pressing(duty: OpenObligation) -> tuple[bool, bool, float]:
    """Order: what could not be released, what only guards another one last, else the oldest first."""
    return not duty.release_failed, duty.obligation.safeguard, duty.since


class Duties(QWidget):
    """The most pressing obligation in words; how many more there are leads to the page that lists them all."""

    release_wanted = Signal(str, str)
    """Run id, obligation key."""
    list_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[OpenObligation, ...] = ()
        self._words = ElidedLabel("", "transfer", Qt.TextElideMode.ElideRight)
        self._words.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.release = button(tr("Release"), "link", on=self._release)
        self.more = button("", "link", on=self.list_wanted.emit)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for part in (DutyMark(), self._words, self.release, self.more):
            row.addWidget(part)
        self.hide()
        theme_holder().sized.connect(self._fit_text)

    def _fit_text(self) -> None:
        """The words are cut where the line is full; the button beside them never is."""
        whole = QFontMetrics(ui_font()).horizontalAdvance(self._words.text()) + 4
        self._words.setMaximumWidth(min(px(_MOST_WIDTH), whole))
        self._words.setMinimumWidth(min(px(_LEAST_WIDTH), whole))

    def show_duties(self, duties: Sequence[OpenObligation], now: float, clusters: Mapping[str, str]) -> None:
        """Show these (UTC epoch seconds for the day of `since`); none hides the whole.

        Args:
            clusters: run id -> the name of its cluster: hosts of two clusters may be called the same.
        """
        self._shown = tuple(sorted(duties, key=_pressing))
        self.setVisible(bool(self._shown))
        if not self._shown:
            return
        first = self._shown[0]
        same_day = local_time(first.since)[:3] == local_time(now)[:3]
        since = format_clock(first.since, seconds=False) if same_day else format_moment(first.since)[:16]
        said = tr("{sentence} since {moment}", sentence=tr(first.obligation.sentence), moment=since)
        if cluster := clusters.get(first.run_id, ""):
            said = f"{cluster}: {said}"
        self._words.setText(said)
        self._fit_text()
        seen = seen_words(first.seen, first.seen_off)
        self._words.set_hint(f"{first.release_failed or tr(first.obligation.danger)}\n{seen}".strip())
        self.release.setAccessibleName(tr("Release: {sentence}", sentence=tr(first.obligation.sentence)))
        rest = len(self._shown) - 1
        self.more.setText(tr_n("+{n} more", "+{n} more", rest) if rest else "")
        self.more.setVisible(bool(rest))

    def text(self) -> str:
        """Return the words shown, '' while nothing is on."""
        return self._words.text() if self._shown else ""

    def _release(self) -> None:
        if self._shown:
            self.release_wanted.emit(self._shown[0].run_id, self._shown[0].obligation.key)
