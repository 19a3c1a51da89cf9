"""Who does not answer and why, and that nothing can be kept: told on stderr by the commands that watch, once each."""

from __future__ import annotations

import sys
from typing import Protocol

from services.discovery.model import EstateSnapshot, NodeView
from services.errors import StoreError
from services.types import Reach


class Watched(Protocol):
    """What is watched: its newest snapshot."""

    def snapshot(self) -> EstateSnapshot:
        """Return the newest snapshot."""

    @property
    def trouble(self) -> StoreError | None:
        """Return why nothing is written at present."""


class Silence:
    """Remembers who was told to be silent, so that nothing is told twice until the host has spoken."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._unwritten = False

    def tell(self, watched: Watched) -> None:
        """Write one line for each host that is silent now and was not told yet."""
        now = {node.name: node.reason for node in silent(watched.snapshot())}
        for name in sorted(now.keys() - self._told):
            # The reason says itself that there was no answer, or what there was in its place.
            sys.stderr.write((now[name] if now[name].startswith(f"{name}: ") else f"{name}: {now[name]}") + "\n")
        trouble = watched.trouble
        if trouble is not None and not self._unwritten:
            sys.stderr.write(trouble.as_text() + "\n")
        sys.stderr.flush()
        self._told, self._unwritten = set(now), trouble is not None


def silent(snapshot: EstateSnapshot) -> tuple[NodeView, ...]:
    """Return the nodes that the console asked and does not reach; `reason` says why."""
    nodes = (node for cluster in snapshot.clusters for node in cluster.nodes)
    return tuple(node for node in nodes if node.reach is Reach.NONE and node.reason)
