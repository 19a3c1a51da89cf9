"""Random states on real servers, each from a seed: nothing may say 'ok' over a lost or forked row.

    python -m tests.lab.random_states --states 200 --seed 1 --estate matrix-c --for 40m
    python -m tests.lab.random_states --only 17 --only 23          these seeds alone, with all that was said
    python -m tests.lab.random_states --states 40 --seed 10000     nights with a backup: nodes come back without an SST
    python -m tests.lab.random_states --states 20 --seed 20000     a third member that only views left behind name
    python -m tests.lab.random_states --states 200 --seed 21000    half-copied backups, filters, empty state files

Writes resources/docs/random-states.md (and random-states.json beside it, from which a later run goes on: a seed
that has a row is not tried again, unless with --only or --again). Runs on several estates fill one table at the same
time: give two of them `--every 2`, the second one `--seed 2`. A seed that failed and is tried again on a commit that
mends it keeps both in its row (`--only 17 --mended COMMIT`). `--table` writes the page from the rows alone. Exit code 1
when a state failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.locks import lab_lock
from tests.lab.procedures.matrix import ALIKE, DOCS
from tests.lab.procedures.whole import members
from tests.lab.random_states.judging import FAIL
from tests.lab.random_states.nights import any_state
from tests.lab.random_states.page import page, with_row
from tests.lab.random_states.restoring import Pristine
from tests.lab.random_states.trial import Trial, tried

_TIME = re.compile(r"(\d+)([smh])")


def main(argv: list[str] | None = None) -> int:
    """Try the states asked for; write the page after each."""
    options = _options(argv)
    if options.table:
        _write(options.out, _read(options.out))
        return 0
    until = time.monotonic() + options.time
    failed = 0
    with _held(options.estate) as (estate, pristine):
        servers = _servers(estate)
        for seed in _seeds(options):
            _wait_for_calm(options.calm, until)
            if time.monotonic() > until:
                sys.stderr.write(f"the time is over before seed {seed}\n")
                break
            trial = _tried(estate, pristine, seed)
            if trial is None:
                continue
            failed += trial.verdict.word == FAIL
            _tell(trial, options)
            _keep(options.out, {**trial.row(), "servers": servers, **_made_by(options)})
    return 1 if failed else 0


def _wait_for_calm(most: float, until: float) -> None:
    """Begin no state on a machine that others need: a console that waits for its processor proves nothing."""
    while os.getloadavg()[0] > most and time.monotonic() < until:
        time.sleep(5)


def _tried(estate: Estate, pristine: Pristine, seed: int) -> Trial | None:
    """Try one state; where the lab itself fails, once more on an estate that is made anew."""
    for again in (False, True):
        try:
            if again:
                pristine.begin_again()
            pristine.restore()
            return tried(estate, any_state(seed))
        except LabError as problem:
            sys.stderr.write(f"seed {seed}: the lab itself failed: {str(problem)[:500]}\n")
    return None


def _seeds(options: argparse.Namespace) -> Iterator[int]:
    if options.only:
        yield from options.only
        return
    known = {row["seed"] for row in _read(options.out)} if not options.again else set()
    for number in range(options.states):
        seed = options.seed + number * options.every
        if seed not in known:
            yield seed


def _tell(trial: Trial, options: argparse.Namespace) -> None:
    verdict = trial.verdict
    lines = [
        f"seed {trial.state.seed}: {verdict.word} ({verdict.why}), {trial.seconds:.0f} s",
        *(f"    {verb}: {how}" for verb, how in zip(trial.state.verbs, trial.went, strict=True)),
        f"    person: {trial.state.person}",
        *(f"    {one}" for one in trial.asked),
        f"    before {trial.before}, after {trial.after}, model and tables agreed: {trial.agreed}",
        f"    acknowledged {trial.acknowledged}: {verdict}",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    if options.transcripts is not None:
        options.transcripts.mkdir(parents=True, exist_ok=True)
        (options.transcripts / f"{trial.state.seed}.txt").write_text("\n".join(lines) + "\n\n" + trial.transcript)


@contextmanager
def _held(name: str) -> Iterator[tuple[Estate, Pristine]]:
    """The estate, up and quick to restore, for this process alone; as it was afterwards."""
    with lab_lock(f"session-{name}", limit_s=900):
        estate = Estate(name)
        was_up = estate.is_up()
        _made_whole(estate)
        pristine = Pristine(estate)
        try:
            yield estate, pristine
        finally:
            pristine.give_back()
            if not was_up:
                estate.down()


def _made_whole(estate: Estate) -> None:
    """Bring the estate up; one that a killed run has left in forks can't be undone and is made anew."""
    estate.up()
    try:
        estate.undo()
    except LabError:
        estate.down()
        estate.up()


def _made_by(options: argparse.Namespace) -> dict[str, str]:
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"commit": _commit(), "day": day, "estate": options.estate, "mended": options.mended}


def _keep(out: Path, row: dict[str, object]) -> None:
    """Write one row beside those of every other run, also of one that goes on at the same time."""
    with lab_lock("random-states-page", limit_s=60):
        _write(out, with_row(_read(out), row))


def _write(out: Path, rows: list[dict[str, object]]) -> None:
    out.with_suffix(".json").write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    out.write_text(page(rows), encoding="utf-8")


def _read(out: Path) -> list[dict[str, object]]:
    kept = out.with_suffix(".json")
    return list(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else []


def _commit() -> str:
    asked = ("git", "rev-parse", "--short", "HEAD")
    return subprocess.run(asked, cwd=DOCS, capture_output=True, text=True, check=True, timeout=20).stdout.strip()


def _servers(estate: Estate) -> str:
    asked = "dpkg-query -W -f='${Package} ${Version} ' mariadb-server galera-4"
    return estate.host(members(estate)[0]).sh(asked).out.strip()


def _seconds(text: str) -> float:
    found = _TIME.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 40m")
    return float(found.group(1)) * {"s": 1, "m": 60, "h": 3600}[found.group(2)]


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.random_states", description=__doc__)
    parser.add_argument("--states", type=int, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the first seed")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th seed, beside another run")
    parser.add_argument("--only", type=int, action="append", default=[], metavar="SEED")
    parser.add_argument("--calm", type=float, default=1000.0, metavar="LOAD", help="begin a state below this load only")
    parser.add_argument("--again", action="store_true", help="seeds that have a row too")
    parser.add_argument("--mended", default="", metavar="COMMIT", help="what mended the failure that is tried again")
    parser.add_argument("--table", action="store_true", help="write the page from the rows; try nothing")
    parser.add_argument("--estate", default="steer", choices=ALIKE)
    parser.add_argument(
        "--for", dest="time", type=_seconds, default=_seconds("3h"), metavar="40m", help="begin no more"
    )
    parser.add_argument("--out", type=Path, default=DOCS / "random-states.md", metavar="FILE")
    parser.add_argument("--transcripts", type=Path, default=None, metavar="DIR", help="keep what the console printed")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
