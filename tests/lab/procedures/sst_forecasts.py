"""How good the forecasts of sst-tuning are: a real SST for each compressor, over a network of a known rate, as a table.

    python -m tests.lab.procedures.sst_forecasts --estate steer --rate 40mbit --size 100MB

Some minutes a row. zstd and lz4 are installed on the three members for it and purged again.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from services.procedures.plan.looks import AT_THE_END
from tests.lab.estate.breaking import slow
from tests.lab.estate.estate import Estate
from tests.lab.estate.host.more_packages import installed
from tests.lab.estate.servers import dataset
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.whole import Whole, members

CHOICES = ("none", "pigz", "lz4", "zstd", "auto")
_TOLD = re.compile(r"took (\d+) s, (\d+) s were forecast \((.*?)\): (\d+ % (?:more|less))")
_LIMIT = re.compile(r"limited by ([a-zA-Z ]+)\. As it")
HEAD = "| asked for | chosen | limited by | forecast s | took s | error |\n| --- | --- | --- | --- | --- | --- |"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def row(console: Console, asked: str) -> str:
    """Run one trial to s3 and return its row; the reason where it did not end well."""
    ran = console.run("sst-tuning", "--confirm", "s3", donor="s1", joiner="s3", trial="s3", compressor=asked)
    said = next((text for name, text in console.view().kept if name.startswith(AT_THE_END)), "")
    found, limit = _TOLD.search(said), _LIMIT.search(" ".join(ran.out.split()))
    if ran.code or found is None:
        return f"| {asked} | it ended with {ran.code}: {console.view().sentence} | | | | |"
    took, forecast, chosen, error = found.groups()
    return f"| {asked} | {chosen} | {limit[1] if limit is not None else ''} | {forecast} | {took} | {error} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Make the data, slow the wire, print a row for each compressor."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.procedures.sst_forecasts", description=__doc__)
    parser.add_argument("--estate", default="steer")
    parser.add_argument("--rate", default="40mbit", help="of the joiner's wire: 500kbit, 40mbit, 1gbit")
    parser.add_argument("--size", type=int, default=100, help="MB of data")
    parser.add_argument("--only", default=",".join(CHOICES), help="compressors, by commas")
    options = parser.parse_args(argv)
    estate = Estate(options.estate)
    whole = Whole(estate)
    dataset.make(estate.spec, "s1", dataset.DataSet(options.size * 10**6), _say)
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="pilothouse-forecasts-") as folder:
        for name in members(estate):
            stack.enter_context(installed(estate, name, ("zstd", "lz4")))
        slow.slow(estate.spec, "s3", slow.Wire(rate_kbit=slow.parse_kbit(options.rate)))
        stack.callback(slow.heal, estate.spec, "s3")
        _say(HEAD)
        for asked in options.only.split(","):
            _say(row(Console(estate, Path(folder) / asked), asked))
    estate.sql("s1", f"DROP DATABASE {dataset.SCHEMA}", limit_s=60)
    whole.restore()
    return 0


if __name__ == "__main__":
    sys.exit(main())
