"""One chart on the page: title and subtitle, the plot, its legend."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from services.i18n import tr
from services.types import NO_WAY, NOT_YET
from widgets.charts.legend import Legend, Reading, paint_item
from widgets.charts.legend_key import chart_keys, paint_key
from widgets.charts.model import ChartSpec, CurveSpec
from widgets.charts.plots.plot import Plot
from widgets.charts.plots.track import Track
from widgets.charts.scales import format_value
from widgets.common.controls.labels import ElidedLabel, label
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import BASE, SMALL, STRONG, px, ui_font
from widgets.common.look.text import UNKNOWN, format_age
from widgets.common.look.theme import current_theme, theme_holder
from widgets.common.turns import Turns

MIN_HEIGHT, _LOW_HEIGHT = 168, 140
_WIDE = 860
"""A card so wide has title, legend and subtitle in one line: the height is the plot's."""
_SUBTITLE_SHARE = 0.32
_LINE = 22
_ANY_SIZE = 16_777_215  # qwidget.h: QWIDGETSIZE_MAX
# A value this many steps behind the present is old; the person sees its age.
_OLD_STEPS = 2.5
_LEAST_OLD_S = 3.0


class ChartCard(QFrame):
    """A chart card. The page feeds `plot` and asks for readings; signals isolated(str)."""

    isolated = Signal(str)

    def __init__(self, spec: ChartSpec, turns: Turns, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._turns = turns
        self._moment: tuple[float | None, float | None] = (None, None)
        self._silences: Mapping[str, str] = {}
        self.plot = Plot(spec, self, turns)
        self.legend = Legend(spec.curves, spec.title, self, keys=chart_keys(spec), piled=spec.kind == "stack")
        self.plot.setAccessibleName(", ".join(dict.fromkeys((spec.title, *(curve.label for curve in spec.curves)))))
        self.plot.setAccessibleDescription(spec.hint)
        self._title = label(spec.title, "section")
        self._subtitle = ElidedLabel(spec.subtitle, "third", Qt.TextElideMode.ElideRight)
        self._subtitle.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        set_tip(self._title, spec.hint)
        self.setProperty("kind", "card")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(spec.title)
        self.setAccessibleDescription(spec.subtitle)
        self._head = QHBoxLayout()
        self._head.setSpacing(16)
        self._head.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop)
        self._head.addWidget(self._subtitle, 1, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(14, 10, 14, 8)
        self._column.setSpacing(2)
        self._column.addLayout(self._head)
        self._column.addWidget(self.plot, 1)
        self._column.addWidget(self.legend)
        self._wide = False
        self._set_heights()
        theme_holder().sized.connect(self._fit_text)
        self.legend.isolate_wanted.connect(self.isolate)
        self.legend.all_wanted.connect(lambda: self.isolate(""))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the legend where the width lets the plot have most of the height."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        wide = self.width() >= px(_WIDE)
        if wide:
            whole = self._subtitle.fontMetrics().horizontalAdvance(self.spec.subtitle) + 2
            self._subtitle.setFixedWidth(min(whole, round(_SUBTITLE_SHARE * self.width())))
        if wide == self._wide:
            return
        self._wide = wide
        if wide:
            self._head.insertWidget(1, self.legend, 1, Qt.AlignmentFlag.AlignTop)
        else:
            self._subtitle.setMinimumWidth(0)
            self._subtitle.setMaximumWidth(_ANY_SIZE)
            self._column.addWidget(self.legend)
        # A layout counts what has no stretch by its size hint, and that of an ignored one as nothing.
        across = QSizePolicy.Policy.Fixed if wide else QSizePolicy.Policy.Ignored
        self._subtitle.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self._head.setStretchFactor(self._subtitle, 0 if wide else 1)
        self._set_heights()

    def _set_heights(self) -> None:
        for words in (self._title, self._subtitle):
            words.setMinimumHeight(px(_LINE) if self._wide else 0)
            words.setMaximumHeight(px(_LINE) if self._wide else _ANY_SIZE)
        self.setMinimumHeight(px(_LOW_HEIGHT if self._wide else MIN_HEIGHT))

    def _fit_text(self) -> None:
        self._set_heights()
        self._lay_out()

    def isolate(self, key: str) -> None:
        """Show one curve only; the one that is isolated already, or '', shows all."""
        chosen = "" if key == self.plot.state.isolated or not self._drawn(key) else key
        self.plot.isolate(chosen)
        self.legend.set_isolated(chosen)
        self.isolated.emit(chosen)

    def _drawn(self, key: str) -> bool:
        return any(curve.key == key and curve.drawing != "none" for curve in self.spec.curves)

    def show_values(self, at: float | None, now: float | None) -> None:
        """Let the legend say, when its turn comes, the values at `at`, or (None) the newest, aged against `now`."""
        self._moment = (at, now)
        self._turns.ask(self)

    def show_silence(self, words: str, curves: Mapping[str, str]) -> None:
        """Say from now on why no sample comes: `words` in place of an empty plot, curve -> sentence at its value."""
        if words != self.plot.state.silence:
            self.plot.state.silence = words
            self.plot.refresh()
        if curves != self._silences:
            self._silences = dict(curves)
            self._turns.ask(self)

    def in_sight(self) -> bool:
        """Return whether any of it can be seen."""
        return not self.visibleRegion().isEmpty()

    def take_turn(self) -> None:
        """Let the legend say the values of the moment asked for last."""
        self.legend.set_readings({curve.key: self.reading(curve, *self._moment) for curve in self.spec.curves})

    def leave(self) -> None:
        """Be shown no longer."""
        self.plot.leave()
        self._turns.drop(self)
        self.hide()
        self.deleteLater()

    def reading(self, curve: CurveSpec, at: float | None, now: float | None) -> Reading:
        """Return what the legend says of one curve."""
        track = self.plot.state.tracks[curve.key]
        unit = self.spec.curve_unit(curve)
        if track.missing:
            silence = self._silences.get(curve.key, "")
            return Reading(UNKNOWN if silence else _lack_words(track.lacks), stale=True, why=silence or track.missing)
        if at is not None:
            value = track.value_at(at)
            return Reading(format_value(value, unit), stale=math.isnan(value), why=self._gap(curve, track, value))
        value = track.latest()
        if math.isnan(value):
            return Reading(UNKNOWN, stale=True, why=self._gap(curve, track, value))
        age = 0.0 if now is None else now - track.last_at
        if age > max(_LEAST_OLD_S, _OLD_STEPS * track.step_s):
            why = self._silences.get(curve.key) or tr("No newer sample.")
            return Reading(f"{format_value(value, unit)}, {format_age(age)}", stale=True, why=why)
        return Reading(format_value(value, unit))

    def _gap(self, curve: CurveSpec, track: Track, value: float) -> str:
        if not math.isnan(value):
            return ""
        if curve.key in self._silences:
            return self._silences[curve.key]
        return tr("No sample at this moment.") if len(track) else tr("No sample yet.")

    def title_texts(self) -> tuple[str, str]:
        """Return title and subtitle as shown."""
        return self._title.text(), self._subtitle.text()

    def paint_picture(self, painter: QPainter, at: QPointF) -> None:
        """Paint the card at a place of an exported picture, text as text."""
        theme = current_theme()
        painter.save()
        painter.translate(at)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.line)
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for words, kind in ((self._title, STRONG), (self._subtitle, None)):
            painter.setFont(ui_font(BASE, STRONG) if kind is not None else ui_font(SMALL))
            painter.setPen(theme.text if kind is not None else theme.third)
            painter.drawText(QRectF(words.geometry()), words.alignment() | Qt.AlignmentFlag.AlignVCenter, words.text())
        painter.save()
        painter.translate(QPointF(self.plot.geometry().topLeft()))
        self.plot.paint_still(painter)
        painter.restore()
        painter.translate(QPointF(self.legend.geometry().topLeft()))
        for item in self.legend.items.values():
            paint_item(painter, QRectF(item.geometry()), item.curve, item.reading, piled=item.piled)
        for sign in self.legend.keys:
            paint_key(painter, QRectF(sign.geometry()), sign.key)
        painter.restore()
        self.plot.refresh()


def _lack_words(lacks: str) -> str:
    """Return the short words for a curve that has no value at all."""
    return {NOT_YET: tr("not yet"), NO_WAY: tr("no connection")}.get(lacks, tr("not available"))
