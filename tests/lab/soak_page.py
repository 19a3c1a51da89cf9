"""What a soak writes: one column of figures for each run, then stalls and memory. Pure: values in, a page out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.bench.support.soaked import Soaked
from tests.bench.support.soaked_memory import SETTLED_S, Memory, Slope, held_slope, objects_slope


@dataclass
class Findings:
    """What one run saw; `half`: with half a core for the console. `provoked`: (begin, end), UTC epoch seconds."""

    window: Soaked
    half: bool = False
    provoked: list[tuple[float, float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return what the page calls the run."""
        return "half a core" if self.half else "measured"


def report(runs: Sequence[Findings], minutes: float, beside: str) -> str:
    """Return the page."""
    columns = [_rows(found) for found in runs]
    names = [what for what, _ in columns[0]]
    option = " --half" if any(found.half for found in runs) else ""
    lines = [
        "# Soak",
        "",
        f"Written by `python -m tests.lab.soak --minutes {minutes:g}{option}`: the window as the program starts it,",
        "off screen, three Galera nodes (MariaDB 10.11), sysbench at 40 transactions a second, pages turned each 10 s,",
        f"n3 killed once. Begun {_clock(runs[0].window.began)} UTC, 0 min below. {beside}".rstrip(),
        *(_HALF if option else ()),
        "",
        f"| what | {' | '.join(found.name for found in runs)} |",
        f"| --- |{' --- |' * len(runs)}",
        *(f"| {what} | {' | '.join(column[i][1] for column in columns)} |" for i, what in enumerate(names)),
        "",
    ]
    for found in runs:
        lines += [
            *(f"- unprovoked: {name} at {_clock(at)} for {length:.1f} s" for name, at, length in _unprovoked(found)),
            *_stall_lines(found),
        ]
    return "\n".join([*lines, *_memory_lines(runs[0])]).rstrip() + "\n"


_SETTLED = f"{SETTLED_S / 60:.0f}"
_HALF = (
    "Then once more with half a core for the console: a control group whose quota is 50 ms of processor in each 100 ms",
    "around its process only, all threads together; servers and load keep what they had. What the quota holds back",
    "counts as a wait for a processor.",
)


def _rows(found: Findings) -> list[tuple[str, str]]:
    window = found.window
    cost = window.cost
    unprovoked, late = len(_unprovoked(found)), window.late()
    share = 100 * cost.cpu_s / max(1.0, cost.uptime_s)
    return [
        ("holes over 2.5 s that were not provoked", f"{unprovoked}"),
        ("holes while n3 was down (provoked)", f"{sum(map(len, window.holes.values())) - unprovoked}"),
        (
            f"memory in use after minute {_SETTLED}, less the stores that fill to a bound",
            _grown(held_slope(window.memory), "MB"),
        ),
        (f"Python's objects after minute {_SETTLED}", _grown(objects_slope(window.memory), "million objects")),
        (f"anonymous memory after minute {_SETTLED}, with what the C library keeps free", _pages(window.memory)),
        ("stalls of the event loop over 50 ms once all pages stood", f"{len(late)}"),
        ("of them over 50 ms without the wait for a processor", f"{sum(s.ours_ms > 50 for s in late)}"),
        ("of them with over 50 ms of the console's own CPU time", f"{sum(s.process_ms > 50 for s in late)}"),
        ("longest of them", f"{max((s.ms for s in late), default=0.0):.0f} ms"),
        ("stalls over 50 ms before, while it started", f"{len(window.stalls) - len(late)}"),
        ("held back by the quota, all threads", f"{window.held_back_s:.1f} s" if found.half else "no quota"),
        ("garbage collections over 10 ms, the longest", f"{len(window.collections)}, {_longest(window):.0f} ms"),
        ("polls, missed", f"{cost.polls}, {cost.missed_polls}"),
        ("a poll, median and p95", f"{cost.poll_ms_p50:.1f} ms, {cost.poll_ms_p95:.1f} ms"),
        ("CPU of the console", f"{share:.1f} % of a core"),
    ]


def _grown(slope: Slope | None, unit: str) -> str:
    if slope is None:
        return "too little is known to say"
    return (
        f"{'flat' if slope.flat else 'NOT flat'}: {slope.per_hour / 1e6:+.2f} {unit} an hour, "
        f"{100 * slope.share_per_hour:+.1f} % (median over {slope.readings} readings)"
    )


def _pages(course: Sequence[Memory]) -> str:
    late = [reading.anonymous / 1e6 for reading in course if reading.at_s >= SETTLED_S]
    return f"{late[0]:.1f} MB at first, {min(late):.1f} to {max(late):.1f}, {late[-1]:.1f} at last" if late else "–"


def _longest(window: Soaked) -> float:
    return max((took for _, took in window.collections), default=0.0)


def _unprovoked(found: Findings) -> list[tuple[str, float, float]]:
    return [
        (server, begin, length)
        for server, holes in found.window.holes.items()
        for begin, length in holes
        if not any(start - 3 <= begin <= end + 30 for start, end in found.provoked)
    ]


def _stall_lines(found: Findings) -> list[str]:
    window = found.window
    lines = ["", f"## Stalls over 50 ms{' with half a core' if found.half else ''}", ""]
    if not window.stalls:
        return [*lines, "None."]
    for stall in window.stalls:
        swept = [took for at, took in window.collections if stall.at - stall.ms / 1000 - 0.1 <= at <= stall.at + 0.02]
        garbage = f", garbage collection {sum(swept):.0f} ms" if swept else ""
        lines.append(
            f"- minute {(stall.at - window.began) / 60:.1f} ({_clock(stall.at)}): {stall.ms:.0f} ms, of it CPU of the "
            f"window's thread {stall.own_ms:.0f} ms, of all threads {stall.process_ms:.0f} ms, waited for a processor "
            f"{stall.queued_ms:.0f} ms{garbage}; "
            f"`{stall.doing or 'not seen'}`"
        )
    return lines


def _memory_lines(found: Findings) -> list[str]:
    words = ", ".join(f"n3 down from minute {(a - found.window.began) / 60:.1f} to {(b - found.window.began) / 60:.1f}"
                     for a, b in found.provoked)  # fmt: skip
    return [
        "",
        "## Memory, minute by minute",
        "",
        f"MB (10^6 bytes). {words}.",
        "",
        "| minute | resident | proportional | anonymous | in use in the C heap | of it in bounded stores | objects |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {m.at_s / 60:.0f} | {m.resident / 1e6:.1f} | {m.proportional / 1e6:.1f} | {m.anonymous / 1e6:.1f} "
            f"| {m.in_use / 1e6:.1f} | {m.bounded / 1e6:.2f} | {m.objects} |"
            for m in found.window.memory
        ),
    ]


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(at))
