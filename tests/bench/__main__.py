"""Run the benchmarks: `python -m tests.bench [--only 1,2] [--rounds N] [--out FILE]`; prints a Markdown table.

A module `tests/bench/bench_NN_name.py` has `run(rounds: int) -> list[Row]`; it may raise `Unavailable` with a reason.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import platform
import sys
import time
from pathlib import Path

import tests.bench as package
from tests.bench.model import Row, table
from tests.bench.support.unavailable import Unavailable

EMPTY_ROWS = 3


def _modules(only: set[int]) -> list[str]:
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name.startswith("bench_"))
    return [name for name in names if not only or int(name.split("_")[1]) in only]


def main(argv: list[str] | None = None) -> int:
    """Run the chosen benchmarks, print and optionally write the table.

    Returns 0 whatever the figures are: benchmarks report only; 3 when a budget got no figure.
    """
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--only", default="", help="budget numbers, comma separated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=None, help="write the page here")
    options = parser.parse_args(argv)
    only = {int(n) for n in options.only.split(",") if n}
    rows: list[Row] = []
    notes: list[str] = []
    for name in _modules(only):
        started = time.monotonic()
        try:
            rows += importlib.import_module(f"tests.bench.{name}").run(options.rounds)
        except Unavailable as reason:
            notes.append(f"- {name}: not measured: {reason}")
        sys.stderr.write(f"{name}: {time.monotonic() - started:.1f} s\n")
    page = (
        "# Benchmarks\n\nWritten by `python3 packaging/bootstrap.py bench`. Both sides of a ratio are measured "
        "in one run, alternating; figures are medians.\n"
        f"Python {platform.python_version()}, {platform.system()}, {options.rounds} rounds.\n\n" + table(rows)
    )
    if notes:
        page += "\n" + "\n".join(notes) + "\n"
    sys.stdout.write(page)
    if options.out:
        options.out.write_text(page, encoding="utf-8")
    unmeasured = [f"{row.number}{row.part}" for row in rows if not row.measured]
    if notes or unmeasured:
        sys.stderr.write(f"not all was measured: {' '.join(unmeasured)} {' '.join(notes)}\n")
    return EMPTY_ROWS if notes or unmeasured else 0


if __name__ == "__main__":
    sys.exit(main())
