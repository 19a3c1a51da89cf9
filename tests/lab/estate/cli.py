"""The command line of the lab: `packaging/lab.py VERB ESTATE ...`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.requirements import unavailable_reason

_START = time.monotonic()


def say(text: str) -> None:
    print(f"[{time.monotonic() - _START:6.1f} s] {text}", file=sys.stderr, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="lab.py")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("up", "down"):
        verbs.add_parser(verb).add_argument("estate")
    options = parser.parse_args(argv)
    reason = unavailable_reason()
    try:
        if reason is not None:
            raise LabError(reason)
        estate = Estate(options.estate)
        if options.verb == "up":
            estate.up(say)
        else:
            estate.down(say)
    except LabError as exc:
        print(f"lab: {exc}", file=sys.stderr)
        return 1
    return 0
