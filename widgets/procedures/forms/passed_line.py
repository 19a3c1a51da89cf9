"""What passed, one line a check: its title, and a mark for each host it was looked at on; it opens to what was read."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from services.i18n import tr
from services.procedures.plan.checks import Check, Verdict
from services.types import Health
from widgets.common.controls.plain import show_tip
from widgets.common.look.fonts import px
from widgets.common.look.glyphs import glyph, shape_box
from widgets.common.look.text import MIDDLE
from widgets.common.look.theme import current_theme, ui_font
from widgets.procedures.blocks import text_label
from widgets.procedures.steps.fold_line import FoldLine, focus_ring, wedge

_HEIGHT = 28
_WEDGE_X, _GLYPH_X, _TITLE_X = 6.0, 18.0, 40.0
_MARK_GAP, _SHAPE, _MOST_NAME = 12.0, 9.0, 96.0
_LEAST_TITLE = 200.0


@dataclass(frozen=True, slots=True)
class Passed:
    """One check that passed, on all hosts where it was looked at."""

    title: str
    checks: tuple[Check, ...]


def passed_once(checks: tuple[Check, ...]) -> tuple[Passed, ...]:
    """Return what passed, each check once for all its hosts, in the order of the checklist."""
    found: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        found.setdefault(("", check.each) if check.each else (check.code, check.title), []).append(check)
    return tuple(
        Passed(some[0].each if len(some) > 1 and some[0].each else some[0].title, tuple(some))
        for some in found.values()
    )


def folds(check: Check) -> bool:
    """Return whether a check may fold to a line: it passed, it is known, and no person chooses by it."""
    return check.verdict is Verdict.PASS and not check.unknown and not check.to_read


class PassedHead(FoldLine):
    """The line itself."""

    def __init__(self, passed: Passed) -> None:
        super().__init__(_HEIGHT, opened=False)
        self.passed = passed
        self._marks: list[tuple[QRectF, Check]] = []
        self.setText(tr(passed.title))
        self.setAccessibleName(tr("{title}: pass", title=tr(passed.title)))
        self.describe(", ".join(_name(check) for check in passed.checks))

    def marks(self) -> tuple[str, ...]:
        """Return the hosts that are marked where there is room for it."""
        return tuple(_name(check) for check in self.passed.checks)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw wedge, shape, title, and the marks from the right."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if self.hasFocus():
            focus_ring(painter, box)
        middle = box.center().y()
        wedge(painter, QPointF(px(_WEDGE_X), middle), down=self.opened)
        glyph(painter, shape_box(px(_GLYPH_X), middle), Health.GOOD, theme)
        painter.setFont(ui_font())
        metrics = QFontMetricsF(painter.font())
        needed = min(metrics.horizontalAdvance(self.text()), px(_LEAST_TITLE))
        left = self._paint_marks(painter, box.adjusted(px(_TITLE_X) + needed + _MARK_GAP, 0, -8, 0))
        room = QRectF(px(_TITLE_X), 0, max(0.0, left - px(_TITLE_X) - _MARK_GAP), box.height())
        painter.setPen(theme.text)
        cut = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, cut)
        painter.end()

    def _paint_marks(self, painter: QPainter, room: QRectF) -> float:
        """Paint as many marks as there is room for, and how many more there are; return where they begin."""
        theme = current_theme()
        metrics = QFontMetricsF(painter.font())
        most = px(_MOST_NAME)
        names = [metrics.elidedText(_name(check), Qt.TextElideMode.ElideMiddle, most) for check in self.passed.checks]
        widths = [px(_SHAPE) + 4 + metrics.horizontalAdvance(name) for name in names]
        shown = len(names)
        more = metrics.horizontalAdvance("+ 00")
        while shown and sum(widths[:shown]) + _MARK_GAP * shown + (more if shown < len(names) else 0) > room.width():
            shown -= 1
        rest = f"+ {len(names) - shown}" if shown < len(names) else ""
        total = sum(widths[:shown]) + _MARK_GAP * max(0, shown - 1) + (_MARK_GAP + more if rest else 0)
        at = begin = room.right() - total
        self._marks = []
        line = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.setPen(theme.second)
        for check, name, width in zip(self.passed.checks, names, widths, strict=False):
            if len(self._marks) == shown:
                break
            glyph(painter, shape_box(at, room.center().y(), _SHAPE), Health.GOOD, theme)
            painter.drawText(QRectF(at + px(_SHAPE) + 4, 0, width, room.height()), line, name)
            self._marks.append((QRectF(at, 0, width, room.height()), check))
            at += width + _MARK_GAP
        if rest:
            painter.drawText(QRectF(at, 0, more, room.height()), line, rest)
        return begin

    def event(self, event: QEvent) -> bool:
        """Say over a mark what was read of its host, elsewhere what stands on the line."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            under = next((check for box, check in self._marks if box.contains(QPointF(event.pos()))), None)
            show_tip(event.globalPos(), _detail(under) if under is not None else self._all_details(), self)
            return True
        return super().event(event)

    def _all_details(self) -> str:
        return "\n".join(_detail(check) for check in self.passed.checks)


class PassedLine(QFrame):
    """The line, and below it what was read of each host; made when it is first opened."""

    turned = Signal()

    def __init__(self, passed: Passed) -> None:
        super().__init__()
        self.head = PassedHead(passed)
        self._details: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.head)
        self.head.turned.connect(self._turn)

    def details(self) -> QWidget | None:
        """Return what stands below the line, None before it was opened."""
        return self._details

    def _turn(self, opened: bool) -> None:
        if self._details is None:
            self._details = _details(self.head.passed)
            self._column.addWidget(self._details)
        self._details.setVisible(opened)
        self.turned.emit()


def _details(passed: Passed) -> QWidget:
    place = QWidget()
    column = QVBoxLayout(place)
    column.setContentsMargins(int(_TITLE_X), 0, 8, 8)
    column.setSpacing(2)
    for check in passed.checks:
        column.addWidget(text_label(f"{_detail(check)} {MIDDLE} {check.code}", "second"))
    return place


def _name(check: Check) -> str:
    return check.host or tr("cluster")


def _detail(check: Check) -> str:
    said = tr(check.evidence)
    return f"{check.host}: {said}" if check.host and not said.startswith(f"{check.host}:") else said
