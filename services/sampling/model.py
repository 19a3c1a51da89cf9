"""What the catalogue says of a metric, and what watching costs. Plain frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MetricKind = Literal["counter", "gauge", "gauge_since_flush"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A catalogue entry (resources/metrics.toml): raw or derived, with unit, kind, formula and source.

    Attributes:
        key: stable name of the metric for charts, command line and recordings.
        formula: expression over raw keys, see sampling/metrics/formula.py ("rate(wsrep_flow_control_paused_ns) / 1e9").
        unit: "%", "B", "B/s", "1/s", "s", "ms", "h", "" (a count).
        warn, bad: thresholds, None when there is none; `higher_is_worse` says which side.
        source: document the formula comes from.
        misleading: what the number hides (the help text).
    """

    key: str
    title: str
    unit: str
    kind: MetricKind
    formula: str
    source: str
    needs: tuple[str, ...] = ()
    warn: float | None = None
    bad: float | None = None
    higher_is_worse: bool = True
    misleading: str = ""


@dataclass(frozen=True, slots=True)
class ConsoleCost:
    """What watching costs: the hidden-cost counter of `sample --json` and the status line.

    cpu_s: CPU seconds of this process since start; rss_bytes: resident memory; poll_ms_p95: time of a poll;
    missed_polls: polls not made in their second; ui_stall_ms_max, ui_stalls_over_50ms: the window's event loop.
    """

    cpu_s: float = 0.0
    rss_bytes: int = 0
    polls: int = 0
    missed_polls: int = 0
    poll_ms_p50: float = 0.0
    poll_ms_p95: float = 0.0
    ui_stall_ms_max: float = 0.0
    ui_stalls_over_50ms: int = 0
    uptime_s: float = 0.0
