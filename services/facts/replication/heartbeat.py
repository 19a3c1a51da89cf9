"""Replication lag by a heartbeat row: the one measure that a stopped IO thread or a dead network cannot fool.

Sources: Percona Toolkit, pt-heartbeat (table of `ts`, an ISO 8601 moment, and `server_id`, a row per writer; without
--utc its moments are local time of the machine it runs on), "MULTI-SLAVE HIERARCHY"; tz database (offsets of zones).

Whose row: that of the channel's source; where the source writes none, the one row that is not the replica's own (it
comes from further up). Several such rows leave open whose lag is meant: not known.
A row without a server_id (pt-heartbeat before 2.1, tables of people's own) may be written on the replica itself: it
counts alone, and only where nobody but replication writes there (super_read_only, MariaDB's NO_LOCK_NO_ADMIN).
In which time: UTC. A moment that lies ahead of UTC is local time: not known, until the same offset of a real zone was
seen several times. One that moves on and stands just a zone's offset behind may be local time or a replica that far
behind: not known. What is ahead by less than clocks may differ counts 0; what is further behind than any replica is
(MOST_BEHIND_S) was written by a clock that stood wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from services.connections.ports import Rows, SqlValue, text
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.facts.machine.machine import CLOCK_LIMIT_S
from services.facts.model import Problem, ReplicationChannel
from services.facts.reading import count
from services.facts.replication.replication import MOST_BEHIND_S
from services.i18n import tr

_QUARTER_S = 900
_HOURS_S = frozenset(h * 3600 for h in range(-12, 15))
_BETWEEN_S = frozenset(
    int(h * 3600) for h in (-9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75, 13.75)
)
ZONES_S = (_HOURS_S | _BETWEEN_S) - {0}
"""The offsets to UTC that zones have today; each is a whole number of quarter-hours."""
IN_STEP_S = 15.0
"""A replica in step is behind by less: what is written each second, or every ten, and the way."""
_SEEN = 5
"""How often a beat that has moved on must show the same offset until it is a zone's."""
Doubt = Literal["", "zone", "writers", "unsigned"]
"""Why a lag is not known: moments of an unknown zone, whose row counts is open, or a row that nobody signed."""


@dataclass(frozen=True, slots=True)
class Lag:
    """What the rows say. `seconds`: None is not known. `zone_s`: what the writer's clock is ahead of UTC."""

    seconds: float | None = None
    zone_s: int = 0
    doubt: Doubt = ""


@dataclass(frozen=True, slots=True)
class _Writer:
    """What was seen of one writer's row. `seen`: how often in a row a beat that had moved on showed `zone_s`."""

    beat: datetime | None = None
    zone_s: int = 0
    seen: int = 0

    @property
    def known(self) -> bool:
        return self.seen >= _SEEN and self.zone_s > 0


@dataclass(slots=True)
class Heartbeats:
    """What one replica's reads of its heartbeat table taught; a new one after every loss of the connection."""

    _writers: dict[int | None, _Writer] = field(default_factory=dict)

    def lag(self, rows: Rows | None, channels: Sequence[ReplicationChannel] = (), *, sealed: bool = False) -> Lag:
        """Return the lag of the channel that is furthest behind; not known where one of them is not.

        Args:
            sealed: nobody but replication writes on this server, administrators included.
        """
        beats, now = _beats(rows)
        if now is None or not beats:
            return Lag()
        if set(beats) == {None} and not (sealed and len(channels) == 1 and rows is not None and len(rows.rows) == 1):
            return Lag(doubt="unsigned")
        ids = _counted(tuple(beats), tuple(channel.source_server_id for channel in channels))
        if ids is None:
            return Lag(doubt="writers")
        delayed = any(channel.delay_s != 0 for channel in channels)  # not known too
        self._writers = {one: self._writers.get(one, _Writer()) for one in ids}
        lags = [self._one(one, beats[one], now, delayed=delayed) for one in ids]
        return next((lag for lag in lags if lag.seconds is None), None) or max(lags, key=lambda lag: lag.seconds or 0.0)

    def _one(self, writer: int | None, beat: datetime | None, now: datetime, *, delayed: bool) -> Lag:
        if beat is None:
            return Lag()
        past = self._writers[writer]
        if past.beat is not None and beat < past.beat:
            past = _Writer()  # the writer's clock went back: the end of its summer time, or another machine
        behind = (now - beat).total_seconds()
        if behind >= MOST_BEHIND_S:
            self._writers[writer] = _Writer()
            return Lag(doubt="zone")
        if past.known and behind + past.zone_s >= -CLOCK_LIMIT_S:
            self._writers[writer] = replace(past, beat=beat)
            return Lag(max(0.0, behind + past.zone_s), past.zone_s)
        zone = 0 if delayed else _zone(behind)
        moved = past.beat is None or beat > past.beat
        if not zone or (not moved and past.zone_s != zone and behind >= -CLOCK_LIMIT_S):
            self._writers[writer] = _Writer(beat)
            return Lag(max(0.0, behind)) if behind >= -CLOCK_LIMIT_S else Lag(doubt="zone")
        seen = (past.seen if past.zone_s == zone else 0) + moved
        found = self._writers[writer] = _Writer(beat, zone, seen)
        return Lag(max(0.0, behind + zone), zone) if found.known else Lag(doubt="zone")


def heartbeat_statement(table: str) -> SqlRead:
    """Return the read for a heartbeat table "schema.table" (the inventory lets plain identifiers through only)."""
    schema, _, name = table.partition(".")
    return statements.HEARTBEAT.read(schema, name)


def heartbeat_lag(rows: Rows | None, channels: Sequence[ReplicationChannel] = ()) -> float | None:
    """Return the lag in seconds by one read alone, None without a heartbeat or when it is not known."""
    return Heartbeats().lag(rows, channels).seconds


def heartbeat_problems(lag: Lag) -> tuple[Problem, ...]:
    """Return what is told of a heartbeat beside its lag: the zone that was recognised, or why nothing is known."""
    if lag.zone_s:
        offset = f"{'+' if lag.zone_s > 0 else '-'}{abs(lag.zone_s) // 3600:02}:{abs(lag.zone_s) % 3600 // 60:02}"
        sentence = tr(
            "The heartbeat is written in local time; its constant offset indicates UTC{offset}. Run "
            "pt-heartbeat with --utc: local time jumps twice a year.",
            offset=offset,
        )
        return (Problem("heartbeat", sentence, "heartbeat-zone"),)
    if lag.doubt == "zone":
        sentence = tr(
            "The heartbeat's timestamps are not in UTC, or clocks differ: the lag by heartbeat is not known. "
            "Run pt-heartbeat with --utc."
        )
        return (Problem("heartbeat", sentence, "heartbeat-not-utc"),)
    if lag.doubt == "writers":
        sentence = tr(
            "The heartbeat table has no row for this replica's source, and several for other servers: the lag "
            "by heartbeat is not known."
        )
        return (Problem("heartbeat", sentence, "heartbeat-writers"),)
    if lag.doubt == "unsigned":
        sentence = tr(
            "The heartbeat table has no server_id: whether this server or its source wrote the timestamp is "
            "not known, so the lag by heartbeat is not known."
        )
        return (Problem("heartbeat", sentence, "heartbeat-unsigned"),)
    return ()


def _counted(ids: Sequence[int | None], sources: Sequence[int | None]) -> tuple[int | None, ...] | None:
    """Return whose rows count, None where that is open."""
    known = tuple(dict.fromkeys(source for source in sources if source is not None))
    if known and len(known) == len(set(sources)) and set(known) <= set(ids):
        return known
    return tuple(ids) if len(ids) == 1 and len(set(sources)) <= 1 else None


def _beats(rows: Rows | None) -> tuple[dict[int | None, datetime | None], datetime | None]:
    """Return the newest moment by the id of its writer, without the server's own row, and the server's own now."""
    beats: dict[int | None, datetime | None] = {}
    now: datetime | None = None
    for values in rows.dicts() if rows is not None else ():
        row: dict[str, SqlValue] = {name.lower(): value for name, value in values.items()}
        now = _moment(text(row.get("now")))
        writer, own = count(row.get("server_id")), count(row.get("own"))
        beat = _moment(text(row.get("ts")))
        if writer is not None and writer == own:
            continue
        if writer in beats:
            beat = max((one for one in (beat, beats[writer]) if one is not None), default=None)
        beats[writer] = beat
    return beats, now


def _zone(behind: float) -> int:
    """Return the offset of a zone in which a beat that is `behind` UTC would be in step, 0 for none."""
    for rounded in (-_QUARTER_S * round(behind / _QUARTER_S), -_QUARTER_S * (behind // _QUARTER_S)):
        if int(rounded) in ZONES_S and -CLOCK_LIMIT_S <= behind + rounded <= IN_STEP_S:
            return int(rounded)
    return 0


def _moment(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value.strip().replace(" ", "T"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
