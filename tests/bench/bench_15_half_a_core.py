"""Budget 15: the window's event loop is never late by more than 50 ms, with a whole core and with half of one.

The real window watches three private MariaDB servers under work, its pages turned; first as it is, then with a control
group's quota around it alone. A minute each: the soak (tests/lab/soak.py --half) does it for half an hour with Galera.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.bench.model import Row, missing
from tests.bench.support.control_group import control_group
from tests.bench.support.private_servers import mariadb, work
from tests.bench.support.soaked import Soaked, soaked
from tests.bench.support.starting import write_inventory
from tests.bench.support.unavailable import Unavailable

SERVERS, PER_SECOND, SECONDS = 3, 40.0, 60.0
LIMIT_MS = 50.0


def run(rounds: int) -> list[Row]:
    """Measure with a whole core, then with half of one."""
    del rounds
    with ExitStack() as stack:
        servers = [stack.enter_context(mariadb()) for _ in range(SERVERS)]
        for server in servers:
            stack.enter_context(work(server, per_second=PER_SECOND))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-bench-")))
        inventory = write_inventory(folder / "inventory.toml", *(server.port for server in servers))
        return [_measure("a", inventory, half=False), _measure("b", inventory, half=True)]


def _measure(part: str, inventory: Path, *, half: bool) -> Row:
    title = f"stalls of the event loop over 50 ms in a minute, {SERVERS} servers, {'half' if half else 'a whole'} core"
    try:
        with control_group("pilothouse-bench", half=half) as group:
            found = soaked(inventory, SECONDS, group)
    except Unavailable as reason:
        return missing(15, part, title, 0.0, reason)
    return Row(15, part, title, float(len(found.late())), 0.0, "stalls", detail=_told(found))


def _told(found: Soaked) -> str:
    cost, late = found.cost, found.late()
    longest = max((stall.ms for stall in late), default=0.0)
    own = max((stall.own_ms for stall in late), default=0.0)
    return (
        f"longest {longest:.0f} ms, most CPU of the window's thread in one {own:.0f} ms; "
        f"{len(found.stalls) - len(late)} more while it started; "
        f"{100 * cost.cpu_s / max(1.0, cost.uptime_s):.1f} % of a core, held back {found.held_back_s:.1f} s"
    )
