"""Scripted hosts as a condition sees them: a cluster in memory on which tests break and kill runs at every entry.

The cluster itself and what acts do to it stand with the tests; this is what a condition's scripted answer may ask, so
that the answer stands in the condition's own file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class ScriptedHost(Protocol):
    """One host: its server, its files and units. `running` is a server that is up, `primary` one that is a member."""

    name: str
    running: bool
    primary: bool
    apart: bool
    parted: bool
    founds: bool
    reachable: bool
    has_data: bool
    seqno: int
    cached_from: int
    starts: int
    free: int
    grastate_uuid: str
    grastate_seqno: int
    frozen_at: str | None
    release: str
    came_by: str
    came_from: str
    variables: dict[str, str]
    files: dict[str, str]
    units: dict[str, str]
    orders: dict[str, str]
    sessions: dict[str, int]
    loaded: tuple[str, ...]

    @property
    def drop_ins(self) -> tuple[str, ...]:
        """Return the drop-ins that lie there; `loaded`: those that systemd knows."""

    @property
    def no_restart(self) -> bool:
        """Return whether systemd, as it was reloaded last, does not restart the server."""


class World(Protocol):
    """The scripted hosts by name, and what their servers and files say."""

    @property
    def hosts(self) -> Mapping[str, ScriptedHost]:
        """Return the hosts."""

    @property
    def replica_set(self) -> Mapping[str, int | str]:
        """Return what a MongoDB set is: 'version', 'protocol', 'primary', 'trial' (a scratch database is there) and
        'balancer' (of its cluster)."""

    def primaries(self) -> Sequence[ScriptedHost]:
        """Return the Synced members."""

    def variable(self, host: ScriptedHost, name: str) -> str:
        """Return a server variable: as it was set, else as the option files give it."""

    def status(self, host: ScriptedHost, name: str) -> str:
        """Return a status value."""

    def exists(self, host: ScriptedHost, path: str) -> bool:
        """Return whether there is such a file or folder."""

    def text(self, host: ScriptedHost, path: str) -> str:
        """Return what a file holds, '' for one that is not there."""
