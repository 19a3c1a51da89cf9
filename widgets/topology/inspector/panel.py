"""The inspector: one node's identity, state, numbers with their age, settings and problems, beside the drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from services.i18n import tr
from services.types import Health
from widgets.common.controls.boxes import CutButton, HealthMark
from widgets.common.controls.labels import ElidedLabel, label
from widgets.common.look.fonts import STRONG, ui_font
from widgets.common.look.styling import wear
from widgets.common.look.theme import current_theme, theme_holder
from widgets.topology.inspector.content import (
    MACHINE,
    PROBLEMS,
    REPLICATION,
    RETURN,
    SETTINGS,
    Content,
    Section,
)
from widgets.topology.inspector.prepared import NO_CURVE, Curve, Told
from widgets.topology.inspector.section import SectionBox

_MENDING = "mending"
"""Where among the sections the buttons stand that mend what the problems tell."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can help here: what the button says, why it can't be done now ('' when it can).

    `first`: what a person does before it, said once above the buttons; '' for nothing. `mends`: it mends what the
    problems tell, and stands below them.
    """

    action_id: str
    text: str
    not_now: str = ""
    first: str = ""
    mends: bool = False


class Inspector(QFrame):
    """One node. `action_chosen(action_id, node_id)` when a button under 'Can help here' is pressed."""

    action_chosen = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self._node_id = self._name = ""
        self._sections: dict[str, SectionBox] = {}
        self._coming: list[Section] = []
        self._curve = Curve(NO_CURVE, "", 0, stale=False)
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
        self._mend = QWidget()
        self._mend_rows = QVBoxLayout(self._mend)
        self._mend_rows.setContentsMargins(16, 0, 16, 12)
        self._mend_rows.setSpacing(8)
        self._mend.hide()
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 16)
        self._body.setSpacing(0)
        self._body.addWidget(self._mend)
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
        self.show_node(None)
        wear(self)

    def _make_scroll(self) -> QScrollArea:
        inner = QWidget()
        inner.setLayout(self._body)
        scroll = QScrollArea()
        scroll.setProperty("kind", "ring")
        scroll.setAccessibleName(tr("Inspector: numbers of the selected node"))
        scroll.setWidget(inner)
        scroll.setWidgetResizable(True)
        scroll.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        return scroll

    def show_node(self, told: Told | None, actions: tuple[Action, ...] = ()) -> None:
        """Show what was made ready of a node, updating in place; None shows what to do.

        Args:
            actions: what can help here; the section is not shown while there are none.
        """
        shown = told is not None
        self._head.setVisible(shown)
        self._scroll.setVisible(shown)
        self._hint.setVisible(not shown)
        if told is None:
            self._node_id = ""
            self._coming = []
            self._turn.stop()
            return
        if told.node_id != self._node_id:
            self._node_id, self._name = told.node_id, told.content.name
            self._scroll.verticalScrollBar().setValue(0)
        self._head.show_words(told.content, stale=told.grey)
        self._curve = told.curve
        self._show_sections(told.content.sections)
        self._show_actions(actions)
        self._set_enabled(True)

    def hold(self) -> None:
        """Another node was chosen, and what is to be said of it is not there yet: nothing is done to this one."""
        self._set_enabled(False)

    def _set_enabled(self, enabled: bool) -> None:
        for buttons in (self._help, self._mend):
            buttons.setEnabled(enabled)

    def curve_area(self) -> QRectF:
        """Return the place that a node's curve is painted in: who makes one for it makes it for this."""
        box = self._sections.get(REPLICATION)
        return box.curve_area() if box is not None else QRectF()

    def focus_numbers(self) -> None:
        """Give the keys to the numbers."""
        self._scroll.setFocus(Qt.FocusReason.OtherFocusReason)

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
        box = self._sections[section.title] = SectionBox(section.title)
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
            box.show_curve(self._curve)
            box.name_curve(self._name)

    def _place_of(self, title: str) -> int:
        order = ["", PROBLEMS, _MENDING, REPLICATION, RETURN, MACHINE, SETTINGS]
        before = order[: order.index(title)]
        return sum(t in self._sections or t == _MENDING for t in before)

    def _show_actions(self, actions: tuple[Action, ...]) -> None:
        if actions == self._actions:
            return
        self._actions = actions
        focus: QWidget | None = self.window().focusWidget()
        held = focus is not None and any(place.isAncestorOf(focus) for place in (self._help, self._mend))
        for rows in (self._help_rows, self._mend_rows):
            while (item := rows.takeAt(0)) is not None:
                if (old := item.widget()) is not None:
                    old.deleteLater()
        if held:
            self.focus_numbers()  # else the keys that were on a button here come to the window's first one
        mending, others = [a for a in actions if a.mends], [a for a in actions if not a.mends]
        self._mend.setVisible(bool(mending))
        self._help.setVisible(bool(others))
        if others:
            self._help_rows.addWidget(label(tr("Possible help"), "section"))
        for first in dict.fromkeys(action.first for action in others if action.first):
            self._help_rows.addWidget(label(first, "warn", wrap=True))
        for rows, shown in ((self._mend_rows, mending), (self._help_rows, others)):
            for action in shown:
                rows.addWidget(self._button(action))

    def _button(self, action: Action) -> CutButton:
        text = f"{action.text}  ({action.not_now})" if action.not_now else action.text
        made = CutButton(text, hint=action.not_now)
        made.setEnabled(not action.not_now)
        made.clicked.connect(lambda _=False: self.action_chosen.emit(action.action_id, self._node_id))
        return made


class _Head(QWidget):
    """Shape, name, state word, age."""

    def __init__(self) -> None:
        super().__init__()
        self._mark = HealthMark()
        self._name = ElidedLabel("", "title")
        self._name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._state = ElidedLabel("", "", Qt.TextElideMode.ElideRight)
        self._fit_text()
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
        theme_holder().sized.connect(self._fit_text)

    def _fit_text(self) -> None:
        self._state.setFont(ui_font(weight=STRONG))

    def show_words(self, words: Content, *, stale: bool) -> None:
        """Show the node's first line."""
        self._mark.set_health(Health.UNKNOWN if stale else words.health)
        self._mark.set_owner(words.name)
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
