"""`sample`: watch and print, one line a second and server; the last line tells what watching cost."""

from __future__ import annotations

import math
import sys
import threading
import time
from argparse import Namespace

from app.cli.arguments import FINDINGS, GOOD
from app.cli.machine import print_json
from app.cli.no_answer import Silence
from app.compose import last_window_cost, open_watcher
from services.discovery.naming import shown_names
from services.errors import BadInput
from services.i18n import tr
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.model import ConsoleCost
from services.sampling.watcher import Watcher

_DEFAULT = (
    "load.threads_running",
    "cpu.available",
    "commit.threads",
    "innodb.checkpoint_age_share",
    "galera.recv_queue",
    "galera.paused",
    "ist.reach",
    "repl.lag",
)
"""What is printed when no --metric is named: one number for each of the three things this program watches first."""
_AHEAD_S = 1.0
"""No sample is from so far ahead: its moment is a clock's that was set back since."""


def run(options: Namespace) -> int:
    """Sample until the time is over or the person interrupts."""
    known = {metric.key for metric in load_catalogue()}
    keys = tuple(options.metric) or tuple(key for key in _DEFAULT if key in known)
    unknown = [key for key in keys if key not in known and not key.replace(".", "_").replace("-", "_").isidentifier()]
    if unknown:
        raise BadInput(
            tr("Not a metric: {names}.", names=", ".join(unknown)), try_=(tr("See resources/docs/metrics.md."),)
        )
    stop = threading.Event()
    watcher = open_watcher(options)
    watcher.start()
    try:
        _print_until(watcher, keys, stop, options.duration, as_json=getattr(options, "json", False))
    except KeyboardInterrupt:
        pass
    finally:
        cost, answered = watcher.cost(), watcher.snapshot().hosts_answering
        watcher.stop()
    _print_cost(cost, last_window_cost(options), as_json=getattr(options, "json", False))
    return GOOD if answered else FINDINGS


def _print_until(
    watcher: Watcher, keys: tuple[str, ...], stop: threading.Event, duration: float | None, *, as_json: bool
) -> None:
    ends = time.monotonic() + duration if duration else math.inf
    printed: dict[str, float] = {}
    silence = Silence()
    while time.monotonic() < ends and not stop.wait(min(1.0, max(0.01, ends - time.monotonic()))):
        silence.tell(watcher)
        names = shown_names(watcher.snapshot())
        for server in watcher.servers():
            line = _newest(watcher, server, keys, printed.get(server, 0.0))
            if line is None:
                continue
            printed[server] = line[0]
            name = names.get(server, server)
            if as_json:
                print_json(_document(name, server, *line))
            else:
                sys.stdout.write(_as_text(name, *line))
        sys.stdout.flush()


def _newest(
    watcher: Watcher, server: str, keys: tuple[str, ...], after: float
) -> tuple[float, dict[str, float | None]] | None:
    """Return the newest sample's moment and its values (None: not offered, or a gap), None when there is no newer.

    `after` is the moment of the last one; where it lies ahead, the clock was set back meanwhile, and any is newer.
    """
    now = time.time()
    after = after if after <= now + _AHEAD_S else 0.0
    at: float = after
    values: dict[str, float | None] = {}
    for key in keys:
        series = watcher.tail(server, key, now - 5.0)
        if len(series.t) and series.t[-1] > after:
            at = max(at, float(series.t[-1]))
            last = float(series.value[-1])
            values[key] = None if math.isnan(last) else last
        else:
            values[key] = None
    return (at, values) if at > after else None


def _document(name: str, host: str, at: float, values: dict[str, float | None]) -> dict[str, object]:
    return {"at": round(at, 3), "server": name, "host": host, "values": values}


def _as_text(name: str, at: float, values: dict[str, float | None]) -> str:
    clock = time.strftime("%H:%M:%S", time.localtime(at))
    shown = "  ".join(f"{key} {'–' if value is None else format(value, '.4g')}" for key, value in values.items())
    return f"{clock}  {name:<16} {shown}\n"


def _print_cost(cost: ConsoleCost, window: dict[str, float] | None, *, as_json: bool) -> None:
    """Print what this run cost; it has no window, so the stalls of an event loop are those of the last one that had."""
    if as_json:
        document = {name: getattr(cost, name) for name in cost.__slots__ if not name.startswith("ui_")}
        print_json({"cost": document, "last_window": window})
        return
    share = 100.0 * cost.cpu_s / cost.uptime_s if cost.uptime_s else 0.0
    took = tr("{p50:.0f} ms (p95 {p95:.0f} ms)", p50=cost.poll_ms_p50, p95=cost.poll_ms_p95)
    sys.stderr.write(
        tr(
            "{polls} polls, {missed} missed, {took}; {share:.1f} % of a core, {memory:.0f} MB",
            polls=cost.polls,
            missed=cost.missed_polls,
            took=took if cost.poll_ms_p95 else tr("none answered"),
            share=share,
            memory=cost.rss_bytes / 1e6,
        )
        + "\n"
    )
