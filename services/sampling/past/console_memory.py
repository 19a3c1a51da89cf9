"""What the console remembers between its runs: that it lives, which nodes it saw with which identity and position.

Later procedures stand on it: the last position seen of each node is evidence when a whole cluster has crashed.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from services.clock import Clock
from services.discovery.families.galera.two_primaries import primaries_apart, seen_twice, sides_words
from services.discovery.families.registry import kind_kept
from services.discovery.model import EstateSnapshot, NotSettled
from services.errors import StoreError
from services.events import Event
from services.i18n import tr
from services.json_text import stored_json
from services.sampling.model import ConsoleCost
from services.types import Health
from services.workstation.own_version import own_version

if TYPE_CHECKING:  # SQLAlchemy behind it costs more than the rest of the start: it is imported on this thread
    from services.history.state.store import StateStore

log = logging.getLogger(__name__)

EVERY_S = 10.0
SECOND_LOOK_S = 2.5
"""Between two looks at two Primary Components: every server is asked each second, so both are asked anew."""
WINDOW_COST = "window.cost"
"""The setting that keeps a ConsoleCost as JSON: what the last window cost, its event loop's stalls included."""


class ConsoleMemory:
    """Writes the state store beside the watcher; a store that can't be written costs one event, never the watching."""

    def __init__(
        self,
        open_state: Callable[[], StateStore],
        clock: Clock,
        snapshot: Callable[[], EstateSnapshot],
        tell: Callable[[Event], None],
        not_settled: Callable[[tuple[NotSettled, ...]], None] = lambda _open: None,
        past: tuple[Iterable[str], Callable[[EstateSnapshot], None]] = ((), lambda _past: None),
    ) -> None:
        """Begin nothing yet.

        Args:
            past: the hosts that are watched, and who is told once in which clusters they were last known.
            not_settled: told every few seconds which sightings of two Primary Components no person has settled yet.
        """
        self._open_state = open_state
        self._state: StateStore | None = None
        self._clock = clock
        self._snapshot = snapshot
        self._tell = tell
        self._not_settled = not_settled
        self._past = past
        self._stop = threading.Event()
        self._troubled = False
        self._window: ConsoleCost | None = None
        self._thread = threading.Thread(target=self._run, name="pilothouse-memory", daemon=True)

    def start(self) -> None:
        """Open the store, note the start, and go on noting, all on a thread of its own."""
        self._thread.start()

    def stop(self, window: ConsoleCost | None = None) -> None:
        """Note the end, and what the window cost if there was one, and close the store."""
        self._window = window
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        self._guarded(self._begin)
        state = self._state
        if state is None:
            return
        try:
            while not self._clock.sleep(EVERY_S, self._stop):
                self._guarded(lambda: self._note(state))
            self._guarded(lambda: self._note(state))
            self._guarded(lambda: self._end(state))
        finally:
            state.close()

    def _begin(self) -> None:
        from services.history.state.remembered_clusters import remembered_estate

        state = self._open_state()
        self._state = state
        hosts, recall = self._past
        self._guarded(lambda: recall(remembered_estate(state, kind_kept, hosts)))
        state.record_console_start(own_version())
        dead = state.last_unclean_end()
        # What ended here is told by the history, with what was lost; the state may be a team's.
        if dead is not None and dead.machine != socket.gethostname():
            text = tr("The console on {machine} (process {pid}) ended unexpectedly.", machine=dead.machine,
                      pid=dead.pid)  # fmt: skip
            self._tell(Event(dead.alive_at, "console", text, Health.WARN))

    def _end(self, state: StateStore) -> None:
        if self._window is not None:
            state.set_setting(WINDOW_COST, stored_json(self._window).decode())
        state.record_console_end()

    def _note(self, state: StateStore) -> None:
        from services.history.state.remembered_clusters import keep_cluster
        from services.history.state.rows import sightings

        state.record_console_alive()
        estate = self._snapshot()
        for cluster in estate.clusters:
            state.remember_nodes(sightings(cluster))
            keep_cluster(state, cluster)
        self._look_twice(state, estate)
        self._not_settled(tuple(one.not_settled for one in state.splits().open()))

    def _look_twice(self, state: StateStore, first: EstateSnapshot) -> None:
        """Keep two Primary Components of one state UUID when the next answers show them too."""
        split = [cluster for cluster in first.clusters if primaries_apart(cluster) is not None]
        if not split or self._clock.sleep(SECOND_LOOK_S, self._stop):
            return
        second = self._snapshot()
        for cluster in split:
            later = second.cluster(cluster.cluster_id)
            seen = seen_twice(cluster, later) if later is not None else None
            if seen is not None and state.splits().note(seen, "watch"):
                text = tr("Two Primary Components of {name}: {sides}.", name=seen.cluster_name or seen.cluster_uuid,
                          sides=sides_words(seen.sides))  # fmt: skip
                self._tell(Event(seen.at, "view", text, Health.BAD, seen.cluster_uuid))

    def _guarded(self, write: Callable[[], object]) -> None:
        try:
            write()
        except StoreError as problem:
            if not self._troubled:
                log.info("the state store cannot be written: %s", problem)
                text = tr(
                    "The state store cannot be written: {problem}. Watching continues.",
                    problem=str(problem).rstrip("."),
                )
                self._tell(Event(self._clock.wall(), "console", text, Health.WARN))
            self._troubled = True
        else:
            self._troubled = False
