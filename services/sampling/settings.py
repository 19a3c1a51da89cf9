"""How often what is read. The coarsest intervals that still tell the truth (metrics reference, 'Rules')."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Intervals and limits of the live watcher, in seconds.

    Attributes:
        interval_s: one poll of SQL status per server each interval.
        answer_limit_s: a poll not answered within it counts as no answer; just under the interval, so that a paused
            server is known within three samples.
        variables_s: all global variables; members_s: who else is in the cluster; machine_s: static facts of the host;
        logs_s: state-transfer lines while a transfer is suspected; logs_idle_s: otherwise.
        unsettled_s: all global variables of a server whose channels or group have just changed: its switches follow.
        crowded: above so many connected threads the process list is read each `crowded_s` only: it is the one read
            whose cost grows with the server's load.
    """

    interval_s: float = 1.0
    answer_limit_s: float = 0.9
    variables_s: float = 30.0
    unsettled_s: float = 2.0
    members_s: float = 10.0
    machine_s: float = 300.0
    logs_s: float = 2.0
    logs_idle_s: float = 15.0
    crowded: int = 500
    crowded_s: float = 10.0
    silence_s: float = 3.0
    discovery_limit_s: float = 8.0
    rediscover_s: float = 10.0
