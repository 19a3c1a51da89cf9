"""Compares two windows: has their samples read, weighs what speaks against a verdict, gives each metric one.

'Not known' comes before every number: no samples, too few seconds, too few independent ones, a restart, another load.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from services.discovery.words import clock
from services.errors import BadInput
from services.i18n import tr
from services.moments import duration
from services.sampling.change.blocks import LEAST_BLOCK, LEAST_BLOCKS, MEMORIES, Cut, cut, delta, shift
from services.sampling.change.model import Asked, Change, Comparison, Despite, Why, Window
from services.sampling.change.words import said_value, span_words
from services.sampling.metrics.catalogue import Catalogue
from services.series import Array, Series
from services.types import NOT_OFFERED

SeriesOf = Callable[[str, str, float, float, int], Series]
"""Server, metric or raw key, from, to (UTC epoch seconds), about how many points: the samples there are."""
USUAL = (
    "load.questions", "load.threads_running", "load.rows_read", "load.rows_changed", "load.row_lock_waits",
    "commit.rate", "cpu.available", "disk.write_latency", "disk.queue", "innodb.log_fsyncs",
    "innodb.checkpoint_age_share", "galera.paused", "galera.recv_queue", "repl.lag",
)  # fmt: skip
"""What is compared where nobody names a metric: the load, what it waits for, what it costs."""
LOAD = "load.questions"
LOAD_WITHIN, LEAST_LOAD = 0.1, 10.0
"""The load is the same where all of its interval lies within a tenth of what it was; of less than 10 statements a
second the tenth is of 10: the console's own are among them."""
LOAD_ALPHA = 0.05
ALPHA = 0.01
"""How often all intervals of one comparison together may miss: shared out among them (Bonferroni)."""
LEAST_WINDOW_S = 300.0
"""In windows of two minutes a slow wander can't be told from a change: up to 17 false alarms in 100 where 1 was
promised, in windows of five minutes 3 (resources/docs/measuring.md)."""
_ROUNDED_S = 1e-3
"""Lengths are differences of epoch seconds."""
LEAST_SAMPLED = 0.8
MOST_HOLE_S, MOST_HOLE_STEPS = 30.0, 5.0
"""What hangs gives no samples: a longer stretch without any hides just what is looked for."""


def compare(asked: Asked, series_of: SeriesOf, catalogue: Catalogue) -> Comparison:
    """Return every metric of every server in both windows.

    Raises:
        BadInput: the windows touch or lie the wrong way round; a metric is none. StoreError: the history can't be read.
    """
    before, after = equal(asked.before, asked.after)
    asked = replace(asked, before=before, after=after)
    metrics = asked.metrics or USUAL
    found = [(server, key, _read(series_of, server, key, asked)) for server in asked.servers for key in metrics]
    left_out = () if asked.metrics else _never_offered(metrics, found)
    kept = [one for one in found if one[1] not in left_out]
    alpha = ALPHA / max(1, 2 * len(kept))
    grounds = {server: _ground(series_of, server, asked) for server in asked.servers}
    changes = tuple(_change(one, alpha, grounds[one[0]], asked, catalogue) for one in kept)
    return Comparison(asked.before, asked.after, changes, 1.0 - ALPHA, left_out)


def equal(before: Window, after: Window) -> tuple[Window, Window]:
    """Return both windows with the length of the shorter one: of the longer what lies next to the change.

    Windows of many and of few blocks that also vary differently raise false alarms (up to one in five was measured).
    """
    if before.length_s <= 0 or after.length_s <= 0:
        raise BadInput(tr("A window must end after it begins."))
    if after.start < before.end:
        raise BadInput(
            tr("The window after the change begins before the window before it ends."),
            try_=(tr("End one where the other begins, or leave the change itself out between them."),),
        )
    length = min(before.length_s, after.length_s)
    return Window(before.end - length, before.end), Window(after.start, after.start + length)


@dataclass(frozen=True, slots=True)
class _Samples:
    """Both windows of one metric: finite values, seconds between them, the share of each window that was sampled.

    holes: the longest stretch of each window without a sample, in seconds.
    """

    before: Array
    after: Array
    step_s: float
    sampled: tuple[float, float]
    holes: tuple[float, float]
    lacks: str
    missing: str


_Found = tuple[str, str, _Samples]


def _read(series_of: SeriesOf, server: str, key: str, asked: Asked) -> _Samples:
    pair = [_seconds(series_of, server, key, window) for window in (asked.before, asked.after)]
    return _samples(pair, (asked.before, asked.after))


def _seconds(series_of: SeriesOf, server: str, key: str, window: Window) -> Series:
    """Return a window second by second: half as many points as seconds are never thinned (metrics/reader.py)."""
    return series_of(server, key, window.start, window.end, math.ceil(window.length_s / 2) + 1)


def _samples(pair: list[Series], windows: tuple[Window, Window]) -> _Samples:
    gaps = np.concatenate([np.diff(series.t) for series in pair])
    step = float(np.median(gaps)) if len(gaps) else 1.0
    before, after = (series.value[np.isfinite(series.value)] for series in pair)
    shares = [len(v) * step / w.length_s for v, w in zip((before, after), windows, strict=True)]
    holes = [_hole(series, window) for series, window in zip(pair, windows, strict=True)]
    absent = next((series for series in pair if series.missing), pair[0])
    return _Samples(before, after, step, (shares[0], shares[1]), (holes[0], holes[1]), absent.lacks, absent.missing)


def _hole(series: Series, window: Window) -> float:
    there = series.t[np.isfinite(series.value)]
    return float(np.max(np.diff(np.concatenate(((window.start,), there, (window.end,))))))


def _never_offered(metrics: tuple[str, ...], found: list[_Found]) -> tuple[str, ...]:
    lacking = {key: all(s.lacks == NOT_OFFERED for _, named, s in found if named == key) for key in metrics}
    return tuple(key for key in metrics if lacking[key])


@dataclass(frozen=True, slots=True)
class _Ground:
    """What two windows of one server must have in common: `restarts` that lie in or between them, and the load."""

    restarts: tuple[float, ...] = ()
    load: Why = ""
    load_said: str = ""


def _ground(series_of: SeriesOf, server: str, asked: Asked) -> _Ground:
    whole = _seconds(series_of, server, LOAD, Window(asked.before.start, asked.after.end))
    restarts = tuple(at for at in whole.restarts if asked.before.start < at <= asked.after.end)
    load, said = _load(_read(series_of, server, LOAD, asked), (asked.before, asked.after))
    return _Ground(restarts, load, said)


def _load(samples: _Samples, windows: tuple[Window, Window]) -> tuple[Why, str]:
    """Return whether the load was another, and how: only an interval within the tenth shows that it was not."""
    why, said = _unusable(samples, windows)
    if why:
        return "load-unsure", tr("Whether the load was the same is not known. {why}", why=said)
    parts = cut(samples.before, samples.after)
    found = shift(samples.before, samples.after, parts, np.mean, LOAD_ALPHA)
    if not math.isfinite(found.low):
        return "load-unsure", tr("Whether the load was the same is not known: it varies too much for these windows.")
    same = LOAD_WITHIN * max(LEAST_LOAD, abs(found.before))
    if -same <= found.low and found.high <= same:
        return "", ""
    moved = tr(
        "Questions {before} before, {after} after, {span}",
        before=said_value(found.before, "1/s"),
        after=said_value(found.after, "1/s"),
        span=span_words(found, "1/s"),
    )
    if found.low > 0 or found.high < 0:
        return "load", tr("The load changed: {moved}.", moved=moved)
    return "load-unsure", tr("Whether the load was the same is not known: {moved}.", moved=moved)


def _unusable(samples: _Samples, windows: tuple[Window, Window]) -> tuple[Why, str]:
    """Return why the samples say nothing at all."""
    most = max(MOST_HOLE_S, MOST_HOLE_STEPS * samples.step_s)
    for values, when in zip((samples.before, samples.after), _whens(), strict=True):
        if not len(values):
            return "missing", samples.missing or tr("Nothing was sampled {when}.", when=when)
    # Before the gaps: in a window that is too short one gap is a large share, and without it the window were too short.
    if min(window.length_s for window in windows) < LEAST_WINDOW_S - _ROUNDED_S:
        return "few", tr("Windows shorter than {least} show nothing.", least=duration(LEAST_WINDOW_S))
    for share, hole, when in zip(samples.sampled, samples.holes, _whens(), strict=True):
        if share < LEAST_SAMPLED:
            return "gaps", tr("Only {share:.0f} % of the time {when} was sampled.", share=100 * share, when=when)
        if hole > most:
            return "gaps", tr("Nothing was sampled for {span} {when}.", span=duration(round(hole)), when=when)
    return "", ""


def _whens() -> tuple[str, str]:
    return tr("before"), tr("after")


def _change(found: _Found, alpha: float, ground: _Ground, asked: Asked, catalogue: Catalogue) -> Change:
    server, key, samples = found
    metric = catalogue.metric(key)
    change = Change(server, key, metric.title if metric else key, metric.unit if metric else "",
                    samples=(len(samples.before), len(samples.after)))  # fmt: skip
    why, said = _unusable(samples, (asked.before, asked.after))
    if why in {"missing", "gaps"}:
        return replace(change, why=why, said=said)
    parts = cut(samples.before, samples.after)
    worst = np.max if metric is None or metric.higher_is_worse else np.min
    typical, worst_seconds = (
        shift(samples.before, samples.after, parts, reduce, alpha, known=not why) for reduce in (np.mean, worst)
    )
    change = replace(
        change,
        typical=typical,
        worst=worst_seconds,
        delta=delta(samples.before, samples.after),
        block_s=parts.block * samples.step_s,
        blocks=(parts.before, parts.after),
        memory_s=parts.memory * samples.step_s,
    )
    if not math.isfinite(typical.low):
        return replace(change, why="few", said=said or _too_few(parts, samples.step_s))
    return _on_ground(change, ground, asked)


def _too_few(parts: Cut, step_s: float) -> str:
    if parts.enough:
        return tr(
            "Too few independent samples for so many comparisons at once: choose fewer metrics or longer windows."
        )
    needed = LEAST_BLOCKS * max(LEAST_BLOCK, math.ceil(MEMORIES * parts.memory)) * step_s
    return tr(
        "Too few independent samples: each second resembles those of the next {memory}. Windows of {needed} "
        "may be enough.",
        memory=duration(max(1.0, round(parts.memory * step_s))),
        needed=duration(math.ceil(needed / 60) * 60.0),
    )


def _on_ground(change: Change, ground: _Ground, asked: Asked) -> Change:
    """Weigh what the windows do not have in common; what a person looks past is told and no reason any more."""
    told: list[tuple[Despite, Why, str]] = []
    if ground.restarts:
        told.append(("restart", "restart", _restarted(change.server, ground.restarts[-1], asked)))
    if ground.load and change.metric != LOAD:
        told.append(("load", ground.load, ground.load_said))
    past = tuple(name for name, _, _ in told if name in asked.despite)
    stands = next((one for one in told if one[0] not in asked.despite), None)
    if stands is not None:
        return replace(change, why=stands[1], said=stands[2], despite=past)
    words = [words for _, _, words in told]
    said = tr("{one} {other}", one=words[0], other=words[1]) if len(words) > 1 else words[0] if words else ""
    return replace(change, said=said, despite=past)


def _restarted(server: str, at: float, asked: Asked) -> str:
    if asked.before.end < at <= asked.after.start:
        return tr("{server} restarted at {at}, between the windows: its caches were cold.", server=server, at=clock(at))
    return tr("{server} restarted at {at}, inside a window.", server=server, at=clock(at))
