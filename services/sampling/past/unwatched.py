"""Silences that were not over when watching stopped: what the next console says of them. Kept by the hub's thread.

Whether such a host was silent all the time between, nobody saw. So the silence that this console meets is told as its
own, with the word that the host was silent then already; and an answer says that the end of the old one is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from services.discovery.changes import ANSWERING, is_silence
from services.discovery.model import EstateSnapshot
from services.discovery.words import moment as when
from services.events import Event
from services.i18n import tr
from services.types import Health


class Unwatched:
    """Node id -> the silence that an earlier console left."""

    def __init__(self) -> None:
        self._left: dict[str, Event] = {}

    def remember(self, events: Iterable[Event]) -> None:
        """Take what the history tells, oldest first: of each node its last silence counts."""
        for event in events:
            if is_silence(event):
                self._left[event.node_id] = event
        self._left = {node_id: event for node_id, event in self._left.items() if event.unseen_end}

    def told(self, event: Event) -> Event:
        """Return an event with what is known of before: the beginning and the end of the first silence met."""
        old = self._left.get(event.node_id) if is_silence(event) else None
        if old is None or old.until is None:
            return event
        if event.until is not None:
            del self._left[event.node_id]
        text = tr(
            "{sentence}; it did not answer when Pilothouse last stopped watching ({moment}) either; its state "
            "in between is not known",
            sentence=event.text,
            moment=when(old.until),
        )
        return replace(event, text=text)

    def answered(self, estate: EstateSnapshot) -> Iterator[Event]:
        """Yield who answers at this console's first look and did not when the last one stopped."""
        for cluster in estate.clusters if self._left else ():
            for node in cluster.nodes:
                old = self._left.get(node.node_id)
                if old is None or old.until is None or node.reach not in ANSWERING:
                    continue
                del self._left[node.node_id]
                text = tr(
                    "{name} answers; it did not when Pilothouse last stopped watching ({moment}); when it "
                    "returned is not known",
                    name=node.name,
                    moment=when(old.until),
                )
                yield Event(estate.at, "connection", text, Health.GOOD, cluster.cluster_id, node.node_id)
