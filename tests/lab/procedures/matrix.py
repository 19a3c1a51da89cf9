"""Every fault in every procedure, and a kill of the console at every journal write, on real servers.

    python -m tests.lab.procedures.matrix                  everything; about two hours
    python -m tests.lab.procedures.matrix --every 5        kills at every fifth write only
    python -m tests.lab.procedures.matrix --only add-node --no-kills
    python -m tests.lab.procedures.matrix --estate matrix-a --only rolling-restart      beside another one on steer

Writes the lab's section of resources/docs/faults.md (and faults.json beside it, from which a later run of a part goes
on). Exit code 1 when a trial failed. The estate `freeze` is left out where
PILOTHOUSE_LAB_GALERA names no provider that can freeze.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.fault_page import write_section
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.spec import TRIALS
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.matrix_page import HEADING, KILLED_ROW, Cells, page
from tests.lab.procedures.scenarios import SCENARIOS, Scenario
from tests.lab.procedures.states import trials
from tests.lab.procedures.states.faults import FAULTS, Fault
from tests.lab.procedures.whole import Whole

ALIKE = ("steer", *(spec.name for spec in TRIALS))
DOCS = Path(__file__).resolve().parents[3] / "resources" / "docs"


def main(argv: list[str] | None = None) -> int:
    """Run the trials asked for; write the page after each."""
    options = _options(argv)
    failed = 0
    for name in (options.estate, "freeze"):
        made_for = "steer" if name in ALIKE else name
        wanted = [s for s in SCENARIOS if s.estate == made_for and (not options.only or s.name in options.only)]
        if not wanted or (name == "freeze" and not os.environ.get("PILOTHOUSE_LAB_GALERA")):
            continue
        with _held(name) as (estate, whole):
            for scenario, row, trial in _trials(wanted, options):
                cell, good = _tried(estate, whole, scenario, row, trial)
                failed += not good
                _keep(row, scenario.name, cell)
    return 1 if failed else 0


Trial = Callable[[Console, Whole], str]


def _trials(wanted: list[Scenario], options: argparse.Namespace) -> Iterator[tuple[Scenario, str, Trial]]:
    for scenario in wanted:
        if not options.no_faults:
            for fault in FAULTS:
                yield scenario, fault.name, partial(_faulted, scenario, fault)
        if not options.no_kills:
            yield scenario, KILLED_ROW, partial(_kills, scenario, options.every, options.at_most)


def _faulted(scenario: Scenario, fault: Fault, console: Console, whole: Whole) -> str:
    del whole  # the trial's own end is enough
    return trials.faulted(console, scenario, fault)


def _kills(scenario: Scenario, every: int, at_most: int, console: Console, whole: Whole) -> str:
    """Kill at write 1, 1 + every, ... until a run ends before its kill."""
    write, done = 1, 0
    while write <= at_most:
        one = Console(console.estate, console.data / f"write-{write}")
        if not trials.killed(one, scenario, write):
            break
        done += 1
        write += every
        whole.restore()
    return f"killed at {done} of its {write - 1} writes: each time the end of an unbroken run"


def _tried(estate: Estate, whole: Whole, scenario: Scenario, row: str, trial: Trial) -> tuple[dict[str, str], bool]:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pilothouse-matrix-") as folder:
        try:
            told, good = trial(Console(estate, Path(folder) / "data"), whole), True
        except (AssertionError, LabError) as problem:
            told, good = f"FAILED: {str(problem).splitlines()[0][:300]}", False
            sys.stderr.write(f"{problem}\n")
    whole.restore()
    seconds = time.monotonic() - began
    sys.stderr.write(f"{scenario.name} / {row}: {told} ({seconds:.0f} s)\n")
    return {"told": told, "day": datetime.now(UTC).strftime("%Y-%m-%d")}, good


@contextmanager
def _held(name: str) -> Iterator[tuple[Estate, Whole]]:
    """The estate, up and whole, for this process alone; down again where it was down."""
    with lab_lock(f"session-{name}", limit_s=900):
        estate = Estate(name)
        was_up = estate.is_up()
        estate.up()
        estate.undo()
        whole = Whole(estate)
        try:
            yield estate, whole
        finally:
            whole.restore()
            if not was_up:
                estate.down()


def _keep(row: str, column: str, cell: dict[str, str]) -> None:
    """Write one cell beside those of every other run, also of one that goes on at the same time."""
    results = DOCS / "faults.json"
    with lab_lock("fault-page", limit_s=60):
        cells: Cells = json.loads(results.read_text(encoding="utf-8"))["cells"] if results.exists() else {}
        cells.setdefault(row, {})[column] = cell
        results.write_text(json.dumps({"cells": cells}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        write_section(HEADING, page(cells))


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.procedures.matrix", description=__doc__)
    parser.add_argument("--only", action="append", default=[], choices=[s.name for s in SCENARIOS])
    parser.add_argument("--estate", default="steer", choices=ALIKE, help="one run on each")
    parser.add_argument("--no-faults", action="store_true", help="only the kills")
    parser.add_argument("--no-kills", action="store_true", help="only the faults")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="kill at every N-th journal write")
    parser.add_argument("--at-most", type=int, default=400, metavar="N", help="no kill after write N")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
