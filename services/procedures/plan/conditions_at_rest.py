"""What shows that a stopped node's data did not move since its position was looked at, as data (see conditions.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PositionMark:
    """Keep what a later look can hold a stopped node against: its state file, the server's own files, systemd's starts.

    It holds whatever is found: what could not be read is kept as that, and can never be shown unmoved later.

    Attributes:
        keep: the name under which the mark is kept.
        since: name of an earlier mark: it holds only where systemd has not started a server since that one.
    """

    host: str
    datadir: str
    keep: str
    since: str = ""


@dataclass(frozen=True, slots=True)
class Unmoved:
    """No server ran on this data since its position was recovered: a choice between positions is still the right one.

    Attributes:
        mark: the name of the mark that was kept right after its position was recovered (PositionMark).
        recovered: the name under which that position was kept; position: what the plan chose by, '' for none.
        rewritten: an earlier step of the plan takes the seqno out of its state file, or removes the file.
        safe: this run has marked it safe_to_bootstrap.
        own_start: the step that starts it: once this run has begun that, its data may have moved by it.
        hosts: members that it may have joined by itself meanwhile: then it is one of them and has no side of its own.
    """

    host: str
    datadir: str
    state_uuid: str
    mark: str
    recovered: str
    position: str
    rewritten: bool = False
    safe: bool = False
    own_start: str = ""
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateNamed:
    """The node's grastate.dat still names a state: no transfer into its data folder broke off."""

    host: str
    datadir: str


AtRest = PositionMark | Unmoved | StateNamed
