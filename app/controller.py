"""Connects one source of the estate to the window: snapshots and events in, what a person chose out. Paints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal

from app.ist_numbers import ist_rows
from app.main_window import MainWindow
from app.node_numbers import Row, machine_rows, read_numbers
from app.sparks import SPARK_S, Sparks
from services.discovery.model import FIRST_ANSWERS_S, SPARE, ClusterSnapshot, EstateSnapshot, NodeView, was_so_before
from services.events import Event
from services.types import ClusterKind, Health
from services.words import tr
from widgets.bridge.ops import Ops
from widgets.bridge.pump import Pump
from widgets.bridge.source import EstateSource, PlaybackControl
from widgets.bridge.stalls import StallMeter
from widgets.common.text import format_clock
from widgets.frame.status_line import zone_name
from widgets.topology.inspector import Action
from widgets.topology.inspector_content import RETURN
from widgets.topology.inspector_content import Row as FullRow

SAID_MS = 3000


class Controller(QObject):
    """Holds what is selected and which moment is looked at.

    Signals:
        shown(ClusterSnapshot | None): the cluster on screen changed or has news. selected(str): the node changed.
        moment_changed(object): epoch seconds looked at, None for live.
        events_shown(tuple[Event, ...]): events changed. sought(): a recording was taken to another moment.
    """

    shown = Signal(object)
    selected = Signal(str)
    moment_changed = Signal(object)
    events_shown = Signal(object)
    sought = Signal()

    def __init__(self, source: EstateSource, window: MainWindow, ops: Ops, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source = source
        self.player: PlaybackControl | None = None if source.is_live else cast("PlaybackControl", source)
        self._window = window
        self._ops = ops
        self._cluster_id = ""
        self._node_id = ""
        self._moment: float | None = None
        self._estate = source.snapshot()
        self.events: Sequence[Event] = ()
        self._sparks = Sparks(source, ops, self._show)
        self.pump = Pump(source, parent=self)
        self.stalls = StallMeter(self)
        self._told_at = 0.0
        self._pace = ""
        self._begun = source.now()
        self._titles: dict[str, str] = {}
        self._asked: tuple[str, float] = ("", 0.0)
        self._past_numbers: Mapping[str, float] = {}
        self._past_host = ""
        self._sparked: Mapping[str, tuple[float, ...]] = {}
        self._newest_of: object = None
        self._newest: Mapping[str, float] = {}
        self.offer: Callable[[ClusterSnapshot, NodeView], tuple[Action, ...]] = _nothing
        """What can help a node, for the inspector's buttons."""
        self._wire()

    def start(self) -> None:
        """Begin pulling and measuring."""
        self.stalls.start()
        self.pump.start()

    def stop(self) -> None:
        """Stop both timers."""
        self.pump.stop()
        self.stalls.stop()

    def _wire(self) -> None:
        window = self._window
        window.tree.node_selected.connect(self.select_node)
        window.tree.cluster_selected.connect(self.select_cluster)
        window.topology.node_selected.connect(self.select_node)
        window.live_wanted.connect(self.go_live)
        window.page_shown.connect(self._page_shown)
        self.pump.snapshot_changed.connect(self._on_snapshot)
        self.pump.details_due.connect(self._on_details)
        self.pump.events_changed.connect(self._on_events)
        self.pump.ticked.connect(self._on_tick)

    # --- what a person chooses ---------------------------------------------------------------------------------------

    def select_node(self, node_id: str) -> None:
        """Select a node (and its cluster) on every page."""
        cluster = next((c for c in self._estate.clusters if c.node(node_id)), None)
        if cluster is not None:
            self._cluster_id = cluster.cluster_id
        self._node_id = node_id
        self.selected.emit(node_id)
        self._show()

    def select_cluster(self, cluster_id: str) -> None:
        """Show a cluster; its selected node is forgotten when it belongs to another."""
        self._cluster_id = cluster_id
        cluster = self._estate.cluster(cluster_id)
        if cluster is not None and cluster.node(self._node_id) is None:
            self._node_id = ""
        self._show()

    def look_at(self, moment: float | None) -> None:
        """Look at a past moment everywhere, or return to live with None; in a recording a moment is a seek."""
        if self.player is not None:
            if moment is not None:
                self.player.seek(moment)
                self.sought.emit()
                self.pump.beat()
            return
        self._moment = moment
        self.moment_changed.emit(moment)
        if moment is None:
            self._estate = self.source.snapshot()
            self._show()
            return
        source = self.source
        self._ops.run("moment", lambda: source.snapshot_at(moment), self._show_past)

    def go_live(self) -> None:
        """Return to the present."""
        if self._moment is not None:
            self.look_at(None)

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def moment(self) -> float | None:
        """Return the past moment looked at, None for live."""
        return self._moment

    @property
    def estate(self) -> EstateSnapshot:
        """Return the snapshot on screen."""
        return self._estate

    def cluster(self) -> ClusterSnapshot | None:
        """Return the cluster on screen."""
        return self._estate.cluster(self._cluster_id)

    def node(self) -> NodeView | None:
        """Return the selected node."""
        cluster = self.cluster()
        return cluster.node(self._node_id) if cluster is not None and self._node_id else None

    def refresh(self) -> None:
        """Show everything anew: what is offered has changed."""
        self._show()

    def _on_snapshot(self, snapshot: EstateSnapshot) -> None:
        if self._moment is None:
            self._estate = snapshot
            self._show_drawing()

    def _on_details(self) -> None:
        if self._moment is None:
            self._show_details()

    def _show_past(self, snapshot: EstateSnapshot) -> None:
        if self._moment is not None:
            self._estate = snapshot
            self._show()

    def _show(self) -> None:
        self._show_drawing()
        self._show_details()

    def _shown_at(self) -> float:
        return self._moment if self._moment is not None else self.source.now()

    def _show_drawing(self) -> None:
        """Bring tree and topology up to date."""
        self._choose()
        cluster, at = self.cluster(), self._shown_at()
        self._window.tree.show_snapshot(self._estate)
        self._window.tree.select(self._node_id or self._cluster_id)
        sparked = cluster is not None and self._moment is None and self._window.page() == "topology"
        self._sparked = self._sparks.of(cluster, self._read_at(at)) if cluster is not None and sparked else {}
        self._window.topology.show_snapshot(cluster, self._sparked, at)
        self._window.topology.select(self._node_id)
        if not self._estate.clusters:
            self._say_waiting(at)

    def _show_details(self) -> None:
        """Bring what stands beside the drawing up to date; the inspector stands beside the topology only."""
        cluster = self.cluster()
        if self._window.page() == "topology":
            self._inspect(cluster, self.node(), self._shown_at(), self._sparked.get(self._node_id, ()))
        self.shown.emit(cluster)

    def _page_shown(self, page: str) -> None:
        if page == "topology" and self._estate.clusters:
            self._show()

    def _say_waiting(self, at: float) -> None:
        """No host has answered yet, or none had at the moment looked at."""
        if self._moment is not None:
            words = (tr("Nothing was known at {at}", at=format_clock(at)), tr("End returns to the present."))
        else:
            since = tr(
                "Since {at}. Hosts are asked until they answer; each says here why not.", at=format_clock(self._begun)
            )
            words = (tr("Waiting for the first answer"), since)
        self._window.topology.show_waiting(*words)

    def _inspect(
        self, cluster: ClusterSnapshot | None, node: NodeView | None, at: float, spark: Sequence[float]
    ) -> None:
        label = (
            tr("{what}, last {span:.0f} s", what=self._words(node.spark_metric), span=SPARK_S)
            if node is not None and spark
            else ""
        )
        extra: dict[str, Sequence[Row | FullRow]] = {}
        if cluster is not None and node is not None:
            numbers = self._numbers(node, at)
            extra["Machine"] = machine_rows(numbers, self.source.catalogue())
            extra[RETURN] = ist_rows(numbers, cluster, node)
            if self._was_there_already(node):
                extra["Replication"] = (
                    ("state since", tr("before {at}", at=format_clock(node.state_since)), Health.UNKNOWN),
                )
                node = replace(node, state_since=None)
        live = cluster is not None and node is not None and self._moment is None and self.source.is_live
        actions = self.offer(cluster, node) if live and cluster is not None and node is not None else ()
        self._window.inspector.show_node(
            cluster, node, at, extra, spark=tuple(spark), spark_label=label, actions=actions
        )

    def _numbers(self, node: NodeView, at: float) -> Mapping[str, float]:
        """Return the node's newest numbers: of the present from memory, of the past as soon as a worker has them."""
        if not node.host:
            return {}
        if self._moment is None and self.source.is_live:
            if self._newest_of is not node.facts:  # news of other hosts make new snapshots too
                self._newest_of, self._newest = node.facts, read_numbers(self.source, node.host, at)
            return self._newest
        place = (node.host, round(self._read_at(at), 1))
        if place != self._asked:
            self._asked = place
            source = self.source
            self._ops.run("numbers", lambda: read_numbers(source, *place), self._show_numbers)
        return self._past_numbers if place[0] == self._past_host else {}

    def _read_at(self, at: float) -> float:
        """Return the moment whose samples are read: of a recording that plays its snapshot's, which stands still."""
        return at if self.player is None else self._estate.at

    def _show_numbers(self, values: Mapping[str, float]) -> None:
        self._past_numbers, self._past_host = values, self._asked[0]
        self._show()

    def _was_there_already(self, node: NodeView) -> bool:
        if node.state_since is None:
            return False
        return was_so_before(node) or node.state_since <= self.source.span()[0] + FIRST_ANSWERS_S

    def _choose(self) -> None:
        """Something is always selected while there is something: the first cluster, its worst node.

        A host that stands alone is often one that waits to be used: a cluster comes before it.
        """
        clusters = self._estate.clusters
        if self.cluster() is None and clusters:
            # Once a server says what group it is in, what stood as written goes by another name: its node leads there.
            first = next((c for c in clusters if self._node_id and c.node(self._node_id) is not None), None)
            first = first or next((c for c in clusters if c.kind is not ClusterKind.SINGLE), clusters[0])
            self._cluster_id = first.cluster_id
        cluster = self.cluster()
        if cluster is not None and cluster.node(self._node_id) is None and cluster.nodes:
            self._node_id = max(cluster.nodes, key=lambda n: (n.role != SPARE, n.health.severity)).node_id
            self.selected.emit(self._node_id)

    def _on_events(self, events: Sequence[Event]) -> None:
        self.events = events
        self._say_trouble()
        self.events_shown.emit(events)

    def say_for_now(self, words: str) -> None:
        """Say something in the status line for a moment; then it says again what troubles the console."""
        self._window.status.show_message(words)
        QTimer.singleShot(SAID_MS, self, self._say_trouble)

    def _say_trouble(self) -> None:
        events = self.events
        told = next((event for event in reversed(events) if event.kind == "console"), None)
        troubled = told is not None and told.health.severity >= Health.WARN.severity
        self._window.status.show_message(told.text if told is not None and troubled else "")

    def _on_tick(self, now: float) -> None:
        estate = self._estate
        hosts = (
            tr("{answering} of {total} hosts answer", answering=estate.hosts_answering, total=estate.hosts_total)
            if estate.hosts_total
            else ""
        )
        if abs(now - self._told_at) >= 1.0:  # a recording's present jumps back, too
            self._told_at = now
            self._take_stock()
        shown = self._moment if self._moment is not None else now
        self._window.status.show_facts(hosts, self._pace, f"{format_clock(shown)} {zone_name(shown)}")

    def _take_stock(self) -> None:
        """Once a second: say at what pace is sampled, and tell the source how long the window stood still."""
        cost = self.source.cost()
        sampled = self.source.is_live and cost.polls
        self._pace = tr("sampling 1 Hz, {poll_ms_p50:.0f} ms", poll_ms_p50=cost.poll_ms_p50) if sampled else ""
        self.source.ui_stalled(self.stalls.take(), self.stalls.over_limit)

    def _words(self, metric: str) -> str:
        """Return a metric's title in the catalogue, a raw counter's own name without its underscores."""
        if metric not in self._titles:
            known = {entry.key: entry.title for entry in self.source.catalogue()}
            self._titles[metric] = tr(known[metric]) if metric in known else metric.replace("_", " ")
        return self._titles[metric]


def _nothing(_cluster: ClusterSnapshot, _node: NodeView) -> tuple[Action, ...]:
    return ()
