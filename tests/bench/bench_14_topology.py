"""Budget 14: a frame of 500 nodes through the real canvas, beside bare QPainter and QGraphicsTextItems.

A frame is what one new snapshot costs on the GUI thread: taking it and painting it, at 1400 x 900 with the whole
cluster in sight, every state, number and colour changed, two edges a node. The peers paint the same rectangles, three
lines of text a node and as many edges. The real canvas leaves text out below 45 % zoom, as the design tells it to; what
a frame costs at 100 % zoom, where it paints whole cards, stands in the detail.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsRectItem,
    QGraphicsScene,
    QGraphicsTextItem,
    QGraphicsView,
    QWidget,
)

from services.discovery.model import ClusterSnapshot, ReplicationEdge
from services.types import Health
from tests.bench.model import Row, paired
from tests.widgets import builders
from widgets.common.look.fonts import SMALL, ui_font
from widgets.common.look.theme import apply_theme, current_theme
from widgets.topology.canvas import Canvas

_SIZE = (1400, 900)
_NODES = 500
_FRAMES = 8
Frame = Callable[[int], None]


def _edges(count: int) -> tuple[ReplicationEdge, ...]:
    pairs = [(i, (i + step) % count) for i in range(count) for step in (1, 7)]
    return tuple(
        ReplicationEdge(f"db{a + 1}", f"db{b + 1}", str(b - a), Health.GOOD, "Yes", "Yes", 0.4) for a, b in pairs
    )


def _snapshots() -> tuple[ClusterSnapshot, ...]:
    edges = _edges(_NODES)
    return tuple(replace(builders.many(_NODES, tick), replication=edges) for tick in range(_FRAMES))


def _words(cluster: ClusterSnapshot) -> list[tuple[str, str, str, Health]]:
    return [(n.name, n.state, f"{n.numbers[0][0]} {n.numbers[0][1]}", n.health) for n in cluster.nodes]


class _Bare(QWidget):
    """The limit: one paintEvent that draws everything itself."""

    def __init__(self, places: list[QRectF], lines: list[tuple[float, float, float, float]], zoom: float) -> None:
        super().__init__()
        self.resize(*_SIZE)
        self.words: list[tuple[str, str, str, Health]] = []
        self._places, self._lines, self._zoom = places, lines, zoom
        self._font = ui_font(SMALL)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.canvas)
        painter.scale(self._zoom, self._zoom)
        painter.setPen(QPen(theme.third, 0))
        for line in self._lines:
            painter.drawLine(*(round(v) for v in line))
        painter.setFont(self._font)
        for place, (name, state, number, health) in zip(self._places, self.words, strict=True):
            painter.setPen(QPen(theme.line, 0))
            painter.setBrush(theme.health_tint(health))
            painter.drawRect(place)
            painter.setPen(theme.text)
            for i, text in enumerate((name, state, number)):
                painter.drawText(QRectF(place.x() + 12, place.y() + 10 + i * 20, 172, 18), 0, text)


def _places(canvas: Canvas) -> tuple[list[QRectF], list[tuple[float, float, float, float]]]:
    boxes = canvas.placement.nodes
    rects = [QRectF(b.x, b.y, b.w, b.h) for b in boxes.values()]
    by_id = list(boxes.items())
    lines = []
    for i, (_, a) in enumerate(by_id):
        for step in (1, 7):
            b = by_id[(i + step) % len(by_id)][1]
            lines.append((a.cx, a.cy, b.cx, b.cy))
    return rects, lines


def _painted(widget: QWidget) -> None:
    """Paint now, through the window system's own path (backing store), not into a pixmap of ours."""
    widget.update()
    widget.repaint()


def _real(snapshots: tuple[ClusterSnapshot, ...], *, near: bool) -> tuple[Canvas, Frame]:
    canvas = Canvas()
    canvas.resize(*_SIZE)
    canvas.show()
    canvas.set_reduced_motion(True)
    canvas.show_cluster(snapshots[0], {}, builders.AT)
    if near:
        canvas.zoom_by(1.0 / canvas.zoom)
    QApplication.processEvents()

    def frame(tick: int) -> None:
        canvas.show_cluster(snapshots[tick % _FRAMES], {}, builders.AT)
        canvas.viewport().repaint()

    return canvas, frame


def _bare(canvas: Canvas, snapshots: tuple[ClusterSnapshot, ...]) -> tuple[QWidget, Frame]:
    places, lines = _places(canvas)
    widget = _Bare(places, lines, canvas.zoom)
    words = [_words(s) for s in snapshots]
    widget.words = words[0]
    widget.show()

    def frame(tick: int) -> None:
        widget.words = words[tick % _FRAMES]
        _painted(widget)

    return widget, frame


def _text_items(canvas: Canvas, snapshots: tuple[ClusterSnapshot, ...]) -> tuple[QWidget, Frame]:
    """The ordinary way: a rectangle and three text items a node, one line item an edge, Qt's default updates."""
    scene = QGraphicsScene()
    view = QGraphicsView(scene)
    scene.setParent(view)
    view.resize(*_SIZE)
    places, lines = _places(canvas)
    for line in lines:
        scene.addLine(*line, QPen(current_theme().third, 0))
    nodes: list[tuple[QGraphicsRectItem, list[QGraphicsTextItem]]] = []
    for place in places:
        rect = scene.addRect(place)
        texts = []
        for i in range(3):
            text = scene.addText("", ui_font(SMALL))
            text.setPos(place.x() + 12, place.y() + 6 + i * 20)
            texts.append(text)
        nodes.append((rect, texts))
    view.scale(canvas.zoom, canvas.zoom)
    words = [_words(s) for s in snapshots]
    view.show()
    QApplication.processEvents()

    def frame(tick: int) -> None:
        theme = current_theme()
        for (rect, texts), (name, state, number, health) in zip(nodes, words[tick % _FRAMES], strict=True):
            rect.setBrush(QBrush(theme.health_tint(health)))
            for item, text in zip(texts, (name, state, number), strict=True):
                item.setPlainText(text)
                item.setDefaultTextColor(theme.health(health))
        view.viewport().repaint()
        QApplication.processEvents()

    return view, frame


def _timer(frame: Frame) -> Callable[[], float]:
    tick = 0

    def once() -> float:
        nonlocal tick
        started = time.perf_counter()
        for _ in range(_FRAMES):
            tick += 1
            frame(tick)
        return (time.perf_counter() - started) * 1000 / _FRAMES

    once()
    return once


def run(rounds: int) -> list[Row]:
    """Return budget 14's rows: a against bare QPainter, b against QGraphicsTextItem."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    apply_theme(app, "light")
    snapshots = _snapshots()
    canvas, real = _real(snapshots, near=False)
    bare_widget, bare = _bare(canvas, snapshots)
    items_widget, items = _text_items(canvas, snapshots)
    real_once, bare_once, items_once = _timer(real), _timer(bare), _timer(items)
    against_bare, real_ms, bare_ms = paired(real_once, bare_once, rounds)
    against_items, _, items_ms = paired(real_once, items_once, max(3, rounds // 2))
    near_canvas, near = _real(snapshots, near=True)
    near_ms = min(_timer(near)() for _ in range(3))
    for widget in (canvas, bare_widget, items_widget, near_canvas):
        widget.hide()
        widget.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        widget.close()
    QApplication.processEvents()
    return [
        Row(
            14,
            "a",
            f"topology, {_NODES} nodes, all changed, snapshot + paint x bare QPainter",
            against_bare,
            1.3,
            detail=f"{real_ms:.1f} : {bare_ms:.1f} ms; cards near (those in sight at 100 %): {near_ms:.1f} ms",
        ),
        Row(
            14,
            "b",
            f"topology, {_NODES} nodes, snapshot + paint x QGraphicsTextItem version",
            against_items,
            0.15,
            detail=f"{real_ms:.1f} : {items_ms:.1f} ms",
        ),
    ]
