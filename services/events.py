"""Typed events on one bus: what the services tell, and the window, the journal and the command line hear."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from services.types import Health

EventKind = Literal[
    "state",  # a node's state word changed
    "view",  # a cluster's membership or primary component changed
    "restart",  # a server or host restarted (uptime or identity went back)
    "gap",  # the console had no samples for a while
    "transfer",  # a state transfer began or ended
    "variable",  # a server variable changed under us
    "disk",  # a data disk is filling or full
    "connection",  # the console lost or regained a host
    "clock",  # a host's clock differs from the workstation's
    "console",  # the console itself: started, stopped uncleanly, lost seconds
    "note",  # a person's annotation
    "run",  # a procedure began or ended; key 'run:NUMBER'
    "step",  # a step of a run that changes something began, or failed; key 'run:NUMBER:STEP'
]

WATCH = "watch:"
"""In the key of a step's event that a watch rule tells (services/procedures/service/run_events.py): nothing was changed
by it. It stands here because a recording is drawn by it, and has no need of what plans and runs are."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened, placed on the time axis.

    Attributes:
        at: UTC epoch seconds by the workstation's clock.
        kind: the closed list above.
        text: one sentence, names the node.
        health: how serious, for shape and colour.
        cluster_id, node_id: '' when the event belongs to the whole estate or cluster.
        until: end of the span for things that last (a transfer, a gap), None while it lasts or for a moment.
        spans: True when the event has a duration (drawn as a bar, open until `until` is known).
        key: identifies a span so that its end replaces its beginning.
        inventory, address: a mark of the inventory's file that was watched, and where its host stood by it; '' where
            that was not kept.
        unseen_end: True when it was not over at `until`: watching stopped then, and nobody saw its end.
    """

    at: float
    kind: EventKind
    text: str
    health: Health = Health.UNKNOWN
    cluster_id: str = ""
    node_id: str = ""
    until: float | None = None
    spans: bool = False
    key: str = ""
    unseen_end: bool = False
    inventory: str = ""
    address: str = ""


class Bus:
    """Thread-safe fan-out of events. Listeners are called on the publishing thread and must only queue."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Event], None]] = []
        self._lock = threading.Lock()

    def publish(self, event: Event) -> None:
        """Hand `event` to every listener."""
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(event)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[Event], None]) -> Iterator[None]:
        """Subscribe for the length of a with block."""
        self.subscribe(listener)
        try:
            yield
        finally:
            self.unsubscribe(listener)

    def subscribe(self, listener: Callable[[Event], None]) -> None:
        """Add a listener."""
        with self._lock:
            self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[Event], None]) -> None:
        """Remove a listener that was added before."""
        with self._lock:
            self._listeners.remove(listener)


PAST_SAID_S = 120.0
"""What troubled a console before this one is said so long; then the journal has it, and the line is for what is now."""


def trouble_of_console(events: Sequence[Event], begun: float, now: float) -> str:
    """Return what troubles the console, for the one line that is always seen; '' for nothing.

    An end that nobody wished is told by the console that comes after it, at its beginning. Where something else was
    seen since, another one has come after it already, and has told it.

    Args:
        events: the oldest first; begun: when this console was opened.
    """
    told = next((event for event in reversed(events) if event.kind == "console"), None)
    if told is None or told.health.severity < Health.WARN.severity:
        return ""
    if told.at >= begun:
        return told.text
    since = any(told.at < event.at < begun and event.kind != "console" for event in events)
    return "" if since or now - begun > PAST_SAID_S else told.text
