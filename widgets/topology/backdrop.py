"""What lies under the cards: the enclosure of each component, its segments' chambers, the holes of lost members."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from services.discovery.model import ClusterSnapshot
from services.drawing.box import Box
from services.i18n import tr
from widgets.common.look.theme import with_alpha
from widgets.topology.paint_state import Detail, PaintState
from widgets.topology.placement import Chamber, Hole, Placement
from widgets.topology.wording import component_detail, component_title, is_split, segment_label

_LEFT_MIDDLE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_WHOLE_LETTERS = int(_LEFT_MIDDLE) | int(Qt.TextFlag.TextDontClip)
"""From afar a title's letters are taller than its line: what hangs below it is not cut off."""


def rect_of(box: Box) -> QRectF:
    """Return a box as Qt's rectangle."""
    return QRectF(box.x, box.y, box.w, box.h)


_Font = tuple[QFont, QFontMetricsF]


@dataclass(frozen=True, slots=True)
class _Outline:
    rect: QRectF
    primary: bool
    calm: bool  # the only primary component there is
    title: str
    detail: str


def in_whole(text: str, room: float, large: _Font, small: _Font) -> _Font:
    """Return the font of a title: the small one where the large one would cut it, as it may say what is lost."""
    return large if large[1].horizontalAdvance(text) <= room else small


class Backdrop(QGraphicsItem):
    """One item for everything that does not belong to a single node."""

    def __init__(self, state: PaintState) -> None:
        super().__init__()
        self._state = state
        self._outlines: tuple[_Outline, ...] = ()
        self._chambers: tuple[Chamber, ...] = ()
        self._holes: tuple[Hole, ...] = ()
        self._bounds = QRectF()
        self.setZValue(0)

    def take(self, cluster: ClusterSnapshot, placement: Placement) -> None:
        """Draw these places with the words of `cluster`; repaints only when something differs."""
        components, split = {c.component_id: c for c in cluster.components}, is_split(cluster)
        outlines = tuple(
            _Outline(
                rect_of(shape.box),
                components[shape.component_id].primary,
                components[shape.component_id].primary and not split,
                component_title(components[shape.component_id], cluster),
                component_detail(components[shape.component_id], cluster),
            )
            for shape in placement.shapes
            if shape.component_id in components
        )
        new = (outlines, placement.chambers, placement.holes)
        if new == (self._outlines, self._chambers, self._holes):
            return
        self._outlines, self._chambers, self._holes = new
        bounds = rect_of(placement.bounds.grown(4))
        if bounds != self._bounds:
            self.prepareGeometryChange()
            self._bounds = bounds
        self.update()

    def titles(self) -> tuple[tuple[str, str], ...]:
        """Return (title, detail) of every component drawn, for tests and screen readers."""
        return tuple((o.title, o.detail) for o in self._outlines)

    def boundingRect(self) -> QRectF:
        """Return the whole drawing."""
        return self._bounds

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Paint outlines first, chambers and holes inside them."""
        del option, widget
        if self._state.detail is Detail.GLYPH:
            self._paint_far(painter)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for outline in self._outlines:
            self._paint_outline(painter, outline)
        theme = self._state.theme
        for chamber in self._chambers:
            painter.setPen(QPen(with_alpha(theme.enclosure_line, 0.7), 1.0))
            painter.setBrush(with_alpha(theme.canvas, 0.35 if theme.dark else 0.5))
            painter.drawRoundedRect(rect_of(chamber.box), 12, 12)
            self._paint_chamber_label(painter, chamber)
        for hole in self._holes:
            self._paint_hole(painter, hole)

    def _paint_far(self, painter: QPainter) -> None:
        """Plain rectangles: from afar nobody sees a corner's radius, and round ones cost a millisecond each."""
        theme = self._state.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for outline in self._outlines:
            line = theme.enclosure_line if outline.calm else theme.bad
            painter.setPen(QPen(line, 0, Qt.PenStyle.SolidLine if outline.primary else Qt.PenStyle.DashLine))
            painter.setBrush(theme.enclosure if outline.calm else theme.bad_tint)
            painter.drawRect(outline.rect)
        painter.setPen(QPen(theme.enclosure_line, 0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for chamber in self._chambers:
            painter.drawRect(rect_of(chamber.box))

    def _paint_outline(self, painter: QPainter, outline: _Outline) -> None:
        theme = self._state.theme
        if outline.calm:
            painter.setPen(QPen(theme.enclosure_line, 1.5))
            painter.setBrush(theme.enclosure)
        else:
            pen = QPen(theme.bad, 1.5)
            if not outline.primary:
                pen.setDashPattern([6.0, 4.0])
            painter.setPen(pen)
            painter.setBrush(with_alpha(theme.bad_tint, 0.55))
        painter.drawRoundedRect(outline.rect, 16, 16)
        self._paint_title(painter, outline)

    def _paint_title(self, painter: QPainter, outline: _Outline) -> None:
        theme, fonts = self._state.theme, self._state.fonts
        far = self._state.detail is Detail.NAME
        large = (fonts.far_name, fonts.far_name_width) if far else (fonts.base_strong, fonts.base_strong_width)
        small, small_width = (fonts.far_state, fonts.far_state_width) if far else (fonts.small, fonts.small_width)
        color = theme.good if outline.calm else theme.bad
        rect = outline.rect.adjusted(20, 0, -16, 0)
        strong, strong_width = in_whole(outline.title, rect.width(), large, (small, small_width))
        title_width = strong_width.horizontalAdvance(outline.title)
        in_one_line = far or title_width + 8 + small_width.horizontalAdvance(outline.detail) <= rect.width()
        painter.setFont(strong)
        painter.setPen(color)
        title = strong_width.elidedText(outline.title, Qt.TextElideMode.ElideRight, max(0.0, rect.width()))
        line = QRectF(rect.x(), rect.y() + (8 if in_one_line else -1), rect.width(), 28)
        painter.drawText(line, _WHOLE_LETTERS, title)
        painter.setFont(small)
        painter.setPen(theme.second if outline.calm else theme.bad)
        left = rect.x() + title_width + 8 if in_one_line else rect.x()
        room = QRectF(left, rect.y() + (8 if in_one_line else 14), rect.right() - left, 28)
        cut = small_width.elidedText(outline.detail, Qt.TextElideMode.ElideRight, max(0.0, room.width()))
        painter.drawText(room, _LEFT_MIDDLE, cut)

    def _paint_chamber_label(self, painter: QPainter, chamber: Chamber) -> None:
        fonts = self._state.fonts
        painter.setFont(fonts.far_state if self._state.detail is Detail.NAME else fonts.small)
        painter.setPen(self._state.theme.second)
        room = QRectF(chamber.box.x + 16, chamber.box.y + 6, chamber.box.w - 32, 24)
        painter.drawText(room, _LEFT_MIDDLE, segment_label(chamber.segment))

    def _paint_hole(self, painter: QPainter, hole: Hole) -> None:
        theme = self._state.theme
        pen = QPen(theme.enclosure_line, 1.0)
        pen.setDashPattern([3.0, 4.0])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect_of(hole.box).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        fonts, far = self._state.fonts, self._state.detail is Detail.NAME
        painter.setFont(fonts.far_state if far else fonts.small)
        painter.setPen(theme.third)
        room = rect_of(hole.box).adjusted(12, 8, -12, -8)
        words = tr("place of {name}", name=hole.name)
        measured = fonts.far_state_width if far else fonts.small_width
        cut = measured.elidedText(words, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, cut)
