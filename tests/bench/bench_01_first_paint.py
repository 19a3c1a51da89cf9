"""Budget 1: the program's window, from the start of its process to the end of its first paint, beside an empty one.

The first paint is that of the empty frame (widgets.frame.first_frame); the detail says when the real widgets stand.
"""

from __future__ import annotations

import statistics

from tests.bench.model import Row, paired
from tests.bench.support.private_servers import free_port
from tests.bench.support.starting import starts, write_inventory

LIMIT = 1.15


def run(rounds: int) -> list[Row]:
    """Start both, by turns, after one start of each that nobody counts (byte code, disk cache)."""
    with starts() as both:
        inventory = write_inventory(both.folder / "inventory.toml", free_port())
        arguments = ("--data", str(both.folder / "data"), "--inventory", str(inventory))

        def program() -> float:
            return float(both.start("program", "painted", *arguments)["painted"])

        program(), both.empty()
        ratio, mine, empty = paired(program, both.empty, max(rounds, 7))
        whole = statistics.median(both.start("program", "furnished", *arguments)["furnished"] for _ in range(3))
    title = "window first painted, against an empty PySide6 window"
    detail = f"{mine:.0f} : {empty:.0f} ms; its widgets stand at {whole / empty:.2f} x, {max(rounds, 7)} rounds"
    return [Row(1, "", title, ratio, LIMIT, detail=detail)]
