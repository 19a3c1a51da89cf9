"""The numbers beside a node that only samples tell: CPU, waits, redo age, disk; as rows for the inspector."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.window.charts.ist_numbers import IST_METRICS
from services.i18n import mark, tr
from services.sampling.model import Metric
from services.types import Health
from widgets.bridge.source import EstateSource
from widgets.common.look.text import format_bytes, format_duration, format_number, format_percent, plural

RECENT_S = 5.0
"""A number is taken from the samples of the last seconds: older ones are no present."""

Row = tuple[str, str, Health]
Values = Mapping[str, float]

METRICS = (
    "cpu.user",
    "cpu.system",
    "cpu.available",
    "cpu.iowait",
    "commit.threads",
    "innodb.checkpoint_age_share",
    "innodb.redo_capacity",
    "disk.write_latency",
    "load.questions",
)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Newest values by metric key, those without a present value left out."""

    values: Values
    catalogue: Mapping[str, Metric]


def read_numbers(source: EstateSource, host: str, at: float) -> dict[str, float]:
    """Return a host's newest values as of `at`; live and at the present from memory, else through a worker please."""
    found = {}
    for key in (*METRICS, *IST_METRICS):
        if source.is_live and source.now() - at < RECENT_S:
            series = source.tail(host, key, at - RECENT_S)
        else:
            series = source.series(host, key, at - RECENT_S, at, 16)
        known = [float(v) for v in series.value if not math.isnan(v)]
        if known:
            found[key] = known[-1]
    return found


def machine_rows(values: Values, catalogue: Sequence[Metric]) -> tuple[Row, ...]:
    """Return what samples say of the machine and of InnoDB on it, in the inspector's words."""
    numbers = Numbers(values, {metric.key: metric for metric in catalogue})
    rows = (
        _cpu(numbers),
        _row(numbers, mark("including iowait"), "cpu.iowait", format_percent),
        _row(numbers, mark("in COMMIT"), "commit.threads", lambda v: plural(round(v), "{n} thread", "{n} threads")),
        _redo(numbers),
        _row(numbers, mark("disk write"), "disk.write_latency", lambda v: format_duration(v / 1000.0)),
        _row(numbers, mark("statements"), "load.questions", lambda v: f"{format_number(v)} /s"),
    )
    return tuple(row for row in rows if row is not None)


def _cpu(numbers: Numbers) -> Row | None:
    values = numbers.values
    if not {"cpu.user", "cpu.system", "cpu.available"} <= values.keys():
        return None
    user, system, free = values["cpu.user"], values["cpu.system"], values["cpu.available"]
    return (
        mark("CPU"),
        tr("us {user:.0f} · sy {system:.0f} · available {free:.0f} %", user=user, system=system, free=free),
        _health(numbers, "cpu.available"),
    )


def _redo(numbers: Numbers) -> Row | None:
    capacity = numbers.values.get("innodb.redo_capacity")

    def words(value: float) -> str:
        share = format_percent(value)
        return tr("{share} of {capacity}", share=share, capacity=format_bytes(capacity)) if capacity else share

    return _row(numbers, mark("redo age"), "innodb.checkpoint_age_share", words)


def _row(numbers: Numbers, words: str, key: str, write: Callable[[float], str]) -> Row | None:
    value = numbers.values.get(key)
    return None if value is None else (words, write(value), _health(numbers, key))


def _health(numbers: Numbers, key: str) -> Health:
    metric = numbers.catalogue.get(key)
    value = numbers.values[key]
    if metric is None:
        return Health.UNKNOWN
    for limit, health in ((metric.bad, Health.BAD), (metric.warn, Health.WARN)):
        if limit is not None and (value >= limit if metric.higher_is_worse else value <= limit):
            return health
    return Health.UNKNOWN
