"""Who does not answer and why, told on stderr by the commands that watch: once for each silence, as soon as known."""

from __future__ import annotations

import sys
from typing import Protocol

from services.discovery.model import EstateSnapshot, NodeView
from services.types import Reach


class Watched(Protocol):
    """What is watched: its newest snapshot."""

    def snapshot(self) -> EstateSnapshot:
        """Return the newest snapshot."""


class Silence:
    """Remembers who was told to be silent, so that nothing is told twice until the host has spoken."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, watched: Watched) -> None:
        """Write one line for each host that is silent now and was not told yet."""
        now = {node.name: node.reason for node in silent(watched.snapshot())}
        for name in sorted(now.keys() - self._told):
            # The reason says itself that there was no answer, or what there was in its place.
            sys.stderr.write((now[name] if now[name].startswith(f"{name}: ") else f"{name}: {now[name]}") + "\n")
        sys.stderr.flush()
        self._told = set(now)


def silent(snapshot: EstateSnapshot) -> tuple[NodeView, ...]:
    """Return the nodes that the console asked and does not reach; `reason` says why."""
    nodes = (node for cluster in snapshot.clusters for node in cluster.nodes)
    return tuple(node for node in nodes if node.reach is Reach.NONE and node.reason)
