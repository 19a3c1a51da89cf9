"""The inspector: one node's identity, state, numbers with their age, settings and problems, beside the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.discovery.model import ClusterSnapshot, NodeView
from services.types import Health
from services.words import tr
from widgets.common.boxes import HealthMark, button, hairline
from widgets.common.fonts import STRONG, mono_font, ui_font
from widgets.common.labels import ElidedLabel, ValueLabel, label
from widgets.common.nodes import curve_index, is_silent, is_stale
from widgets.common.spark import Spark
from widgets.common.theme import current_theme, curve_color, theme_holder
from widgets.common.wardrobe import wear
from widgets.topology.inspector_content import (
    MACHINE,
    PROBLEMS,
    REPLICATION,
    RETURN,
    SETTINGS,
    Content,
    ExtraRows,
    Row,
    Section,
    content,
)

_WIDTH = 316
_KEY_WIDTH, _MOST_KEY_WIDTH = 96, 132
_NAME_WIDTH = 176  # of a server variable


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can help here: what the button says, why it can't be done now ('' when it can)."""

    action_id: str
    text: str
    not_now: str = ""


class Inspector(QFrame):
    """316 px of one node. `action_chosen(action_id, node_id)` when a button under 'Can help here' is pressed."""

    action_chosen = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self.setFixedWidth(_WIDTH)
        self._node_id = ""
        self._sections: dict[str, _SectionBox] = {}
        self._coming: list[Section] = []
        self._curve: tuple[Sequence[float], str, int, bool] = ((), "", 0, False)
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._make_next)
        self._actions: tuple[Action, ...] = ()
        self._head = _Head()
        self._hint = label(tr("Select a node to see its numbers, settings and problems."), "second", wrap=True)
        self._hint.setContentsMargins(16, 20, 16, 0)
        self._help = QWidget()
        self._help_rows = QVBoxLayout(self._help)
        self._help_rows.setContentsMargins(16, 12, 16, 16)
        self._help_rows.setSpacing(8)
        self._help.hide()
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 16)
        self._body.setSpacing(0)
        self._body.addWidget(self._help)
        self._body.addStretch(1)
        self._scroll = self._make_scroll()
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._head)
        page.addWidget(self._hint)
        page.addWidget(self._scroll, 1)
        self.setAccessibleName(tr("Inspector"))
        self.show_node(None, None, 0.0, {})
        wear(self)

    def _make_scroll(self) -> QScrollArea:
        inner = QWidget()
        inner.setLayout(self._body)
        scroll = QScrollArea()
        scroll.setAccessibleName(tr("Inspector: numbers of the selected node"))
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        return scroll

    def show_node(
        self,
        cluster: ClusterSnapshot | None,
        node: NodeView | None,
        at: float,
        extra: ExtraRows,
        *,
        spark: Sequence[float] = (),
        spark_label: str = "",
        actions: tuple[Action, ...] = (),
    ) -> None:
        """Show `node` of `cluster` as of `at`, updating in place; None shows what to do.

        Args:
            extra: section title ("Replication", "Machine", "Settings that matter") -> (label, value, health) rows that
                only the samplers know; they stand first in their section.
            spark: values of the node's curve; `spark_label` says what and how long ("receive queue, last 10 min").
            actions: what can help here; the section is not shown while there are none.
        """
        shown = cluster is not None and node is not None
        self._head.setVisible(shown)
        self._scroll.setVisible(shown)
        self._hint.setVisible(not shown)
        if cluster is None or node is None:
            self._node_id = ""
            self._coming = []
            self._turn.stop()
            return
        if node.node_id != self._node_id:
            self._node_id = node.node_id
            self._scroll.verticalScrollBar().setValue(0)
        words = content(cluster, node, at, extra)
        self._head.show_words(words, stale=is_stale(node, at) and not is_silent(node))
        self._curve = (spark, spark_label, curve_index(cluster, node.node_id), is_stale(node, at))
        self._show_sections(words.sections)
        self._show_actions(actions)

    def rows(self, title: str) -> tuple[tuple[str, str], ...]:
        """Return (label, value) of a section as shown, for tests and the copy of a whole section."""
        while self._coming:
            self._make_next()
        self._turn.stop()
        box = self._sections.get(title)
        return box.words() if box is not None and box.isVisibleTo(self) else ()

    def _show_sections(self, sections: Sequence[Section]) -> None:
        """Refill the sections that stand; the others are made one a turn of the event loop, some 5 ms each."""
        wanted = {s.title for s in sections}
        for title, box in self._sections.items():
            box.setVisible(title in wanted)
        for section in sections:
            if section.title in self._sections:
                self._fill(section)
        self._turn.stop()
        self._coming = [s for s in sections if s.title not in self._sections]
        if self._coming:
            self._make_next()

    def _make_next(self) -> None:
        section = self._coming.pop(0)
        box = self._sections[section.title] = _SectionBox(section.title)
        self._body.insertWidget(self._place_of(section.title), box)
        box.show()  # Qt would show it one event later: a section must not come after its neighbours
        self._fill(section)
        if self._coming:
            self._turn.start()
        else:
            self._turn.stop()

    def _fill(self, section: Section) -> None:
        box = self._sections[section.title]
        box.show_section(section)
        if section.title == REPLICATION:
            values, caption, curve, stale = self._curve
            box.show_curve(values, caption, curve, stale=stale)

    def _place_of(self, title: str) -> int:
        order = ["", PROBLEMS, REPLICATION, RETURN, MACHINE, SETTINGS]
        before = order[: order.index(title)]
        return sum(t in self._sections for t in before)

    def _show_actions(self, actions: tuple[Action, ...]) -> None:
        if actions == self._actions:
            return
        self._actions = actions
        while (item := self._help_rows.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self._help.setVisible(bool(actions))
        if not actions:
            return
        self._help_rows.addWidget(label(tr("Can help here"), "section"))
        for action in actions:
            text = f"{action.text}  ({action.not_now})" if action.not_now else action.text
            room = _WIDTH - 32 - 28  # beside the section's margins and the button's own
            cut = QFontMetrics(ui_font()).elidedText(text, Qt.TextElideMode.ElideRight, room)
            made = button(cut, hint=action.not_now or (text if cut != text else ""))
            made.setAccessibleName(text)
            made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            made.setEnabled(not action.not_now)
            made.clicked.connect(lambda _=False, a=action: self.action_chosen.emit(a.action_id, self._node_id))
            self._help_rows.addWidget(made)


class _Head(QWidget):
    """Shape, name, state word, age."""

    def __init__(self) -> None:
        super().__init__()
        self._mark = HealthMark()
        self._name = ElidedLabel("", "title")
        self._name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._state = ElidedLabel("", "", Qt.TextElideMode.ElideRight)
        self._state.setFont(ui_font(weight=STRONG))
        self._age = label("", "third")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 16, 16, 8)
        row.setSpacing(8)
        row.addWidget(self._mark)
        row.addWidget(self._name)
        row.addWidget(self._state, 1)
        row.addWidget(self._age)
        self._health = Health.UNKNOWN
        self._stale = False
        theme_holder().changed.connect(self._dress)

    def show_words(self, words: Content, *, stale: bool) -> None:
        """Show the node's first line."""
        self._mark.set_health(Health.UNKNOWN if stale else words.health)
        self._name.setText(words.name)
        self._state.setText(words.state)
        if self._age.text() != words.age:
            self._age.setText(words.age)
        self._health, self._stale = words.health, stale
        self._dress()

    def _dress(self) -> None:
        theme = current_theme()
        color = theme.third if self._stale else theme.health(self._health)
        sheet = f"color: {color.name()}; font-weight: 600;"
        if sheet != self._state.styleSheet():
            self._state.setStyleSheet(sheet)


class _Value(ValueLabel):
    """A row's value in its state's colour, with a grey remark behind it where there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._row = Row("", "")
        self._grey = False
        theme_holder().changed.connect(self.update)

    def show_row(self, row: Row, *, grey: bool) -> None:
        """Show a row; `grey` when its section is stale."""
        if row == self._row and grey == self._grey:
            return
        self._row, self._grey = row, grey
        self.setFont(mono_font() if row.mono else ui_font())
        self.setText(row.value)
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


class _SectionBox(QWidget):
    """One section; its row widgets are kept and refilled."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._rows: list[tuple[ElidedLabel, _Value]] = []
        self._sentences: list[QLabel] = []
        # Only a title has a place for it: a label without a parent outlives the window, until Python's collector
        # destroys it on whichever thread it runs.
        self._stale = label("", "third") if title else None
        self._curve = _Curve()
        self._caption = label("", "third")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(2)
        self._key_width = _NAME_WIDTH if title == SETTINGS else _KEY_WIDTH
        self._grid.setColumnMinimumWidth(0, self._key_width)
        self._grid.setColumnStretch(1, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 12)
        outer.setSpacing(0)
        if self._stale is not None:
            outer.addWidget(hairline())
            top = QHBoxLayout()
            top.setContentsMargins(16, 12, 16, 6)
            top.addWidget(label(tr(title), "section"))
            top.addStretch(1)
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
        """Give words longer than the English ones more room, up to half of the panel."""
        if self._key_width == _NAME_WIDTH:
            return
        wanted = max((key.fontMetrics().horizontalAdvance(key.text()) + 4 for key, _ in self._rows), default=0)
        width = max(_KEY_WIDTH, min(_MOST_KEY_WIDTH, wanted))
        self._grid.setColumnMinimumWidth(0, width)
        for key, _ in self._rows:
            key.setFixedWidth(width)

    def _key_words(self, row: Row) -> str:
        """Return a row's key: words, but among the settings the server's own names."""
        return tr(row.label) if self._key_width == _KEY_WIDTH else row.label

    def _add_row(self) -> None:
        key, value = ElidedLabel("", "second"), _Value()
        for widget in (key, value):
            widget.setFixedHeight(20)
        key.setFixedWidth(self._key_width)
        at = len(self._rows)
        self._grid.addWidget(key, at, 0)
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

    def show_curve(self, values: Sequence[float], caption: str, curve: int, *, stale: bool) -> None:
        """Show the section's curve, or none."""
        self._curve.show_values(values, curve, stale=stale)
        self._curve.setVisible(len(values) > 1)
        self._caption.setText(caption)
        self._caption.setVisible(len(values) > 1 and bool(caption))

    def words(self) -> tuple[tuple[str, str], ...]:
        """Return (label, value) of all rows."""
        rows = [(key.text(), value.text()) for key, value in self._rows]
        return (*rows, *(("", s.text()) for s in self._sentences))


class _Curve(QWidget):
    """The inspector's larger spark, on canvas ground."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(56)
        self._values: Sequence[float] = ()
        self._curve = 0
        self._stale = False
        theme_holder().changed.connect(self.update)

    def show_values(self, values: Sequence[float], curve: int, *, stale: bool) -> None:
        """Draw these values in a node's colour, grey when they are old."""
        if (values, curve, stale) != (self._values, self._curve, self._stale):
            self._values, self._curve, self._stale = values, curve, stale
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint ground and curve."""
        del event
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.canvas)
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        area = QRectF(self.rect()).adjusted(8, 10, -8, -8)
        Spark(self._values, area).paint(painter, theme.stale if self._stale else curve_color(self._curve))
        painter.end()
