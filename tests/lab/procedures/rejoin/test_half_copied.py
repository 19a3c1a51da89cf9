"""A backup that was half copied never ends 'done', on real servers: what lacks is named, the old data stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import backups, odd_tables
from tests.lab.procedures.whole import Whole

NAME = "rejoin-from-incrementals"
_HOW: dict[str, object] = {"joiner": "s3", "memory": "128 MiB", "settle": "3 s"}


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[tuple[str, ...]]:
    """Backups of s3 with odd tables in them, flushed into files before they are made, and s3 stopped after more."""
    odd_tables.make(steer, "s1")
    steer.sql("s1", "CREATE TABLE IF NOT EXISTS sbtest.restored (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200))")
    steer.sql("s3", "SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM odd.my2")
    steer.sql("s3", "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, innodb_max_dirty_pages_pct = 0")
    steer.host("s3").sh("sleep 4")
    found = (*backups.make_chain(steer, "s3"), _one_more(steer))
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield found
    finally:
        backups.forget(steer, "s3")
        odd_tables.forget(steer, "s1")


def _one_more(steer: Estate) -> str:
    """Make an incremental that has pages in its deltas, not in its log alone: they are written out before."""
    steer.sql("s1", "INSERT INTO sbtest.restored (text) SELECT REPEAT('z', 150) FROM sbtest.seq_1_to_2000")
    steer.sql("s3", "SET SESSION wsrep_sync_wait = 1; SELECT COUNT(*) FROM sbtest.restored")
    folder = f"{backups.FOLDER}/inc3"
    made = f"mariadb-backup --backup --galera-info --target-dir={folder} --incremental-basedir={backups.FOLDER}/inc2"
    steer.host("s3").sh(f"sleep 6; {made} > /tmp/inc3.log 2>&1")
    return folder


CASES = {
    "a .frm": ("rm full/sbtest/restored.frm", "history-s3", "sbtest/restored lacks its .frm file"),
    "a meta": ("rm inc2/sbtest/restored.ibd.meta", "history-s3", "sbtest/restored lacks the .meta file"),
    "a delta and its meta": ("rm inc2/sbtest/restored.ibd.*", "history-s3", "sbtest/restored lacks its .ibd file"),
    "a partition": ("rm */odd/part#P#p1.*", "tables-open-s3", "odd.part cannot be opened"),
    "tables": ("rm */sbtest/restored.*", "tables-open-s3", "sbtest/restored lacks its .frm file"),
    "a schema": ("rm -r */odd", "tables-open-s3", "odd/gen lacks its .ibd file"),
    "a table of MyISAM": ("rm */odd/my2.*", "same-defined-s3", "table odd.my2 is not there on s3"),
    "the newer delta": ("cp -p inc2/sbtest/restored.ibd.delta inc3/sbtest/", "same-rows-s3", "sbtest.restored differs"),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("lost", CASES)
def test_that_a_backup_that_lost_it_is_never_done_and_what_lacks_is_named(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...], lost: str
) -> None:
    script, step, said = CASES[lost]
    steer.host("s3").sh(f"cd {backups.FOLDER} && {script}")
    old = steer.host("s3").sh("cd /var/lib/mysql; find . -type f -printf '%P %s\\n' | sort").out
    ran = console.run(NAME, **_HOW)
    assert ran.code != 0, ran
    assert said in ran.out, ran.out[-6000:]
    view = console.view()
    assert view.state is not RunState.DONE
    assert [one.step.step_id for one in view.steps if one.state is StepState.FAILED] == [step]
    assert steer.host("s3").sh("cd /var/lib/mysql; find . -type f -printf '%P %s\\n' | sort").out == old


@pytest.mark.slow
@pytest.mark.long
def test_that_a_whole_backup_with_odd_tables_is_done_and_all_tables_are_equal(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    ran = console.run(NAME, **_HOW)
    assert ran.code == 0, ran.out[-6000:]
    steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
    equal = re.match(r"(\d+) of (\d+) tables are equal on s3 and s", steps["same-rows-s3"])
    assert equal is not None, steps["same-rows-s3"]
    assert equal[1] == equal[2]
    assert "are the same on s3 and s" in steps["same-defined-s3"]
