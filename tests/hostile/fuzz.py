"""Damaged replies by the thousand: `python -m tests.hostile.fuzz [HOW_MANY] [SEED]`, 20,000 where nothing is said.

Each is a talk of a server with bytes changed, left out, doubled or cut; or what it and its host answered after a login,
damaged, and what the console makes of it (roads.py). The console must end each with a value or with a UserError;
anything else is printed with its number, which together with the seed makes it again.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from dataclasses import dataclass, field

from services.errors import UserError
from tests.hostile.memory import grown
from tests.hostile.roads import Roads

PURE_MOST_S = 2.0
"""Processor time that one answer may take, on a slow and shared machine; the usual one takes milliseconds."""


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        tried, reached: how many on each road, and how many of them got as far as the server.
        slowest_s: the slowest talk, its limits included; slowest_read_s: the most processor time for one answer.
        grown: bytes; escaped: each escape as a traceback.
    """

    tried: dict[str, int] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0
    slowest_read_s: float = 0.0
    slowest_read: str = ""
    grown: int = 0
    escaped: list[str] = field(default_factory=list)


def fuzz(how_many: int, seed: int) -> Outcome:
    """Try so many damaged answers, the same for the same seed."""
    outcome = Outcome()
    roads = Roads()
    try:
        with grown() as memory:
            for number in range(how_many):
                _try(number, random.Random(seed * 1_000_003 + number), roads, outcome)
        outcome.grown = memory.bytes
    finally:
        roads.close()
    return outcome


def _try(number: int, chance: random.Random, roads: Roads, outcome: Outcome) -> None:
    road = roads.all[number % len(roads.all)]
    before, began, used = roads.reached(), time.monotonic(), time.thread_time()
    try:
        road.ask(chance)
    except UserError:
        pass
    except Exception:  # noqa: BLE001 - what escapes is what is looked for
        outcome.escaped.append(f"number {number}, {road.name}: {traceback.format_exc()}")
    took, used = time.monotonic() - began, time.thread_time() - used
    outcome.tried[road.name] = outcome.tried.get(road.name, 0) + 1
    outcome.reached[road.name] = outcome.reached.get(road.name, 0) + (not road.talks or roads.reached() > before)
    outcome.slowest_s = max(outcome.slowest_s, took)
    if used > outcome.slowest_read_s:
        outcome.slowest_read_s, outcome.slowest_read = used, f"number {number}, {road.name}"
    if used > PURE_MOST_S:
        outcome.escaped.append(f"number {number}, {road.name}: {used:.1f} s of processor time")


def main() -> int:
    """Run from the command line; 1 where something escaped."""
    how_many = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 30)
    sys.stdout.write(f"{how_many} damaged answers, seed {seed}\n")
    outcome = fuzz(how_many, seed)
    for told in outcome.escaped[:20]:
        sys.stdout.write(f"{told}\n")
    for road, tried in outcome.tried.items():
        sys.stdout.write(f"  {road}: {tried} tried, {outcome.reached[road]} reached the reader\n")
    sys.stdout.write(
        f"{sum(outcome.tried.values())} tried, {len(outcome.escaped)} escaped, slowest {outcome.slowest_s:.1f} s, "
        f"most processor time {outcome.slowest_read_s:.2f} s ({outcome.slowest_read}), "
        f"memory grew {outcome.grown / 1e6:.0f} MB\n"
    )
    return 1 if outcome.escaped else 0


if __name__ == "__main__":
    raise SystemExit(main())
