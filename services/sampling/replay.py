"""Playing a recording: an EstateSource whose present is a position that moves with the clock (or doesn't).

No thread: the position is computed when somebody asks. What the window asks for each frame (snapshot, events, tail)
comes from memory; the small read that a moved position needs is a row and its keyframe, remembered by its number.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from services.clock import Clock
from services.discovery.model import EstateSnapshot
from services.errors import BadInput, StoreError
from services.events import Event
from services.facts.model import Problem
from services.history.marked_change import ChangeMark
from services.history.recordings.recorded_marks import read_marks
from services.history.recordings.recording import open_recording
from services.i18n import tr
from services.sampling.drawable import drawable
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.sampling.model import ConsoleCost, Metric
from services.series import Series
from services.visible import visible

SLOWEST, FASTEST = 0.25, 64.0
MOST_EVENTS = 2_000
TAIL_S = 600.0
_KEPT_SNAPSHOTS = 64
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Span:
    """First and last moment of the recording, UTC epoch seconds."""

    start: float
    end: float


class Replay:
    """A recording as a source. Satisfies EstateSource and PlaybackControl of the window's bridge. Thread-safe.

    Raises:
        StoreError: the file can't be opened. BadInput: it holds no samples.
    """

    is_live = False

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._store = open_recording(path, clock)
        try:
            self._read_frame(path, clock)
        except BaseException:
            self._store.close()
            raise

    def _read_frame(self, path: Path, clock: Clock) -> None:
        held = self._store.seen_range()
        if held is None:
            raise BadInput(
                tr(
                    "{name} contains no samples: no host answered during the recording, or it is too short.",
                    name=path.name,
                ),
                try_=(
                    tr("See which hosts answer: pilothouse inventory check"),
                    tr("Record again, for longer than a second."),
                    tr("Try the program without a server: pilothouse demo"),
                ),
            )
        self._span = Span(*held)
        self._title = visible(self._store.meta().get("title") or path.stem)[:_LONGEST_TITLE].replace("\n", " ")
        self._catalogue = load_catalogue()
        self._reader = SeriesReader(self._store, self._catalogue)
        self._lock = threading.RLock()
        self._position = self._span.start
        self._since = clock.monotonic()
        self._playing = False
        self._speed = 1.0
        self._times = self._store.snapshot_times()
        self._snapshots: OrderedDict[int, EstateSnapshot] = OrderedDict()
        self._all_events = self._store.events(float("-inf"), float("inf"))
        self._event_times = [event.at for event in self._all_events]

    # -- EstateSource ----------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Return the recording's title."""
        return self._title

    def now(self) -> float:
        """Return the play position, UTC epoch seconds of the recorded time."""
        with self._lock:
            if not self._playing:
                return self._position
            moved = self._position + (self._clock.monotonic() - self._since) * self._speed
            if moved >= self._span.end:
                self._position, self._playing = self._span.end, False
                return self._position
            return moved

    def snapshot(self) -> EstateSnapshot:
        """Return the snapshot at the play position."""
        return self.snapshot_at(self.now())

    def snapshot_at(self, at: float) -> EstateSnapshot:
        """Return the snapshot that was true at `at`; before the first one, the first."""
        if not self._times:
            return EstateSnapshot(at=at)
        place = max(0, bisect_right(self._times, at) - 1)
        with self._lock:
            known = self._snapshots.get(place)
            if known is None:
                known = self._read_snapshot(self._times[place])
                self._snapshots[place] = known
                if len(self._snapshots) > _KEPT_SNAPSHOTS:
                    self._snapshots.popitem(last=False)
            return known

    def _read_snapshot(self, at: float) -> EstateSnapshot:
        """Return the stored snapshot; one that is damaged is an estate that says so, and the rest is played."""
        try:
            return drawable(self._store.snapshot_at(at) or EstateSnapshot(at=at))
        except StoreError as problem:
            return EstateSnapshot(at=at, problems=(Problem("recording", problem.sentence),))

    def events(self) -> Sequence[Event]:
        """Return the events up to the position; a span that had not ended then is still open."""
        now = self.now()
        upto = bisect_right(self._event_times, now)
        return tuple(_as_known_at(event, now) for event in self._all_events[max(0, upto - MOST_EVENTS) : upto])

    def all_events(self) -> Sequence[Event]:
        """Return every event of the recording, for the strip that shows what is to come."""
        return self._all_events

    def range(self) -> Span:
        """Return the span of the recording."""
        return self._span

    def span(self) -> tuple[float, float]:
        """Return the span of the recording as two numbers."""
        return self._span.start, self._span.end

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        """Return a metric of one server as recorded, the part after the play position included."""
        return self._reader.series(server, metric, start, end, points)

    def tail(self, server: str, metric: str, since: float) -> Series:
        """Return the recorded samples after `since` up to the position (at most ten minutes)."""
        now = self.now()
        begin = max(since + 2e-4, now - TAIL_S)
        return self._reader.series(server, metric, begin, max(begin, now), 2 * int(TAIL_S))

    def catalogue(self) -> Sequence[Metric]:
        """Return the metric catalogue."""
        return self._catalogue.metrics

    def cost(self) -> ConsoleCost:
        """Return no cost: a recording asks nothing of any server."""
        return ConsoleCost()

    def ui_stalled(self, worst_ms: float, over_limit: int) -> None:
        """Take nothing: what a replay's window costs is no part of the recording."""

    def servers(self) -> tuple[str, ...]:
        """Return the servers that have samples."""
        return self._store.servers()

    def marks(self) -> tuple[ChangeMark, ...]:
        """Return the changes that were marked while it was recorded."""
        return read_marks(self._store.meta())

    # -- PlaybackControl -------------------------------------------------------------------------------------------

    @property
    def playing(self) -> bool:
        """Return whether the position moves by itself."""
        self.now()
        return self._playing

    @property
    def speed(self) -> float:
        """Return recorded seconds per second."""
        return self._speed

    def play(self) -> None:
        """Let the position move; from the end it starts over."""
        with self._lock:
            if self.now() >= self._span.end:
                self._position = self._span.start
            self._anchor(self.now() if self._playing else self._position)
            self._playing = True

    def pause(self) -> None:
        """Hold the position."""
        with self._lock:
            self._anchor(self.now())
            self._playing = False

    def set_speed(self, speed: float) -> None:
        """Set recorded seconds per second, kept within 0.25 and 64."""
        with self._lock:
            self._anchor(self.now())
            self._speed = min(FASTEST, max(SLOWEST, speed))

    def seek(self, at: float) -> None:
        """Move to `at`, clamped into the recording."""
        with self._lock:
            self._anchor(min(self._span.end, max(self._span.start, at)))

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    stop = close

    def _anchor(self, position: float) -> None:
        self._position, self._since = position, self._clock.monotonic()


def _as_known_at(event: Event, now: float) -> Event:
    """Return the event as it was known then: what ends later was open."""
    over = event.until is None or event.until <= now
    return event if over else replace(event, until=None, unseen_end=False)
