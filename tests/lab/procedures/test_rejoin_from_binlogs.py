"""rejoin-from-binlogs on real servers: refused, cut short and taken back, killed and resumed to its proof, again.

One node is away with its disk lost; its backup is older than every donor's cache, and the binary logs close the gap.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures import rejoining
from tests.lab.procedures.rejoining import BACKUP, LOGS
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole
from tests.lab.procedures.writer import TABLE, Writer

NAME, JOINER, DONORS = "rejoin-from-binlogs", "s3", ("s1", "s2")
INPUTS = {"joiner": JOINER, "backup": BACKUP, "binlogs": LOGS, "settle": "3 s", "tables": TABLE}
OLD = "/var/lib/mysql/an-old-file"


@pytest.fixture
def lost(steer: Estate, whole: Whole) -> Iterator[Writer]:
    """s3 down with nothing but a file in its data folder, a backup and logs beside it, and writes that go on."""
    del whole
    steer.sql("s1", "GRANT SELECT ON sbtest.* TO observer@'%'")
    with Writer(steer, DONORS, rate=30.0) as writer:
        steer.host(JOINER).sh("rm -rf /var/lib/mysql/.pilothouse-before")
        seqno = rejoining.back_up(steer, JOINER)
        rejoining.forget(steer, seqno, "s1", DONORS)
        rejoining.away(steer, JOINER)
        steer.host(JOINER).sh(
            f"find /var/lib/mysql -mindepth 1 -delete; install -o mysql -g mysql -m 600 /dev/null {OLD}"
        )
        yield writer
    steer.sql("s1", "REVOKE SELECT ON sbtest.* FROM observer@'%'; DROP TABLE IF EXISTS sbtest.ballast")
    steer.host(JOINER).sh("rm -rf /srv/rejoin /var/lib/mysql/.pilothouse-before")


def _there(estate: Estate) -> list[str]:
    return (
        estate.host(JOINER)
        .sh("ls -A /var/lib/mysql; find /srv/rejoin | sort | xargs -d '\\n' stat -c '%n %s %Y'")
        .out.split("\n")
    )


def _refused(console: Console, code: str) -> None:
    ran = console.run(NAME, **INPUTS)
    assert ran.code == 3, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    assert code in "".join(step.error for step in view.steps), ran


def test_that_a_node_comes_back_by_ist_from_a_backup_older_than_every_cache(
    steer: Estate, console: Console, lost: Writer
) -> None:
    before = _there(steer)

    missing = steer.host(JOINER).sh(f"ls {LOGS}").out.split()[-2]
    steer.host(JOINER).sh(f"mv {LOGS}/{missing} /srv/rejoin/away")
    _refused(console, "BINLOG-GAP")
    steer.host(JOINER).sh(f"mv /srv/rejoin/away {LOGS}/{missing}")
    assert [line.split()[0] for line in _there(steer) if line] == [line.split()[0] for line in before if line]

    # A replay that is cut short never counts: the run takes itself back, and the old data are where they were.
    words = ("run", NAME, *(f"--input={name}={value}" for name, value in INPUTS.items()), "--yes")
    with console.running(*words) as running:
        running.wait_for_step(f"replay-{JOINER}")
        steer.host(JOINER).sh("for n in $(seq 100); do pkill -x mariadb-binlog && break; sleep 0.1; done")
        ran = running.end()
    view = console.assert_ended(RunState.UNDONE, ran)
    told = next(step.error for step in view.steps if step.step.step_id == f"replay-{JOINER}")
    assert "the replay broke off" in told, ran
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]
    assert not steer.host(JOINER).sh("pgrep -x mariadbd", check=False).ok

    # Killed while it replays, the run finds the work again; what follows the target comes by IST, and rows are equal.
    ran = console.killed_run(f"replay-{JOINER}=acting", NAME, **INPUTS)
    assert ran.code == KILLED, ran
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code == 0, resumed
    view = console.assert_ended(RunState.DONE, resumed)
    came = next(step for step in view.steps if step.step.step_id == f"transfer-{JOINER}")
    assert "IST" in "".join(came.evidence), resumed
    lost.assert_nothing_lost(("s1", "s2", JOINER))
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql/.pilothouse-before").out.split() == ["an-old-file"]
    assert "pilothouse-replay" not in steer.host(JOINER).sh("ls -A /var/lib/mysql").out
    console.assert_nothing_to_do(NAME, **INPUTS)
