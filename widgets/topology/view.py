"""The topology page: whose cluster this is, the drawing, and whose eyes it was seen with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QMenu, QStackedLayout, QVBoxLayout, QWidget

from services.discovery.model import (
    ALL_DOWN,
    NO_PRIMARY,
    NO_PRIMARY_HEARD,
    TWO_PRIMARIES,
    ClusterSnapshot,
    NodeView,
    grave_problems,
)
from services.errors import BadInput
from services.i18n import tr
from services.types import NODES_LEFT_OUT, Health, Reach, worst
from services.workstation.files import plain_name
from widgets.common.commands.shortcuts import CANVAS, WINDOW, bind, keys_of
from widgets.common.controls.boxes import button
from widgets.common.controls.labels import ElidedLabel, label, set_kind
from widgets.common.controls.wrap_row import WrapRow
from widgets.common.empty import EmptyAction, EmptyState
from widgets.common.look.styling import wear
from widgets.common.look.text import format_clock, format_duration
from widgets.common.messages import MessageBar
from widgets.common.nodes import STALE_AFTER_S, state_word
from widgets.common.spark import Spark
from widgets.topology.advice import advice
from widgets.topology.canvas import Canvas
from widgets.topology.export import export_png, export_svg
from widgets.topology.silence import dark_notice, is_dark
from widgets.topology.wording import seen_from, subtitle

_TOLD = frozenset({TWO_PRIMARIES, NO_PRIMARY, NO_PRIMARY_HEARD, ALL_DOWN})
"""Problems of a cluster that its bar says in red: one truth with `check` and `topology`."""


_RETRY = 1
"""Which way out of an empty place asks the host again."""


class TopologyView(QFrame):
    """One cluster, live. Frozen values in, signals out.

    Signals: `node_selected(node_id)`, `node_activated(node_id)`, `edit_host_requested(host)` from an empty state,
    `menu_wanted(node_id, place on the screen)` by a right click or the menu key, `retry_requested(cluster_id)`.

    Attributes:
        can_retry: whether hosts can be asked again from here (not in a recording).
    """

    node_selected = Signal(str)
    node_activated = Signal(str)
    edit_host_requested = Signal(str)
    menu_wanted = Signal(str, QPoint)
    retry_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "canvas")
        self._cluster: ClusterSnapshot | None = None
        self.can_retry = False
        self.canvas = Canvas()
        self.canvas.node_selected.connect(self.node_selected)
        self.canvas.node_activated.connect(self.node_activated)
        self.canvas.menu_wanted.connect(self.menu_wanted)
        self._name = label("", "title")
        self._subtitle = ElidedLabel("", "second", Qt.TextElideMode.ElideRight)
        self._bar = MessageBar()
        self._bar.acted.connect(self._retry)
        self._empty = EmptyState()
        self._empty.chosen.connect(self.act_on_empty)
        self._seen = ElidedLabel("", "second", Qt.TextElideMode.ElideRight)
        self._stack = QStackedLayout()
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        self._tools = self._make_tools()
        page.addWidget(WrapRow(self._name, self._subtitle, self._tools, margins=(20, 12, 16, 8)))
        notice = QHBoxLayout()
        notice.setContentsMargins(20, 0, 16, 4)
        notice.addWidget(self._bar)
        page.addLayout(notice)
        page.addLayout(self._stack, 1)
        for part in (self._empty, self.canvas):  # once the stack has a parent: it shows its first part at once
            self._stack.addWidget(part)
        foot = QHBoxLayout()
        foot.setContentsMargins(20, 4, 20, 12)
        foot.addWidget(self._seen)
        page.addLayout(foot)
        # The keyboard belongs to the drawing first, then to the buttons above it.
        self.setFocusProxy(self.canvas)
        self.setTabOrder(self.canvas, self._tools)
        self.show_snapshot(None, {}, 0.0)
        wear(self)

    def _make_tools(self) -> QWidget:
        tools = QWidget()
        row = QHBoxLayout(tools)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(button(tr("Fit"), on=self.canvas.fit, hint=tr("Show the whole cluster (F)")))
        for text, act, hint in (
            ("+", self.canvas.zoom_in, tr("Zoom in (+)")),
            ("−", self.canvas.zoom_out, tr("Zoom out (−)")),
        ):
            zoom = button(text, on=act, hint=hint)
            zoom.setStyleSheet("padding: 4px 8px;")
            row.addWidget(zoom)
        export = button(tr("Export"), hint=tr("Save the drawing as PNG or SVG"))
        menu = QMenu(export)
        menu.addAction(tr("PNG, twice the size…"), lambda: self._ask_and_export("png"))
        menu.addAction(tr("SVG…"), lambda: self._ask_and_export("svg"))
        export.setMenu(menu)
        row.addWidget(export)
        bind(self, CANVAS, "export", export.showMenu)
        return tools

    # -- content -------------------------------------------------------------------------------------------------
    def show_snapshot(self, cluster: ClusterSnapshot | None, sparks: Mapping[str, Spark], at: float) -> None:
        """Draw `cluster` as of `at` (UTC epoch seconds); `sparks`: node id -> the last 60 s of its metric."""
        self._cluster = cluster
        drawn = cluster is not None and _is_drawn(cluster)
        self._stack.setCurrentWidget(self.canvas if drawn else self._empty)
        if drawn and self.isVisible() and self.window().focusWidget() is self.window():
            self.canvas.setFocus()  # nothing else has the keys yet
        self._tools.setVisible(drawn)
        if cluster is None:
            _set(self._name, "")
            self._subtitle.setText("")
            self._seen.setText("")
            self._bar.say(Health.WARN, ())
            self._empty.say(
                tr("No cluster is selected"),
                tr("Choose one in the tree on the left, or press {keys} to find it.", keys=keys_of(WINDOW, "palette")),
            )
            return
        _set(self._name, cluster.name)
        self._subtitle.setText(subtitle(cluster) if drawn else "")
        self._seen.setText(seen_from(cluster, at) if drawn else "")
        old = at - cluster.at > STALE_AFTER_S or not cluster.observers_agree
        set_kind(self._seen, "warn" if old else "second")
        silent = drawn and is_dark(cluster)
        health, sentences = dark_notice(cluster) if silent else _notice(cluster)
        self._bar.say(health, sentences, tr("Retry now") if silent and self.can_retry else "")
        if drawn:
            self.canvas.show_cluster(cluster, sparks, at)
        else:
            self._explain_silence(cluster, at)

    def show_waiting(self, title: str, text: str) -> None:
        """Say what is waited for before there is any snapshot."""
        self._stack.setCurrentWidget(self._empty)
        self._empty.say(title, text)

    def select(self, node_id: str) -> None:
        """Mark a node; emits nothing."""
        self.canvas.select(node_id)

    def set_reduced_motion(self, reduced: bool) -> None:
        """Respect the system's wish for less motion."""
        self.canvas.set_reduced_motion(reduced)

    def message(self) -> str:
        """Return what the bar above the drawing says, '' when it is hidden."""
        return self._bar.text() if self._bar.isVisibleTo(self) else ""

    def empty_texts(self) -> tuple[str, str, str]:
        """Return the words of the empty state: title, text, advice."""
        return self._empty.texts()

    def _explain_silence(self, cluster: ClusterSnapshot, at: float) -> None:
        node = _worst_silent(cluster)
        if node is None:
            self._empty.say(tr("{name} has no hosts", name=cluster.name), tr("Add one with the button below the tree."))
            return
        name = node.name or node.host
        if node.reach is Reach.NOT_TRIED or not node.reason:
            since = node.state_since if node.state_since is not None else cluster.at
            waited = format_duration(max(0.0, at - since))
            self._empty.say(
                tr("Waiting for the first sample from {name}", name=name),
                tr(
                    "Since {since} ({waited}); retries continue automatically until it answers.",
                    since=format_clock(since),
                    waited=waited,
                ),
            )
            return
        self._empty.say(
            f"{name}: {state_word(node)}",
            node.reason,
            tries=advice(node),
            ways=(
                EmptyAction(tr("Edit the connection of {name}…", name=name), primary=True),
                *((EmptyAction(tr("Retry now")),) if self.can_retry else ()),
            ),
            health=node.health,
        )

    def act_on_empty(self, index: int) -> None:
        """Take a way out of the empty state: to the connection that does not work, or to another try."""
        if index == _RETRY:
            self._retry()
            return
        node = _worst_silent(self._cluster) if self._cluster else None
        if node is not None:
            self.edit_host_requested.emit(node.host or node.name)

    def _retry(self) -> None:
        if self._cluster is not None:
            self.retry_requested.emit(self._cluster.cluster_id)

    # -- export --------------------------------------------------------------------------------------------------
    def export(self, path: Path) -> None:
        """Write the drawing to `path`, the kind by its suffix (.png or .svg); raise BadInput when it can't be."""
        if path.suffix.casefold() == ".svg":
            export_svg(self.canvas, path, title=self._cluster.name if self._cluster else "")
        else:
            export_png(self.canvas, path)

    def _ask_and_export(self, kind: str) -> None:
        name = f"{plain_name(self._cluster.name if self._cluster else '', 'topology')}.{kind}"
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Export the drawing"), name, f"*.{kind}")
        if not chosen:
            return
        path = Path(chosen)
        try:
            self.export(path if path.suffix else path.with_suffix(f".{kind}"))
        except BadInput as problem:
            self._bar.say(Health.BAD, (str(problem), *problem.try_))


def _set(words: QWidget, text: str) -> None:
    if words.property("text") != text:
        words.setProperty("text", text)


def _is_drawn(cluster: ClusterSnapshot) -> bool:
    """Return whether there is a drawing: of a server that ever answered, or of several hosts of which one does not."""
    several = len(cluster.nodes) > 1 and any(node.reach is Reach.NONE for node in cluster.nodes)
    return several or any(_answered(node) for node in cluster.nodes)


def _answered(node: NodeView) -> bool:
    """Return whether the node answered once, in an earlier run of the console or in this one."""
    return (
        bool(node.uuid_history)
        or node.reach in {Reach.FULL, Reach.SQL_ONLY}
        or (node.facts is not None and (node.facts.server is not None or node.facts.in_group))
    )


def _worst_silent(cluster: ClusterSnapshot) -> NodeView | None:
    return max(cluster.nodes, key=lambda n: (bool(n.reason), n.health.severity), default=None)


def _notice(cluster: ClusterSnapshot) -> tuple[Health, tuple[str, ...]]:
    """Return what the bar says: two majorities, none heard, all down, what no card shows, or eyes that disagree."""
    pairs = [(Health.BAD, p.sentence) for p in cluster.problems if p.code in _TOLD]
    pairs += [(health, text[:1].upper() + text[1:]) for health, text in grave_problems(cluster)]
    pairs += [(Health.WARN, p.sentence) for p in cluster.problems if p.code == NODES_LEFT_OUT]
    if not cluster.observers_agree:
        views = tuple(v.sentence for v in cluster.views if v.sentence) or (cluster.agreement,)
        pairs += [(Health.WARN, text) for text in (tr("The nodes do not agree on who is in the cluster:"), *views)]
    return worst(tuple(health for health, _ in pairs)), tuple(text for _, text in pairs)
