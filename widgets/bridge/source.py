"""The one port through which the window sees the world: live watching and replay both implement it.

All methods may be called from the GUI thread: each returns at once from memory, or (where it says so) is meant to be
called through `widgets.bridge.ops` on a worker. Nothing here raises for a server's fault; that is in the snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from services.discovery.model import EstateSnapshot
from services.events import Event
from services.sampling.model import ConsoleCost, Metric

if TYPE_CHECKING:  # numpy behind it costs 52 ms that the first paint must not wait for
    from services.series import Series


class EstateSource(Protocol):
    """Live watcher or replay."""

    @property
    def is_live(self) -> bool:
        """Return whether new data arrives by itself from real hosts (False for a recording)."""

    @property
    def title(self) -> str:
        """Return what is shown: inventory name or recording file."""

    def now(self) -> float:
        """Return the present of this source: wall time when live, the play position in a replay."""

    def snapshot(self) -> EstateSnapshot:
        """Return the newest snapshot (or the one at the play position). From memory, at once."""

    def snapshot_at(self, at: float) -> EstateSnapshot:
        """Return the snapshot that was true at `at`; may read the store: call through a worker."""

    def events(self) -> Sequence[Event]:
        """Return the events known so far, oldest first, bounded to the newest 2,000. From memory."""

    def span(self) -> tuple[float, float]:
        """Return first and last moment of the history, UTC epoch seconds."""

    def series(self, server: str, metric: str, start: float, end: float, points: int) -> Series:
        """Return a catalogue metric (or a raw key) of one server, thinned to about `points` (band arrays when
        zoomed out). May read the store: call through a worker."""

    def tail(self, server: str, metric: str, since: float) -> Series:
        """Return the newest samples after `since` from memory only (at most ten minutes), at once."""

    def catalogue(self) -> Sequence[Metric]:
        """Return the metric catalogue."""

    def cost(self) -> ConsoleCost:
        """Return the console's own cost so far."""

    def ui_stalled(self, worst_ms: float, over_limit: int) -> None:
        """Take the window's measure of its event loop: worst stall since the last call, stalls over 50 ms so far."""

    def servers(self) -> Sequence[str]:
        """Return the host keys that have samples."""


class PlaybackControl(Protocol):
    """What a replay adds to EstateSource; `play`, `pause`, `seek`, `speed` act at once."""

    @property
    def playing(self) -> bool:
        """Return whether the position moves by itself."""

    @property
    def speed(self) -> float:
        """Return recorded seconds per second."""

    def play(self) -> None:
        """Let the position move."""

    def pause(self) -> None:
        """Hold the position."""

    def set_speed(self, speed: float) -> None:
        """Set recorded seconds per second, 0.25 to 64."""

    def seek(self, at: float) -> None:
        """Move to `at`, clamped into the recording."""

    def all_events(self) -> Sequence[Event]:
        """Return every event of the recording, those after the position included."""
