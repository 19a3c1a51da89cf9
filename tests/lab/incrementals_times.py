"""How long a rejoin from a full backup and two incrementals takes on gigabytes, beside a plain SST; and a model of it.

Run by tests/lab/rejoin_times.py.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from services.procedures.plan.run_model import RunState, RunView
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import dataset, load
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.writer import TABLE, Writer

JOINER, DONORS = "s3", ("s1", "s2")
FOLDER = "/srv/rejoin/chain"
NAMES = ("full", "inc1", "inc2")
COMPARED = (TABLE, "big.account", "big.entry")
RUN_LIMIT_S = 3_600.0
MODEL_BYTES, MODEL_INCREMENTALS = 10**12, (20 * 10**9, 200 * 10**9)
_BACKUP = (
    "mariadb-backup --backup --galera-info --target-dir={at}/{name} {base} > {at}/{name}.out 2>&1 "
    "|| {{ tail -n 5 {at}/{name}.out >&2; exit 1; }}; du -sb {at}/{name} | cut -f1"
)


@dataclass(frozen=True, slots=True)
class Found:
    """Bytes of each backup and of the restored data, seconds of each step, of the run and of the SST."""

    sizes: tuple[int, ...]
    restored: int
    steps: dict[str, float]
    run_s: float
    sst_s: float
    acknowledged: int

    def of(self, name: str) -> float:
        """Seconds of a step; never zero."""
        return max(0.01, self.steps.get(f"{name}-{JOINER}", 0.0))

    @property
    def incrementals(self) -> int:
        """Bytes of both."""
        return sum(self.sizes[1:])


def measure(estate: Estate, size: int, busy_s: int) -> Found:
    """Make data and a chain, lose a node's disk, bring it back by the chain, and once more by an SST."""
    estate.undo()
    estate.wait_synced(size=3)
    if dataset.files(estate.spec, "s1") < size:
        dataset.make(estate.spec, "s1", dataset.DataSet(size))
    estate.sql("s1", "GRANT SELECT ON *.* TO observer@'%'")
    with tempfile.TemporaryDirectory() as data, Writer(estate, DONORS, rate=30.0, seconds=590.0) as writer:
        sizes = _chain(estate, busy_s)
        estate.host(JOINER).sh("systemctl stop mariadb", limit_s=120)
        _lose(estate)
        console = Console(estate, Path(data))
        given = {"joiner": JOINER, "settle": "3 s", "tables": ", ".join(COMPARED), "tables_unknown": "yes"}
        inputs = [f"--input={name}={value}" for name, value in given.items()]
        began = time.monotonic()
        ran = console("run", "rejoin-from-incrementals", *inputs, "--yes", limit_s=RUN_LIMIT_S)
        run_s = time.monotonic() - began
        view = console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost((*DONORS, JOINER))
        restored = int(estate.host(JOINER).sh("du -sb /var/lib/mysql | cut -f1").out)
    estate.host(JOINER).sh(f"systemctl stop mariadb; rm -rf {FOLDER}", limit_s=120)
    _lose(estate)
    began = time.monotonic()
    estate.host(JOINER).sh("systemctl start mariadb", limit_s=900)
    estate.wait_synced((*DONORS, JOINER))
    return Found(sizes, restored, _seconds(view), run_s, time.monotonic() - began, len(writer.acknowledged))


def _chain(estate: Estate, busy_s: int) -> tuple[int, ...]:
    """Back up in full, then twice what as many transactions as go have changed; return the bytes of each."""
    host, sizes = estate.host(JOINER), list[int]()
    host.sh(f"rm -rf {FOLDER} && mkdir -p {FOLDER}")
    for before, name in zip((None, *NAMES), NAMES, strict=False):
        if before is not None:
            load.start(estate.spec, load.Load("oltp_write_only", busy_s, 0, 4, 4, 10_000), ["s1"])
            time.sleep(busy_s + 3.0)
        base = f"--incremental-basedir={FOLDER}/{before}" if before is not None else ""
        sizes.append(int(host.sh(_BACKUP.format(at=FOLDER, name=name, base=base), limit_s=300).out))
    return tuple(sizes)


def _lose(estate: Estate) -> None:
    estate.host(JOINER).sh("find /var/lib/mysql -mindepth 1 -delete")


def _seconds(view: RunView) -> dict[str, float]:
    return {s.step.step_id: (s.ended or 0.0) - (s.started or 0.0) for s in view.steps if s.ended is not None}


def section(found: Found, command: str, when: str) -> str:
    """Return the page's part."""
    copy = sum(found.sizes) / found.of("copy")
    full, later = found.sizes[0] / found.of("prepare-0"), found.incrementals / _later(found)
    back, sst = found.sizes[0] / found.of("copy-back"), found.sizes[0] / found.sst_s
    order = ("history", "copy", "prepare-0", "prepare-1", "prepare-2", "copy-back", "recover", "start", "compare")
    model = [_model(more, copy, full, later, back, sst) for more in MODEL_INCREMENTALS]
    rates = (
        f"copies {copy / 1e6:.0f} MB/s, prepare of the full backup {full / 1e6:.0f} MB/s, of incrementals "
        f"{later / 1e6:.0f} MB/s, copy back {back / 1e6:.0f} MB/s, SST {sst / 1e6:.0f} MB/s"
    )
    sizes = ", ".join(f"{name} {size / 1e9:.2f} GB" for name, size in zip(NAMES, found.sizes, strict=True))
    lines = (
        f"Generated by `{command}`, {when}: the same",
        "estate, a machine with two cores and much other load. An application wrote all the time:",
        f"{found.acknowledged} rows were acknowledged, none was lost.",
        "",
        f"{sizes}; restored {found.restored / 1e9:.2f} GB.",
        "",
        "| step | time |",
        "| --- | --- |",
        *(f"| {name} | {found.of(name):.1f} s |" for name in order),
        f"| the whole run, including checks and waits | {found.run_s:.0f} s |",
        f"| a plain SST of the same data (mariabackup) | {found.sst_s:.0f} s |",
        "",
        f"The run took {found.run_s / found.sst_s:.1f} times as long as the SST. Rates: {rates}.",
        "",
        "### A model at 1 TB",
        "A full backup of 1 TB and two incrementals, extrapolated from these rates; the rest of a run takes the same",
        "time at any size. The time to prepare a full backup depends on the writes during the backup, not on its size;",
        "a small incremental takes a second or two whatever its content, so its rate is a minimum. The SST loads a",
        "donor and the network the whole time; the rejoin loads neither until its IST.",
        "",
        "| incrementals, both | copies | prepares | copy back | total | SST |",
        "| --- | --- | --- | --- | --- | --- |",
        *model,
        "",
        "A member must cache all writes between the last incremental and the start: for the total time plus the time",
        "before it. A later incremental shortens this.",
        "",
    )
    return "\n".join(lines)


def _later(found: Found) -> float:
    return found.of("prepare-1") + found.of("prepare-2")


def _model(more: int, copy: float, full: float, later: float, back: float, sst: float) -> str:
    copies, prepares, placed = (MODEL_BYTES + more) / copy, MODEL_BYTES / full + more / later, MODEL_BYTES / back
    seconds = (copies, prepares, placed, copies + prepares + placed, MODEL_BYTES / sst)
    return f"| {more / 1e9:.0f} GB | {' | '.join(f'{one / 3600:.1f} h' for one in seconds)} |"
