"""Connects one source of the estate to the window: snapshots and events in, what a person chose out. Paints nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal

from app.window.charts.readings import Question, Reader, Reading
from app.window.main_window import MainWindow
from services.discovery.model import SPARE, ClusterSnapshot, EstateSnapshot, NodeView, stands_alone
from services.errors import UserError
from services.events import PAST_SAID_S, Event, trouble_of_console
from services.i18n import tr
from widgets.bridge.newest import Newest
from widgets.bridge.ops import Ops
from widgets.bridge.pump import Pump
from widgets.bridge.source import EstateSource, PlaybackControl
from widgets.bridge.stalls import StallMeter
from widgets.common.look.text import format_clock, in_past, speak_of_past
from widgets.common.turns import Turns
from widgets.frame.status_line import zone_name
from widgets.topology.inspector.panel import Action

NOTICE_MS = 3000
FOLLOW_S = 30.0
"""For so long nothing else is chosen in place of a host that is asked in another way: it is back within a try."""


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
        speak_of_past(past=not source.is_live)
        self.player: PlaybackControl | None = None if source.is_live else cast("PlaybackControl", source)
        self._window = window
        self._ops = ops
        self._cluster_id = ""
        self._node_id = ""
        self._followed: tuple[str, float] | None = None
        self._moment: float | None = None
        self._estate = source.snapshot()
        self.events: Sequence[Event] = ()
        self._reader = Reader(source)
        self._reading: Reading | None = None
        self._newest = Newest(self)
        self.turns = Turns(window)
        """What the window paints by itself, one thing a frame: drawing, inspector, strip, plots."""
        self._drawing, self._details = _Piece(self._show_drawing), _Piece(self._show_details)
        self.pump = Pump(source, parent=self)
        self.stalls = StallMeter(self)
        self._told_at = 0.0
        self._pace = ""
        self._begun = self._opened = source.now()
        self.offer: Callable[[ClusterSnapshot, NodeView], tuple[Action, ...]] = _nothing
        """What can help a node, for the inspector's buttons."""
        self._wire()

    def begin_waiting(self) -> None:
        """Wait from now on for a first answer: there was nobody to ask."""
        self._begun = self.source.now()

    def start(self) -> None:
        """Begin pulling and measuring."""
        self.stalls.start()
        self.pump.start()
        QTimer.singleShot(int((PAST_SAID_S + 1.0) * 1000), self._window.status, self._say_trouble)

    def stop(self) -> None:
        """Stop both timers and the worker."""
        self.pump.stop()
        self.stalls.stop()
        self._newest.shutdown()
        self._drop_turns()

    def busy(self) -> bool:
        """Return whether anything of the newest snapshot is still to be shown."""
        return self._newest.busy() or self.turns.waiting

    def _wire(self) -> None:
        window = self._window
        window.tree.node_selected.connect(self.select_node)
        window.tree.cluster_selected.connect(self.select_cluster)
        window.topology.node_selected.connect(self.select_node)
        window.live_wanted.connect(self.go_live)
        window.page_shown.connect(self._page_shown)
        self.pump.snapshot_changed.connect(self._on_snapshot)
        self.pump.events_changed.connect(self._on_events)
        self.pump.ticked.connect(self._on_tick)
        self._newest.answered.connect(self._on_reading)
        self._newest.failed.connect(self._on_no_reading)

    # --- what a person chooses ---------------------------------------------------------------------------------------

    def select_node(self, node_id: str) -> None:
        """Select a node (and its cluster) on every page."""
        cluster = next((c for c in self._estate.clusters if c.node(node_id)), None)
        if cluster is not None:
            self._cluster_id = cluster.cluster_id
        self._node_id, self._followed = node_id, None
        self.selected.emit(node_id)
        self._show()

    def follow(self, host: str) -> None:
        """Keep what is chosen with this host while it goes and comes back: it is asked in another way from now on."""
        self._followed = (host, self.source.now())

    def select_cluster(self, cluster_id: str) -> None:
        """Show a cluster; its selected node is forgotten when it belongs to another."""
        self._cluster_id, self._followed = cluster_id, None
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
        self._leave_present()
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
        """Show a newer snapshot: once a worker has made ready what is to be shown, each part in a frame of its own."""
        if self._moment is not None:
            return
        self._estate = snapshot
        self._choose()
        if not self._ask(afresh=False):
            self._ask_turns()

    def _on_reading(self, reading: Reading) -> None:
        self._reading = reading
        self._ask_turns()

    def _on_no_reading(self, problem: UserError) -> None:
        """Samples could not be read: what discovery says is shown all the same."""
        self._ops.failed.emit(problem)
        self._ask_turns()

    def _ask_turns(self) -> None:
        self.turns.ask(self._drawing, alone=True)
        self.turns.ask(self._details, alone=True)

    def _leave_present(self) -> None:
        """Show nothing more of the present while the past is fetched."""
        self._newest.forget()
        self._drop_turns()

    def _drop_turns(self) -> None:
        for piece in (self._drawing, self._details):
            self.turns.drop(piece)

    def _show_past(self, snapshot: EstateSnapshot) -> None:
        if self._moment is not None:
            self._estate = snapshot
            self._show()

    def _show(self) -> None:
        """Show what a person chose, at once; what samples say of it follows from the worker."""
        self._choose()
        self._show_drawing()
        self._ask(afresh=True)
        self._show_details()

    def _ask(self, *, afresh: bool) -> bool:
        """Have what samples say made ready; return whether there is anything to wait for."""
        cluster = self.cluster()
        if cluster is None or self._window.page() != "topology":
            self._newest.forget()
            return False
        at, now = self._shown_at(), self._moment is None
        area = self._window.inspector.curve_area()
        asked = Question(cluster, self.node(), at, self._read_at(at), now and self.source.is_live, now, area)
        reader = self._reader
        self._newest.ask(lambda: reader.answers(asked), afresh=afresh)
        return True

    def _shown_at(self) -> float:
        return self._moment if self._moment is not None else self.source.now()

    def _show_drawing(self) -> None:
        """Bring tree and topology up to date."""
        cluster, at, reading = self.cluster(), self._shown_at(), self._reading
        self._window.tree.show_snapshot(self._estate)
        self._window.tree.select(self._node_id or self._cluster_id)
        sparked = reading is not None and self._moment is None and reading.cluster.cluster_id == self._cluster_id
        self._window.topology.show_snapshot(cluster, reading.sparks if reading is not None and sparked else {}, at)
        self._window.topology.select(self._node_id)
        if not self._estate.clusters:
            self._say_waiting(at)

    def _show_details(self) -> None:
        """Bring what stands beside the drawing up to date; the inspector stands beside the topology only."""
        cluster = self.cluster()
        if self._window.page() == "topology":
            self._inspect(cluster, self.node())
        self.shown.emit(cluster)

    def _page_shown(self, page: str) -> None:
        if page == "topology" and self._estate.clusters:
            self._show()

    def _say_waiting(self, at: float) -> None:
        """No host has answered yet, or none had at the moment looked at."""
        if self._moment is not None:
            words = (tr("No data for {at}", at=format_clock(at)), tr("Press End to return to the present."))
        else:
            since = tr(
                "Since {at}. Hosts are queried until they answer; the reason for each silence is shown here.",
                at=format_clock(self._begun),
            )
            words = (tr("Waiting for the first answer"), since)
        self._window.topology.show_waiting(*words)

    def _inspect(self, cluster: ClusterSnapshot | None, node: NodeView | None) -> None:
        """Put in place what a worker made ready of the node; until it is there the one before can't be acted on."""
        if cluster is None or node is None:
            self._window.inspector.show_node(None)
            return
        told = self._reading.told if self._reading is not None else None
        if told is not None and told.node_id == node.node_id:
            live = self._moment is None and self.source.is_live
            self._window.inspector.show_node(told, self.offer(cluster, node) if live else ())
        else:
            self._window.inspector.hold()

    def _read_at(self, at: float) -> float:
        """Return the moment whose samples are read: of a recording that plays its snapshot's, which stands still."""
        return at if self.player is None else self._estate.at

    def _choose(self) -> None:
        """Something is always selected while there is something: the first cluster, its worst node.

        A host that stands alone is often one that waits to be used: a cluster comes before it.
        """
        clusters = self._estate.clusters
        if self._awaits_followed():
            return
        if self.cluster() is None and clusters:
            # Once a server says what group it is in, what stood as written goes by another name: its node leads there.
            first = next((c for c in clusters if self._node_id and c.node(self._node_id) is not None), None)
            first = first or next((c for c in clusters if not stands_alone(c)), clusters[0])
            self._cluster_id = first.cluster_id
        cluster = self.cluster()
        if cluster is not None and cluster.node(self._node_id) is None and cluster.nodes:
            self._node_id = max(cluster.nodes, key=lambda n: (n.role != SPARE, n.health.severity)).node_id
            self.selected.emit(self._node_id)

    def _awaits_followed(self) -> bool:
        """Return whether the host that is followed is not drawn now and may be at once; where it is, go with it.

        It may be drawn as another node, and elsewhere, than it was: what it is, it says when it answers.
        """
        if self._followed is None:
            return False
        host, since = self._followed
        if self.node() is not None or not self._estate.clusters:
            return False
        found = next(((c, n) for c in self._estate.clusters for n in c.nodes if n.host == host), None)
        if found is None:
            return self.source.now() - since < FOLLOW_S
        self._cluster_id, self._node_id = found[0].cluster_id, found[1].node_id
        self.selected.emit(self._node_id)
        return False

    def _on_events(self, events: Sequence[Event]) -> None:
        self.events = events
        self._say_trouble()
        self.events_shown.emit(events)

    def say_for_now(self, words: str) -> None:
        """Say something in the status line for a moment; then it says again what troubles the console."""
        self._window.status.show_message(words)
        QTimer.singleShot(NOTICE_MS, self._window.status, self._say_trouble)

    def _say_trouble(self) -> None:
        opened = self._opened if self.source.is_live else -math.inf
        self._window.status.show_message(trouble_of_console(self.events, opened, self.source.now()))

    def _on_tick(self, now: float) -> None:
        estate = self._estate
        hosts = _hosts_words(estate) if estate.hosts_total else ""
        if abs(now - self._told_at) >= 1.0:  # a recording's present jumps back, too
            self._told_at = now
            self._take_stock()
        shown = self._moment if self._moment is not None else now
        self._window.status.show_facts(hosts, self._pace if hosts else "", f"{format_clock(shown)} {zone_name(shown)}")

    def _take_stock(self) -> None:
        """Once a second: say at what pace is sampled, and tell the source how long the window stood still.

        Where nobody answers nothing is sampled, and what a poll took is not known.
        """
        cost = self.source.cost()
        sampled = self.source.is_live and cost.poll_ms_p50 > 0 and self._estate.hosts_answering
        pace = 1.0 / getattr(self.source, "interval_s", 1.0)
        words = tr("sampling {pace:g} Hz, {poll_ms_p50:.0f} ms", pace=pace, poll_ms_p50=cost.poll_ms_p50)
        self._pace = words if sampled else ""
        self.source.ui_stalled(self.stalls.take(), self.stalls.over_limit)


class _Piece:
    """One thing the controller brings up to date when its turn comes."""

    def __init__(self, do: Callable[[], None]) -> None:
        self.take_turn = do

    def in_sight(self) -> bool:
        """Return True: the tree is always in sight."""
        return True


def _nothing(_cluster: ClusterSnapshot, _node: NodeView) -> tuple[Action, ...]:
    return ()


def _hosts_words(estate: EstateSnapshot) -> str:
    answering, total = estate.hosts_answering, estate.hosts_total
    if in_past():
        return tr("{answering} of {total} hosts answered", answering=answering, total=total)
    return tr("{answering} of {total} hosts answer", answering=answering, total=total)
