"""How long a rejoin takes, measured on gigabytes, beside a plain SST of the same data; and a model.

`python -m tests.lab.rejoin_times WAY [--size 2GB] [--busy 60]` on the estate `rejoin`, which must be up; WAY is
`binlogs` or `incrementals`. Bounded in bytes and seconds. It writes its part of resources/docs/rejoining.md, what each
step took, rates, and from them what 1 TB would take; the other part stays as it is.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from services.facts.binlog.chain import Chain, Wrong, chain_of
from services.facts.binlog.survey import parse_survey
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import survey_name
from services.procedures.plan.run_model import RunState, RunView
from tests.lab import incrementals_times
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import dataset, load
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import rejoining
from tests.lab.procedures.states.writer import TABLE, Writer

PAGE = Path(__file__).resolve().parents[2] / "resources" / "docs" / "rejoining.md"
JOINER, DONORS = "s3", ("s1", "s2")
COMPARED = (TABLE, "big.account", "big.entry")
HEADS = {"binlogs": "## From binary logs", "incrementals": "## From a full backup and incrementals"}
RUN_LIMIT_S = 3_600.0
MODEL_BYTES, MODEL_LOGS = 10**12, (20 * 10**9, 100 * 10**9)


@dataclass(frozen=True, slots=True)
class Times:
    """What one measurement found: bytes, seconds of each step, the chain, and the SST's seconds."""

    backup_bytes: int
    chain: Chain
    steps: dict[str, float]
    run_s: float
    sst_s: float
    survey_bytes: int

    def of(self, name: str) -> float:
        """Seconds of a step; never zero."""
        return max(0.01, self.steps.get(f"{name}-{JOINER}", 0.0))


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=tuple(HEADS))
    parser.add_argument("--size", type=float, default=2.0, help="GB of data, 8 at most")
    parser.add_argument("--busy", type=int, default=60, help="seconds of as many transactions as go, 300 at most")
    options = parser.parse_args()
    estate = Estate("rejoin")
    if not estate.is_up():
        sys.stderr.write("the estate is down: packaging/lab.py up rejoin\n")
        return 1
    size, busy_s = int(min(options.size, 8.0) * 10**9), min(options.busy, 300)
    if options.way == "binlogs":
        told = page(measure(estate, size, busy_s), options.size, options.busy)
    else:
        command = f"python -m tests.lab.rejoin_times incrementals --size {options.size:g} --busy {options.busy}"
        found = incrementals_times.measure(estate, size, busy_s)
        when = f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())}, load average {os.getloadavg()[1]:.0f}"
        told = incrementals_times.section(found, command, when)
    PAGE.write_text(with_part(PAGE.read_text(encoding="utf-8"), options.way, told), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
    return 0


def with_part(text: str, way: str, sentence: str) -> str:
    """Return the page with one part told anew."""
    head, found = f"{HEADS[way]}\n", f"{HEADS[way]}\n{sentence.rstrip()}\n"
    if head not in text:
        return f"{text.rstrip()}\n\n{found}"
    before, _, rest = text.partition(head)
    others = [at for other in HEADS.values() if (at := rest.find(f"\n{other}\n")) >= 0]
    return before + found + (rest[min(others) :] if others else "")


def measure(estate: Estate, size: int, busy_s: int) -> Times:
    """Make data, lose a node's disk, bring it back from binary logs, and once more by an SST."""
    estate.undo()
    estate.wait_synced(size=3)
    if dataset.files(estate.spec, "s1") < size:
        dataset.make(estate.spec, "s1", dataset.DataSet(size))
    estate.sql("s1", "GRANT SELECT ON *.* TO observer@'%'")
    with tempfile.TemporaryDirectory() as data, Writer(estate, DONORS, rate=30.0, seconds=590.0) as writer:
        seqno = rejoining.back_up(estate, JOINER)
        load.start(estate.spec, load.Load("oltp_write_only", busy_s, 0, 4, 4, 10_000), ["s1"])
        time.sleep(busy_s + 3.0)
        rejoining.forget(estate, seqno, "s1", DONORS)
        rejoining.away(estate, JOINER)
        _lose(estate)
        console = Console(estate, Path(data))
        began = time.monotonic()
        given = {"joiner": JOINER, "backup": rejoining.BACKUP, "binlogs": rejoining.LOGS, "settle": "3 s",
                 "tables": ", ".join(COMPARED), "tables_unknown": "yes"}  # fmt: skip
        inputs = [f"--input={name}={value}" for name, value in given.items()]
        ran = console(
            "run",
            "rejoin-from-binlogs",
            *inputs,
            "--override",
            "RACE=measured",
            *rejoining.OWN_LOGS,
            "--yes",
            limit_s=RUN_LIMIT_S,
        )
        run_s = time.monotonic() - began
        view = console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost(("s1", "s2", JOINER))
    estate.host(JOINER).sh("systemctl stop mariadb", limit_s=120)
    _lose(estate)
    began = time.monotonic()
    estate.host(JOINER).sh("systemctl start mariadb", limit_s=900)
    estate.wait_synced(("s1", "s2", JOINER))
    return _times(view, run_s, time.monotonic() - began)


def _lose(estate: Estate) -> None:
    estate.host(JOINER).sh("find /var/lib/mysql -mindepth 1 -delete")


def _times(view: RunView, run_s: float, sst_s: float) -> Times:
    told = next(value for name, value in view.kept if name == survey_name(JOINER))
    found = parse_survey(told)
    assert not isinstance(found, Wrong)
    backup, files = found
    steps = {s.step.step_id: (s.ended or 0.0) - (s.started or 0.0) for s in view.steps if s.ended is not None}
    return Times(backup.size, chain_of(files, backup), steps, run_s, sst_s, sum(file.reached for file in files))


def page(found: Times, size_gb: float, busy_s: int) -> str:
    """Return the page's part."""
    chain = found.chain
    many = chain.transactions + chain.statements
    copy, back = found.backup_bytes / found.of("prepare"), found.backup_bytes / found.of("copy-back")
    replay_sets, replay_bytes = many / found.of("replay"), chain.bytes / found.of("replay")
    survey, sst = found.survey_bytes / found.of("survey"), found.backup_bytes / found.sst_s
    order = ("survey", "prepare", "copy-back", "replay", "set-position", "recover", "start")
    rows = [f"| {name} | {found.of(name):.1f} s |" for name in order]
    model = [_model(logs, copy, back, replay_bytes, survey, sst) for logs in MODEL_LOGS]
    ratio = found.run_s / found.sst_s
    rates = (
        f"copy and prepare {copy / 1e6:.0f} MB/s, copy back {back / 1e6:.0f} MB/s, survey {survey / 1e6:.0f} MB/s, "
        f"replay {replay_sets:.0f} transactions/s or {replay_bytes / 1e6:.1f} MB/s (one thread), "
        f"SST {sst / 1e6:.0f} MB/s"
    )
    lines = (
        f"Generated by `python -m tests.lab.rejoin_times binlogs --size {size_gb:g} --busy {busy_s}`: MariaDB 10.11.18",
        "with Galera 26.4, three members as containers on one machine with two cores and other load, with",
        "ongoing writes. The ratios are more meaningful than the absolute times.",
        "",
        "### Measured",
        f"Backup {found.backup_bytes / 1e9:.2f} GB, binary logs {chain.bytes / 1e9:.2f} GB, {many} changes.",
        "",
        "| step | time |",
        "| --- | --- |",
        *rows,
        f"| the whole run, including checks and waits | {found.run_s:.0f} s |",
        f"| a plain SST of the same data (mariabackup) | {found.sst_s:.0f} s |",
        "",
        f"The run took {ratio:.1f} times as long as the SST. Rates: {rates}.",
        "",
        "### A model at 1 TB",
        "Extrapolated linearly from these rates; a dedicated machine is faster in all of them. The SST loads a donor",
        "and the network the whole time; the rejoin loads neither until its IST.",
        "",
        "| binary logs | survey | copy, prepare, copy back | replay | total | SST |",
        "| --- | --- | --- | --- | --- | --- |",
        *model,
        "",
        "So this procedure pays off if the SST is slow (a slow network, no spare donor), the backup is already on the",
        "node, and the binary logs are small compared with the data. The race: the donors must keep everything after",
        "the last Xid for the whole time; the procedure reports this before it begins, while it replays, and before",
        "the start.",
        "",
    )
    return "\n".join(lines)


def _model(logs: int, copy: float, back: float, replay: float, survey: float, sst: float) -> str:
    looked, copied, done = logs / survey, MODEL_BYTES / copy + MODEL_BYTES / back, logs / replay
    hours = [f"{seconds / 3600:.1f} h" for seconds in (looked, copied, done, looked + copied + done, MODEL_BYTES / sst)]
    return f"| {logs / 1e9:.0f} GB | {' | '.join(hours)} |"


if __name__ == "__main__":
    sys.exit(main())
