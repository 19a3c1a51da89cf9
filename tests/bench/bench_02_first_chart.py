"""Budget 2: the program opens a recording; its first chart with data painted, and the loop's lateness on the way.

Beside it the longest stall of a walk through the window, by the program's own meter (issue: never beyond 50 ms).

The way has four parts: importing (worker thread), furnishing the window (GUI thread, in steps), opening the recording
(worker), building the pages (GUI thread). The budget speaks of importing; the longest of the others is told beside it.
"""

from __future__ import annotations

import statistics

from tests.bench.model import Row
from tests.bench.support.starting import make_recording, starts

LIMIT_X, LIMIT_MS, WALK_LIMIT_MS, THEME_LIMIT_MS = 5.8, 16.0, 50.0, 200.0


WALKS = 3


def _walk_rows(walks: list[dict[str, float]]) -> tuple[Row, Row]:
    """Return the stalls that go by unnoticed, and the one that a person asks for: another theme, once."""
    parts = {part: statistics.median(walk[part] for walk in walks) for part in walks[0]}
    theme = parts.pop("theme")
    detail = ", ".join(f"{part} {ms:.0f} ms" for part, ms in parts.items())
    return (
        Row(2, "c", "longest stall of start, pages and finder", max(parts.values()), WALK_LIMIT_MS, "ms",
            detail=f"the program's own meter, medians of {WALKS}: {detail}"),
        Row(2, "d", "a change of theme, at once", theme, THEME_LIMIT_MS, "ms",
            detail=f"the program's own meter, median of {WALKS}"),
    )  # fmt: skip


def run(rounds: int) -> list[Row]:
    """Start both, by turns, after one start of each that nobody counts."""
    turns = max(rounds, 5)
    with starts() as both:
        recording = make_recording(both.folder / "bench.pilothouse")
        arguments = ("program", "chart", "--data", str(both.folder / "data"), "replay", str(recording))
        both.start(*arguments), both.empty()
        pairs = [(both.start(*arguments), both.empty()) for _ in range(turns)]
        walk = ("walk", "--data", str(both.folder / "data"), "replay", str(recording))
        walks = [both.start(*walk)["late"] for _ in range(WALKS)]
    ratio = statistics.median(told["chart"] / empty for told, empty in pairs)
    chart, empty = (statistics.median(column) for column in zip(*((t["chart"], e) for t, e in pairs), strict=True))
    late = {phase: statistics.median(told["late"][phase] for told, _ in pairs) for phase in pairs[0][0]["late"]}
    others = ", ".join(f"{phase} {ms:.0f} ms" for phase, ms in late.items() if phase not in {"importing", "opening"})
    imports = max(late["importing"], late["opening"])
    return [
        Row(2, "a", "first chart painted, against an empty PySide6 window", ratio, LIMIT_X,
            detail=f"{chart:.0f} : {empty:.0f} ms, {turns} rounds"),
        Row(2, "b", "longest stall of the event loop while importing", imports, LIMIT_MS, "ms",
            detail=f"a 16 ms timer's lateness, median of {turns}; beside it {others}"),
        *_walk_rows(walks),
    ]  # fmt: skip
