"""IST reach: how long a node may be away and still return by incremental state transfer. Pure, given the ring.

Per donor (metrics reference, "gcache durability"), with c = wsrep_local_cached_downto, L = wsrep_last_committed,
B = wsrep_replicated_bytes + wsrep_received_bytes (survive FLUSH STATUS), G = gcache.size:
1. history, exact for the past: now - the moment at which L was c; older than what was watched gives "at least";
2. rate, for the future: G / R with R = (dB + 24 dL) / dt, the worst of five minutes, one hour, and the same hour last
   week; 24 bytes is the ring buffer's header per write set (lab run: 288 B by status take 312 B in the ring). The rule
   and its margin: services.facts.galera.ist, which also tells of a node that is away already.
The cluster's reach is that of its second best node: the best one may be the node that is being restarted.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.facts.galera.ist import MARGIN, lasts_s
from services.facts.replication.write_rate import HEADER_BYTES
from services.i18n import mark, tr
from services.sampling.past.seqno_ring import EVERY_S, Point

FIRST_S = 60.0
WINDOWS: tuple[tuple[str, float], ...] = ((mark("five minutes"), 300.0), (mark("one hour"), 3_600.0))
WEEK_S, HOUR_S = 7 * 86_400.0, 3_600.0


@dataclass(frozen=True, slots=True)
class Rate:
    """A write rate into the ring: bytes/s and write sets/s, over which span: in words, and in seconds.

    `window_s` is a week for the same hour last week.
    """

    bytes_s: float
    seqno_s: float
    over: str
    window_s: float = 0.0


@dataclass(frozen=True, slots=True)
class IstReach:
    """IST reach of one donor.

    Attributes:
        seconds: the number to show: method 2 by the worst rate, None when unknown.
        safe_seconds: `seconds` with the margin taken off.
        history_s: method 1; `at_least` tells that the ring of memory is younger than the donor's cache.
        rates: every rate known, the worst first; source: how `seconds` came to be, one sentence.
        reason: why it is unknown, '' when it is known.
        donor: whose reach this is, '' where only one donor is spoken of.
    """

    seconds: float | None = None
    safe_seconds: float | None = None
    history_s: float | None = None
    at_least: bool = False
    rates: tuple[Rate, ...] = ()
    source: str = ""
    reason: str = ""
    donor: str = ""


def _moment(point: Point) -> float:
    return point.at


def _seqno(point: Point) -> int:
    return point.last_committed


def rates(points: Sequence[Point], now: Point) -> tuple[Rate, ...]:
    """Return the rates of method 2 that the points allow, the worst first."""
    found = [rate for _, window in WINDOWS if (rate := _rate_since(points, now, window)) is not None]
    begin, end = _nearest(points, now.at - WEEK_S), _nearest(points, now.at - WEEK_S + HOUR_S)
    if begin is not None and end is not None and end.at - begin.at >= HOUR_S / 2:
        found.append(_rate(begin, end, WEEK_S))
    return tuple(sorted(found, key=lambda r: r.bytes_s, reverse=True))


def _rate_since(points: Sequence[Point], now: Point, window: float) -> Rate | None:
    """Return the rate over the last `window` seconds, None when too little of it was watched to tell.

    Half of the window is enough; for the shortest one a minute is, because a first number soon is worth more.
    """
    place = bisect_left(points, now.at - window - EVERY_S / 2, key=_moment)
    enough = FIRST_S if window == WINDOWS[0][1] else window / 2
    if place >= len(points) or now.at - points[place].at < enough:
        return None
    watched = now.at - points[place].at
    return _rate(points[place], now, window if watched >= 0.9 * window else watched)


def over_words(window_s: float) -> str:
    """Return what a rate's span is called: "one hour", "the same hour last week", "the 65 s watched so far"."""
    if window_s == WEEK_S:
        return tr("the same hour last week")
    known = next((tr(over) for over, window in WINDOWS if window == window_s), "")
    return known or tr("the {window:.0f} s watched so far", window=window_s)


def _rate(begin: Point, end: Point, window_s: float) -> Rate:
    dt = end.at - begin.at
    seqnos = end.last_committed - begin.last_committed
    grown = end.bytes - begin.bytes + HEADER_BYTES * seqnos
    return Rate(max(0.0, grown / dt), max(0.0, seqnos / dt), over_words(window_s), window_s)


def _nearest(points: Sequence[Point], at: float) -> Point | None:
    place = bisect_right(points, at, key=_moment)
    near = [p for p in points[max(0, place - 1) : place + 1] if abs(p.at - at) <= 60.0]
    return min(near, key=lambda p: abs(p.at - at), default=None)


def history_s(points: Sequence[Point], now: Point, cached_downto: int) -> tuple[float | None, bool]:
    """Return method 1: seconds since `cached_downto` was the newest seqno, and whether that is only a lower bound.

    None when nothing was watched yet.
    """
    if not points or cached_downto <= 0:
        return None, False
    place = bisect_left(points, cached_downto, key=_seqno)
    if place == 0 and points[0].last_committed > cached_downto:
        return now.at - points[0].at, True
    if place >= len(points):
        return 0.0, False
    if points[place].last_committed == cached_downto:
        return now.at - points[place].at, False
    before, after = points[place - 1], points[place]
    share = (cached_downto - before.last_committed) / (after.last_committed - before.last_committed)
    return now.at - (before.at + share * (after.at - before.at)), False


def reach(points: Sequence[Point], now: Point, cached_downto: int | None, gcache_size: float | None) -> IstReach:
    """Return the reach of a donor from what was watched of it.

    Args:
        cached_downto: c, 0 or None when the node keeps nothing (or doesn't say); gcache_size: G in bytes.
    """
    if not cached_downto or cached_downto < 0:
        return IstReach(reason=tr("The node keeps no write sets now (wsrep_local_cached_downto is 0)."))
    past, at_least = history_s(points, now, cached_downto)
    if not gcache_size:
        return IstReach(history_s=past, at_least=at_least, reason=tr("gcache.size is not known."))
    known = rates(points, now)
    if not known:
        return IstReach(
            history_s=past, at_least=at_least, reason=tr("The write rate is not known yet: it needs about a minute.")
        )
    worst = known[0]
    if worst.bytes_s <= 0.0:
        return IstReach(
            seconds=math.inf, safe_seconds=math.inf, history_s=past, at_least=at_least, rates=known,
            source=tr("Nothing was written over {span}.", span=worst.over),
        )  # fmt: skip
    seconds = gcache_size / worst.bytes_s
    text = tr(
        "gcache.size {size:.0f} MiB at {rate:.1f} KiB/s, the rate over {span}.",
        size=gcache_size / 2**20,
        rate=worst.bytes_s / 1024,
        span=worst.over,
    )
    return IstReach(seconds, lasts_s(gcache_size, worst.bytes_s), past, at_least, known, text)


def cluster_reach(reaches: Sequence[IstReach]) -> IstReach:
    """Return the reach of the cluster: the second best known donor, for the best one may be the one you restart."""
    known = sorted((r for r in reaches if r.seconds is not None), key=lambda r: r.seconds or 0.0, reverse=True)
    if len(known) < 2:
        left = tr("The reach of only one donor is known.") if known else tr("The reach of no donor is known.")
        why = tr("The second-best donor is used, because the best may be the one that restarts.")
        return IstReach(reason=tr("{known} {why}", known=left, why=why))
    return replace(
        known[1], source=tr("Second best of {n} donors. {source}", n=len(known), source=known[1].source).rstrip()
    )


def gcache_needed(absence_s: float, rate: Rate, margin: float = MARGIN) -> int:
    """Return the gcache.size in bytes that lets a node be away for `absence_s` at this rate, margin included."""
    return math.ceil(absence_s * rate.bytes_s / margin)
