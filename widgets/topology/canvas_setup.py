"""How Qt is told to treat the drawing: what budget 14 needs of it, and what a map needs that one drags."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView


def set_up(view: QGraphicsView, scene: QGraphicsScene) -> None:
    """Paint all at once, without scroll bars, and zoom around the pointer."""
    view.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
    view.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
    view.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontAdjustForAntialiasing)
    scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
    view.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    view.setMouseTracking(True)
    view.setMinimumSize(120, 160)
