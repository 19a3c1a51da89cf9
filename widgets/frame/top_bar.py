"""The bar above everything: name, pages, and the search field that opens the command palette."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QWidget

from services.i18n import mark, tr
from widgets.common.commands.shortcuts import WINDOW, keys_of
from widgets.common.controls.boxes import PressButton
from widgets.common.controls.labels import PlainLabel
from widgets.common.controls.plain import set_tip
from widgets.common.look.fonts import STRONG, TITLE, px
from widgets.common.look.styling import wear
from widgets.common.look.theme import current_theme, mono_font, theme_holder, ui_font

HEIGHT = 44
SETTINGS, WITH_INSPECTOR = "settings", "topology"
_BAR_FOCUS = Qt.FocusPolicy.TabFocus
"""As a QToolButton has it: a click on the bar leaves the keys where they are."""


class Wheel(QWidget):
    """The program's mark: a ship's wheel of eight spokes, drawn in the accent colour."""

    def __init__(self, size: int = 24, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = size
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        self.setAccessibleName("Pilothouse")

    def _fit_text(self) -> None:
        self.setFixedSize(QSize(px(self._size), px(self._size)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw rim, hub and spokes scaled to the widget."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_wheel(painter, QRectF(self.rect()), current_theme().accent)
        painter.end()


def paint_wheel(painter: QPainter, rect: QRectF, color: QColor) -> None:
    """Draw the wheel into `rect`."""
    unit = min(rect.width(), rect.height()) / 24.0
    painter.save()
    painter.translate(rect.center())
    painter.scale(unit, unit)
    pen = QPen(color, 1.7)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QRectF(-7, -7, 14, 14))
    painter.drawEllipse(QRectF(-2.4, -2.4, 4.8, 4.8))
    for _ in range(8):
        painter.drawLine(0, -3, 0, -11)
        painter.rotate(45)
    painter.restore()


class TopBar(QFrame):
    """Pages as a row of buttons; the search field is a button in a field's clothes.

    Signals:
        page_chosen(str): a page's key. search_wanted(): open the command palette.
        act_wanted(str): an act of the table of shortcuts.
    """

    page_chosen = Signal(str)
    search_wanted = Signal()
    act_wanted = Signal(str)

    def __init__(self, pages: tuple[tuple[str, str], ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "panel")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(4)
        row.addWidget(Wheel())
        row.addSpacing(4)
        self._name = PlainLabel("Pilothouse")
        row.addWidget(self._name)
        row.addSpacing(16)
        self._with_pages = True
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._buttons: dict[str, QPushButton] = {}
        for number, (key, title) in enumerate(pages, start=1):
            row.addWidget(self._page_button(key, title, keys_of(WINDOW, f"page-{number}")))
        row.addStretch(1)
        self._search = SearchField()
        self._search.clicked.connect(self.search_wanted)
        row.addWidget(self._search, 1000)  # its whole width wherever the titles leave it that
        row.addSpacing(4)
        self._panels = {side: _PanelButton(side) for side in ("tree", "inspector")}
        for side, button in self._panels.items():
            button.clicked.connect(lambda _checked=False, s=side: self.act_wanted.emit(s))
            row.addWidget(button)
        row.addWidget(self._page_button(SETTINGS, mark("Settings"), keys_of(WINDOW, "settings")))
        self._sheet = self._sheet_button()
        row.addWidget(self._sheet)
        self.show_hidden(tree=False, inspector=False)
        self._fit_text()
        theme_holder().sized.connect(self._fit_text)
        wear(self)

    def _fit_text(self) -> None:
        self.setFixedHeight(px(HEIGHT))
        self._name.setFont(ui_font(TITLE, STRONG))
        self._sheet.setFixedSize(QSize(px(28), px(30)))
        self._search.setFixedHeight(px(30))
        self._search.setMaximumWidth(px(300))
        for button in self._panels.values():
            button.setFixedSize(QSize(px(30), px(30)))
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show what there is room for beside the pages."""
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """No page's title is cut: the program's name, the panels' buttons and the field give way, their keys stay."""
        titles = sum(button.sizeHint().width() + 4 for button in self._buttons.values())
        room = self.width() - titles - px(28) - 80
        panels = [*self._panels.values()] if self._with_pages else []
        for parts, need in (
            ([self._search], self._search.minimumWidth()),
            (panels, 2 * px(30) + 8),
            ([self._name], self._name.sizeHint().width() + 20),
        ):
            for part in parts:
                part.setVisible(need <= room)
            room = room - need if need <= room else 0

    def _page_button(self, key: str, title: str, keys: str) -> _PageButton:
        button = self._buttons[key] = _PageButton(tr(title))
        set_tip(button, f"{tr(title)} ({keys})")
        button.clicked.connect(lambda: self.page_chosen.emit(key))
        self._group.addButton(button)
        return button

    def _sheet_button(self) -> QPushButton:
        button = PressButton("?")
        button.setProperty("kind", "ghost")
        button.setFocusPolicy(_BAR_FOCUS)
        button.setStyleSheet("padding: 4px 0;")
        button.setAccessibleName(tr("Keyboard shortcuts"))
        set_tip(button, tr("Keyboard shortcuts ({keys})", keys=keys_of(WINDOW, "sheet")))
        button.clicked.connect(lambda: self.act_wanted.emit("sheet"))
        return button

    def show_hidden(self, tree: bool, inspector: bool) -> None:
        """Say at its button whether a panel is hidden."""
        for side, hidden in (("tree", tree), ("inspector", inspector)):
            self._panels[side].show_state(hidden=hidden)

    def show_page(self, key: str) -> None:
        """Mark the page that is shown; one that has no button marks none."""
        self._group.setExclusive(False)  # a group that is exclusive keeps one marked
        for each, button in self._buttons.items():
            button.setChecked(each == key)
        self._group.setExclusive(True)
        self._panels["inspector"].setEnabled(key == WITH_INSPECTOR)

    def show_pages(self, visible: bool) -> None:
        """Offer the pages, or not while there is nothing that they could show."""
        for key, button in self._buttons.items():
            button.setVisible(visible or key == SETTINGS)
        self._with_pages = visible
        for panel in self._panels.values():
            panel.setVisible(visible)
        self._make_room()


class _PageButton(PressButton):
    """One page; as wide as its title in the bold of the page in front, so that choosing a page moves nothing."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.setProperty("kind", "ghost")
        self.setCheckable(True)
        self.setFocusPolicy(_BAR_FOCUS)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space show the page; the page in front has no use for Space: the window has."""
        if event.key() == Qt.Key.Key_Space and self.isChecked():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        """Return room for the bold title and 16 px beside it."""
        words = QFontMetricsF(ui_font(weight=STRONG)).horizontalAdvance(self.text())
        return QSize(int(words) + 33, px(30))


class _PanelButton(PressButton):
    """Shows or hides a panel at the left or the right of the window: a little window with that side filled."""

    def __init__(self, side: str) -> None:
        super().__init__()
        self._side = side
        self._hidden = False
        self.setProperty("kind", "ghost")
        self.setFocusPolicy(_BAR_FOCUS)
        theme_holder().changed.connect(self.update)

    def show_state(self, *, hidden: bool) -> None:
        """Say what pressing does now."""
        self._hidden = hidden
        words = {
            ("tree", True): tr("Show the estate"),
            ("tree", False): tr("Hide the estate"),
            ("inspector", True): tr("Show the inspector"),
            ("inspector", False): tr("Hide the inspector"),
        }[self._side, hidden]
        self.setAccessibleName(words)
        set_tip(self, f"{words} ({keys_of(WINDOW, self._side)})")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the little window over the button."""
        super().paintEvent(event)
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self.width() / 30, self.height() / 30)
        box = QRectF(7.5, 8.5, 15, 13)
        ink = theme.second if self.isEnabled() else theme.stale
        painter.setPen(QPen(ink, 1))
        painter.drawRoundedRect(box, 2, 2)
        left = box.left() if self._side == "tree" else box.right() - 5
        if self._hidden:
            edge = left + 5 if self._side == "tree" else left
            painter.drawLine(QPointF(edge, box.top()), QPointF(edge, box.bottom()))
        else:
            painter.fillRect(QRectF(left, box.top(), 5, box.height()), ink)
        painter.end()


class SearchField(QWidget):
    """Looks like a field, acts as a button: 'Go to, run, find…   Ctrl K'."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumWidth(120)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Go to, run, find"))
        set_tip(self, tr("Command palette ({keys})", keys=keys_of(WINDOW, "palette")))
        self._shortcut = keys_of(WINDOW, "palette").replace("+", " ")
        theme_holder().changed.connect(self.update)

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        """Open the palette."""
        self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space press it, as with any button."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            self.clicked.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the field, its hint and the shortcut's key cap."""
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme.accent if self.hasFocus() else theme.line)
        painter.setBrush(theme.canvas)
        painter.drawRoundedRect(box, 6, 6)
        painter.setPen(theme.third)
        painter.setFont(ui_font())
        cap = QRectF(box.right() - px(54), box.top() + 6, px(46), box.height() - 12)
        room = box.adjusted(12, 0, -px(54) - 8, 0)
        words = QFontMetricsF(ui_font()).elidedText(tr("Go to, run, find…"), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)
        painter.setPen(theme.line)
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(theme.third)
        painter.setFont(mono_font(11))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, self._shortcut)
        painter.end()
