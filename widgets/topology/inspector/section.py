"""One section of the inspector: title, rows of name and value, sentences, a curve. Its rows are kept and refilled."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from services.i18n import tr
from widgets.common.controls.boxes import hairline
from widgets.common.controls.labels import ElidedLabel, ValueLabel, label
from widgets.common.look.fonts import mono_font, px, ui_font
from widgets.common.look.theme import current_theme, curve_color, theme_holder
from widgets.topology.inspector.content import SETTINGS, Row, Section
from widgets.topology.inspector.prepared import NO_CURVE, Curve

_KEY_WIDTH, _MOST_KEY_WIDTH = 96, 132
_NAME_WIDTH = 176  # of a server variable, where the panel is narrow
_SETTING_WIDTH = 150
_ROW = 20
_LEFT = Qt.AlignmentFlag.AlignVCenter.value | Qt.AlignmentFlag.AlignLeft.value
_SIDES = 28  # left and right of the rows and between their columns


class _Value(ValueLabel):
    """A row's value in its state's colour, with a grey remark behind it where there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._row = Row("", "")
        self._grey = False
        theme_holder().changed.connect(self.update)
        theme_holder().sized.connect(self._fit_text)

    def _fit_text(self) -> None:
        self.setFont(mono_font() if self._row.mono else ui_font())
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Go on below where the panel is too narrow for what is never cut."""
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        metrics, room = self.fontMetrics(), QRect(0, 0, max(1, self.contentsRect().width()), 1 << 14)
        lines = 1
        if self._row.whole and self.shown_text() != self.text():
            lines = round(metrics.boundingRect(room, self._wrapped(), self.text()).height() / metrics.lineSpacing())
        self.setFixedHeight(px(_ROW) * lines)

    def _wrapped(self) -> int:
        """Return how what is never cut goes on below: words at their ends, an address anywhere."""
        return _LEFT | (Qt.TextFlag.TextWordWrap if " " in self.text() else Qt.TextFlag.TextWrapAnywhere).value

    def show_row(self, row: Row, *, grey: bool) -> None:
        """Show a row; `grey` when its section is stale."""
        if row == self._row and grey == self._grey:
            return
        self._row, self._grey = row, grey
        self._fit_text()
        self.setText(row.value)
        self._fit_height()
        self.set_hint(row.note)
        self.setAccessibleName(f"{tr(row.label)} {row.value} {row.note}".strip())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint value and remark."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setPen(theme.third if self._grey else theme.value(self._row.health))
        text, area = self.shown_text(), QRectF(self.contentsRect())
        if self._row.whole and text != self.text():
            painter.drawText(area, self._wrapped(), self.text())
            text = ""
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        used = self.fontMetrics().horizontalAdvance(text)
        if self.hasFocus():
            painter.setPen(theme.accent)
            painter.drawLine(0, self.height() - 1, used, self.height() - 1)
        if self._row.note and used + 8 < area.width():
            painter.setFont(ui_font())
            painter.setPen(theme.third)
            room = area.adjusted(used + 6, 0, 0, 0)
            note = painter.fontMetrics().elidedText(self._row.note, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, note)
        painter.end()


class SectionBox(QWidget):
    """One section; its row widgets are kept and refilled."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._rows: list[tuple[ElidedLabel, _Value]] = []
        self._sentences: list[QLabel] = []
        # Only a title has a place for it: a label without a parent outlives the window, until Python's collector
        # destroys it on whichever thread it runs.
        self._stale = label("", "third") if title else None
        self._curve = _Curve()
        self._caption = ElidedLabel("", "third", Qt.TextElideMode.ElideRight)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(2)
        self._key_width = _NAME_WIDTH if title == SETTINGS else _KEY_WIDTH
        self._grid.setColumnMinimumWidth(0, px(self._key_width))
        self._grid.setColumnStretch(1, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 12)
        outer.setSpacing(0)
        if self._stale is not None:
            outer.addWidget(hairline())
            top = QHBoxLayout()
            top.setContentsMargins(16, 12, 16, 6)
            top.addWidget(ElidedLabel(tr(title), "section", Qt.TextElideMode.ElideRight), 1)
            top.addWidget(self._stale)
            outer.addLayout(top)
        inner = QVBoxLayout()
        inner.setContentsMargins(16, 0, 8, 0)
        inner.setSpacing(4)
        inner.addLayout(self._grid)
        inner.addWidget(self._curve)
        inner.addWidget(self._caption)
        outer.addLayout(inner)
        self._curve.hide()
        self._caption.hide()
        theme_holder().sized.connect(self._fit_text)

    def _fit_text(self) -> None:
        for key, _ in self._rows:
            key.setFixedSize(px(self._key_width), px(_ROW))
        self._grid.setColumnMinimumWidth(0, px(self._key_width))
        self._widen()

    def show_section(self, section: Section) -> None:
        """Refill the rows; widgets are made or dropped only when their number changes."""
        age = section.stale or section.age
        if self._stale is not None and self._stale.text() != age:
            self._stale.setText(age)
        facts = [r for r in section.rows if not r.wraps]
        while len(self._rows) < len(facts):
            self._add_row()
        while len(self._rows) > len(facts):
            for widget in self._rows.pop():
                self._grid.removeWidget(widget)
                widget.deleteLater()
        for (key, value), row in zip(self._rows, facts, strict=True):
            key.setText(self._key_words(row))
            value.show_row(row, grey=bool(section.stale))
        self._widen()
        self._show_sentences([r.value for r in section.rows if r.wraps])

    def _widen(self) -> None:
        """Give words longer than the English ones more room, up to half of the panel; names what the values leave."""
        wanted = max((key.fontMetrics().horizontalAdvance(key.text()) + 4 for key, _ in self._rows), default=0)
        most = max(px(_MOST_KEY_WIDTH), self.width() // 2 - _SIDES)
        if self._key_width == _NAME_WIDTH:
            most = max(_NAME_WIDTH, px(_MOST_KEY_WIDTH), self.width() - _SIDES - px(_SETTING_WIDTH))
        width = max(px(_KEY_WIDTH), min(most, wanted))
        if self.width() > px(_KEY_WIDTH):  # large text in a narrow panel: the values keep their half
            width = min(width, self.width() // 2)
        self._grid.setColumnMinimumWidth(0, width)
        for key, _ in self._rows:
            key.setFixedWidth(width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width out between keys and values anew."""
        super().resizeEvent(event)
        self._widen()

    def minimumSizeHint(self) -> QSize:
        """Be as narrow as the panel: names and values are cut with a sign, and whole in their tooltips."""
        return QSize(0, super().minimumSizeHint().height())

    def _key_words(self, row: Row) -> str:
        """Return a row's key: words, but among the settings the server's own names."""
        return tr(row.label) if self._key_width == _KEY_WIDTH else row.label

    def _add_row(self) -> None:
        key, value = ElidedLabel("", "second"), _Value()
        key.setFixedSize(px(self._key_width), px(_ROW))
        at = len(self._rows)
        self._grid.addWidget(key, at, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, at, 1)
        self._rows.append((key, value))

    def _show_sentences(self, sentences: Sequence[str]) -> None:
        if [s.text() for s in self._sentences] == list(sentences):
            return
        for old in self._sentences:
            self._grid.removeWidget(old)
            old.deleteLater()
        self._sentences = []
        for i, sentence in enumerate(sentences):
            words = label(sentence, wrap=True)
            words.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            words.setContentsMargins(0, 0, 0, 6)
            self._grid.addWidget(words, 1000 + i, 0, 1, 2)
            self._sentences.append(words)

    def show_curve(self, curve: Curve) -> None:
        """Show the section's curve, or none."""
        shown = len(curve.spark.values) > 1
        self._curve.show_curve(curve)
        self._curve.setVisible(shown)
        self._caption.setText(curve.caption)
        self._caption.setVisible(shown and bool(curve.caption))

    def curve_area(self) -> QRectF:
        """Return the place that the curve is painted in."""
        return self._curve.area()

    def name_curve(self, node: str) -> None:
        """Name the curve for who hears it: what it shows, and of which node."""
        self._curve.setAccessibleName(f"{self._caption.text()}, {node}")

    def words(self) -> tuple[tuple[str, str], ...]:
        """Return (label, value) of all rows."""
        rows = [(key.text(), value.text()) for key, value in self._rows]
        return (*rows, *(("", s.text()) for s in self._sentences))


class _Curve(QWidget):
    """The inspector's larger spark, on canvas ground."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(56)
        self._shown = Curve(NO_CURVE, "", 0, stale=False)
        theme_holder().changed.connect(self.update)

    def show_curve(self, curve: Curve) -> None:
        """Draw this in a node's colour, grey when it is old."""
        old, self._shown = self._shown, curve
        if (old.spark.values, old.color, old.stale) != (curve.spark.values, curve.color, curve.stale):
            self.update()

    def area(self) -> QRectF:
        """Return where in the widget the curve is."""
        return QRectF(self.rect()).adjusted(8, 10, -8, -8)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint ground and curve."""
        del event
        theme, shown = current_theme(), self._shown
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.canvas)
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        spark = shown.spark.fitted(self.area())  # made for another width: the panel was resized since
        spark.paint(painter, theme.stale if shown.stale else curve_color(shown.color))
        painter.end()
