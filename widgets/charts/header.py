"""The head of the charts page: what is shown, the range buttons, export."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QMenu, QPushButton, QVBoxLayout, QWidget

from services.i18n import mark, tr
from widgets.common.commands.shortcuts import CHARTS, keys_of
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ElidedLabel, label
from widgets.common.controls.plain import set_tip
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.look.text import MIDDLE, format_clock, format_duration, format_moment
from widgets.common.time_axis.view import SPANS, View

_RESOLUTIONS = ((1.5, mark("one second a point")), (90.0, mark("one minute a point, band p5 to p95")))


class Header(QWidget):
    """Signals: span_wanted(float seconds), live_wanted(), side_by_side_wanted(bool), export_wanted("png" or "svg"),
    compare_wanted()."""

    span_wanted = Signal(float)
    live_wanted = Signal()
    side_by_side_wanted = Signal(bool)
    export_wanted = Signal(str)
    compare_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._recording = 0.0
        self._name = label("", "title")
        self._subtitle = ElidedLabel("", "third", Qt.TextElideMode.ElideRight)
        row = WrapRow(self._name, self._subtitle, margins=(20, 12, 16, 8))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(row)
        self._live = button(tr("Live"), hint=tr("Back to the present (End)"), on=self.live_wanted.emit)
        self._live.setVisible(False)
        row.add(self._live)
        self._group = QButtonGroup(self)
        self._group.setExclusive(False)
        self._spans: dict[float, QPushButton] = {}
        for seconds, words in SPANS:
            made = button(words, hint=tr("Show the last {span}", span=words))
            made.setCheckable(True)
            made.clicked.connect(lambda _=False, s=seconds: self.span_wanted.emit(s))
            self._spans[seconds] = made
            self._group.addButton(made)
            row.add(made)
        hint = tr("Show more charts at once; they then no longer share the event strip's time axis")
        self._beside = button(tr("Side by side"), hint=hint)
        self._beside.setCheckable(True)
        self._beside.clicked.connect(self.side_by_side_wanted)
        row.add(self._beside)
        hint = tr("Compare the time before a change with the time after it ({keys})", keys=keys_of(CHARTS, "compare"))
        row.add(button(tr("Compare"), hint=hint, on=self.compare_wanted.emit))
        hint = tr("Save the charts as PNG or SVG ({keys})", keys=keys_of(CHARTS, "export"))
        self._export = button(tr("Export"), hint=hint)
        menu = QMenu(self._export)
        menu.addAction(tr("PNG, twice the size…"), lambda: self.export_wanted.emit("png"))
        menu.addAction(tr("SVG…"), lambda: self.export_wanted.emit("svg"))
        self._export.setMenu(menu)
        row.add(self._export)

    def show_menu(self) -> None:
        """Open the export menu (keyboard)."""
        self._export.showMenu()

    def set_side_by_side(self, chosen: bool) -> None:
        """Show whether the charts stand side by side."""
        self._beside.setChecked(chosen)

    def set_recording(self, length_s: float) -> None:
        """Offer what a recording of `length_s` seconds has: the whole of it, and spans shorter than it."""
        self._recording = length_s
        self._live.setText(tr("Whole recording"))
        set_tip(self._live, tr("Show the whole recording"))
        for seconds, made in self._spans.items():
            made.setVisible(seconds < length_s)
            set_tip(made, made.text())

    def set_name(self, name: str) -> None:
        """Show the cluster's name."""
        self._name.setText(name)

    def describe(self, view: View, step_s: float, scope: str) -> None:
        """Say what is shown: span, resolution, scope; light the button of the present span."""
        self._subtitle.setText(f" {MIDDLE} ".join(p for p in (span_words(view), resolution(step_s), scope) if p))
        for seconds, made in self._spans.items():
            made.setChecked((view.live or bool(self._recording)) and abs(seconds - view.span) < 0.01 * seconds)
        away = view.span < 0.99 * self._recording if self._recording else not view.live
        self._live.setVisible(away)

    def texts(self) -> tuple[str, str]:
        """Return name and description as shown."""
        return self._name.text(), self._subtitle.text()


def span_words(view: View) -> str:
    """Return the span as a person says it ("last 15 min", "02:14:00 to 02:29:30, 15 min 30 s")."""
    if view.live:
        return tr("last {span}", span=format_duration(view.span))
    long = view.span > 86400 or format_moment(view.start)[:10] != format_moment(view.now)[:10]
    first, last = (format_moment(t) if long else format_clock(t) for t in (view.start, view.end))
    return tr("{first} to {last}, {span}", first=first, last=last, span=format_duration(round(view.span)))


def resolution(step_s: float) -> str:
    """Return how much time a point stands for."""
    for limit, words in _RESOLUTIONS:
        if step_s < limit:
            if step_s > 30 or step_s <= 1.5:
                return tr(words)
            return tr("{step} a point, band p5 to p95", step=format_duration(step_s))
    return tr("{step} a point, band p5 to p95", step=format_duration(round(step_s)))
