"""The estate tree at the left edge of the window: every cluster and node with its health, and the way to add one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QMenu, QTreeView, QVBoxLayout

from services.discovery.model import EstateSnapshot
from services.i18n import tr
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import label
from widgets.common.look.styling import wear
from widgets.common.look.theme import theme_holder
from widgets.inventory.tree_delegate import EstateDelegate, arrow_room
from widgets.inventory.tree_model import EstateModel


@dataclass(frozen=True, slots=True)
class Offer:
    """A line of a menu: what it says and does; without an act it is only said. `apart`: a line is drawn above it."""

    text: str
    act: Callable[[], None] | None
    apart: bool = False

    def add_to(self, menu: QMenu) -> None:
        """Put it at the menu's end."""
        if self.apart:
            menu.addSeparator()
        if self.act is not None:
            menu.addAction(self.text, self.act)
        else:
            menu.addAction(self.text).setEnabled(False)


class EstateTree(QFrame):
    """The estate. Signals: what a person chose; `edit_host_requested(node_id)`, `remove_host_requested(node_id)`
    from a node's menu, `retry_requested(node or cluster id)` from the menu of what does not answer.

    Attributes:
        offers: given cluster id and node id ('' for a cluster's row): what else the row's menu offers, first of all.
        hosts_change: whether hosts can be edited and removed here (not in a recording).
    """

    node_selected = Signal(str)
    cluster_selected = Signal(str)
    node_activated = Signal(str)
    add_host_requested = Signal()
    edit_host_requested = Signal(str)
    remove_host_requested = Signal(str)
    retry_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self._model = EstateModel(self)
        self._view = _Rows()
        self._view.setModel(self._model)
        self._view.setItemDelegate(EstateDelegate(self._view))
        self._view.selectionModel().currentChanged.connect(self._chosen)
        self._view.activated.connect(self._activated)
        self._view.menu_wanted.connect(self._show_menu)
        self.offers: Callable[[str, str], Sequence[Offer]] = lambda _cluster_id, _node_id: ()
        self.hosts_change = False
        self._model.rowsInserted.connect(self._open_new)
        self._quiet = False
        title = label(tr("ESTATE"), "caps")
        title.setContentsMargins(12, 16, 12, 8)
        self._add = button(tr("Add a host…"), on=self.add_host_requested.emit, hint=tr("Watch another server"))
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(title)
        page.addWidget(self._view, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(12, 8, 12, 8)
        foot.addWidget(self._add)
        page.addLayout(foot)
        theme_holder().changed.connect(self._view.viewport().update)
        wear(self)

    def show_snapshot(self, estate: EstateSnapshot) -> None:
        """Take a snapshot: rows change in place; expansion, selection and scroll position stay.

        Where the marked row goes Qt marks another: nobody chose that one, so nobody is told.
        """
        self._quiet, before = True, self._quiet
        try:
            self._model.show_snapshot(estate)
        finally:
            self._quiet = before

    def select(self, key: str) -> None:
        """Mark the row of a node id or cluster id without emitting anything; '' marks nothing."""
        index = self._model.find(key)
        if index == self._view.currentIndex():
            return
        self._quiet = True
        try:
            if index.isValid():
                self._view.setCurrentIndex(index)
            else:
                self._view.selectionModel().clear()
        finally:
            self._quiet = False

    def selected(self) -> str:
        """Return the id of the marked row, '' for none."""
        entry = self._model.entry(self._view.currentIndex())
        return "" if entry is None else (entry.node_id or entry.cluster_id)

    def focus_rows(self) -> None:
        """Give the keyboard to the tree."""
        self._view.setFocus()

    def _open_new(self, parent: QModelIndex, first: int, last: int) -> None:
        """A cluster that appears is open; one a person closed stays closed."""
        del last
        if parent.isValid() and first == 0 and self._model.rowCount(parent) == 1:
            self._view.setExpanded(parent, True)

    def _chosen(self, index: QModelIndex) -> None:
        entry = self._model.entry(index)
        if self._quiet or entry is None:
            return
        if entry.node_id:
            self.node_selected.emit(entry.node_id)
        else:
            self.cluster_selected.emit(entry.cluster_id)

    def _activated(self, index: QModelIndex) -> None:
        entry = self._model.entry(index)
        if entry is not None and entry.node_id:
            self.node_activated.emit(entry.node_id)

    def _show_menu(self, index: QModelIndex | QPersistentModelIndex, place: QPoint) -> None:
        entry = self._model.entry(index)
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        for offer in self.offers(entry.cluster_id, entry.node_id) if entry is not None else ():
            offer.add_to(menu)
        if entry is not None and entry.silent and self.hosts_change:
            key = entry.node_id or entry.cluster_id
            menu.addSeparator()
            menu.addAction(tr("Retry {name} now", name=entry.name), lambda: self.retry_requested.emit(key))
        if entry is not None and entry.node_id and self.hosts_change:
            node_id = entry.node_id
            menu.addSeparator()
            menu.addAction(
                tr("Edit the connection of {name}…", name=entry.name), lambda: self.edit_host_requested.emit(node_id)
            )
            menu.addAction(
                tr("Stop watching {name}…", name=entry.name), lambda: self.remove_host_requested.emit(node_id)
            )
        menu.addSeparator()
        menu.addAction(tr("Add a host…"), self.add_host_requested.emit)
        menu.popup(place)


class _Rows(QTreeView):
    """The rows themselves: no header, no branches (the delegate paints the arrow), one click opens."""

    menu_wanted = Signal(object, QPoint)
    """Index, place on the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.setHeaderHidden(True)
        self.setIndentation(0)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setExpandsOnDoubleClick(False)
        self.setAccessibleName(tr("Estate"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open or close a cluster by its arrow."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and not index.parent().isValid() and event.position().x() < arrow_room():
            self.setExpanded(index, not self.isExpanded(index))
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open or close a cluster; activate a node."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and not index.parent().isValid():
            self.setExpanded(index, not self.isExpanded(index))
            return
        super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the row under the pointer, or by the keyboard of the marked one, just below it."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
            self.scrollTo(index)
            row = self.visualRect(index)
            place = self.viewport().mapToGlobal(QPoint(row.left() + arrow_room(), row.bottom()))
        else:
            index, place = self.indexAt(event.pos()), event.globalPos()
        self.menu_wanted.emit(index, place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter activates on every platform; everything else is Qt's (arrows walk, left and right close and open)."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
        elif event.key() == Qt.Key.Key_Space:
            event.ignore()  # Qt would mark the marked row again: the window has a better use for it
        else:
            super().keyPressEvent(event)
