"""Two pasts under one UUID on real servers: a minority made Primary by hand beside the majority, both written to.

Before, add-node brought the minority's node back by IST, 'ok': 2 of the majority's 7 rows were on it, and its own 5 on
nobody else.
"""

from __future__ import annotations

import pytest

from services.facts.galera.state_files import ZERO_UUID
from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.whole import Whole

ZERO_STATE = f"version: 2.1\\nuuid:    {ZERO_UUID}\\nseqno:   -1\\nsafe_to_bootstrap: 0\\n"
_FILE = "/var/lib/pilothouse/forks/*.sql"


@pytest.fixture
def ledger(steer: Estate, whole: Whole) -> None:
    """A table of rows that were acknowledged: who wrote it, on which side."""
    steer.sql("s1", "CREATE OR REPLACE TABLE sbtest.ledger (id INT AUTO_INCREMENT PRIMARY KEY, side VARCHAR(20))")
    write(steer, "s1", "common", 3)


def write(steer: Estate, host: str, side: str, rows: int) -> None:
    """Write rows one by one: each is a transaction, acknowledged."""
    for _ in range(rows):
        steer.sql(host, f"INSERT INTO sbtest.ledger (side) VALUES ('{side}')")


def rows(steer: Estate, host: str) -> dict[str, int]:
    """Count the rows of each side on a host."""
    told = steer.sql(host, "SELECT side, COUNT(*) FROM sbtest.ledger GROUP BY side")
    return {side: int(count) for side, count in told}


def fork(steer: Estate, *, rows_each: int) -> None:
    """Cut s3 off, make it Primary by hand, write on both sides, kill it; the network is whole again then."""
    steer.partition(["s3"])
    while_asserts(lambda: assert_is(steer, "s3", "non-Primary"), limit_s=60)
    steer.sql("s3", "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
    while_asserts(lambda: assert_is(steer, "s3", "Primary"), limit_s=30)
    while_asserts(lambda: assert_is(steer, "s1", "Primary"), limit_s=30)
    write(steer, "s3", "minority", rows_each)
    write(steer, "s1", "majority", rows_each)
    steer.kill9("s3")
    steer.heal()


def assert_is(steer: Estate, host: str, status: str) -> None:
    assert steer.sql(host, "SHOW STATUS LIKE 'wsrep_cluster_status'")[0][1] == status


@pytest.mark.slow
@pytest.mark.long
def test_that_a_fork_is_refused_whatever_its_state_file_says_and_returns_after_its_rows_were_written_out_and_given_up(
    steer: Estate, console: Console, ledger: None
) -> None:
    fork(steer, rows_each=5)
    write(steer, "s1", "majority", 2)
    state = "/var/lib/mysql/grastate.dat"
    broken = (":", f"printf 'uuid: 2db' > {state}", f"printf '{ZERO_STATE}' > {state}", f"rm {state}")
    for break_it, said in zip(broken, ("", "is damaged", "is zero", "is absent"), strict=True):
        steer.host("s3").sh(break_it)
        refused = console("run", "add-node", "--input", "joiner=s3", "--override", "HISTORY=I know better", "--yes")
        assert refused.code == 1, refused
        words = " ".join(refused.out.split())
        assert "BLOCK HISTORY" in words, refused
        assert "made Primary by hand" in words, refused
        assert said in words, refused
    assert console.runs() == ()

    asked = console.run("add-node", joiner="s3", loser="s3", settle="3 s")
    assert asked.code == 4, asked  # a script is not asked what is lost
    assert "5 transactions of s3 (sbtest.ledger (5 rows))" in " ".join(asked.out.split()), asked
    assert steer.host("s3").sh(f"stat -c %a {_FILE}").out.strip() == "600"
    assert steer.host("s3").sh(f"grep -c \"@2='minority'\" {_FILE}").out.strip() == "5"
    assert "common" not in steer.host("s3").sh(f"grep '@2=' {_FILE}").out

    ran = console("resume", console.runs()[0], "--yes", "--confirm", "s3")
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert "joined by SST" in ran.out, ran
    assert [rows(steer, host) for host in ("s1", "s2", "s3")] == [{"common": 3, "majority": 7}] * 3


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_that_was_killed_returns_by_ist_unasked_and_by_its_views_alone_without_a_binary_log(
    steer: Estate, console: Console, ledger: None
) -> None:
    # InnoDB's log has every commit: one that is only prepared is decided by the binary log, and no server starts then.
    steer.sql("s3", "FLUSH BINARY LOGS; FLUSH ENGINE LOGS")
    steer.kill9("s3")
    write(steer, "s1", "majority", 40)
    steer.host("s3").sh("cd /var/lib/mysql && rm -f mysql-bin.*")
    planned = console("plan", "add-node", "--input", "joiner=s3")
    assert "s3 has no binary log" not in planned.out, planned
    ran = console.run("add-node", joiner="s3", sst_ok="no", settle="3 s")
    assert ran.code == 0, ran
    console.assert_ended(RunState.DONE, ran)
    assert rows(steer, "s3") == rows(steer, "s1") == {"common": 3, "majority": 40}


@pytest.mark.long
@pytest.mark.slow
def test_that_the_state_file_is_a_claim_an_edited_seqno_is_mended_and_a_lost_one_erases_nothing_that_others_lack(
    steer: Estate, console: Console, ledger: None
) -> None:
    steer.stop("s3")
    at = int(steer.host("s3").sh("sed -n 's/^seqno: *//p' /var/lib/mysql/grastate.dat").out)
    write(steer, "s1", "majority", 6)
    # Up to here s3's log knows no better: without its binary log the views alone would let an IST leave four rows out.
    edit = f"sed -i 's/^seqno:.*$/seqno:   {at + 5}/' /var/lib/mysql/grastate.dat"
    steer.host("s3").sh(f"cd /var/lib/mysql && rm -f mysql-bin.* && {edit}")
    ran = console.run("add-node", joiner="s3", sst_ok="no", settle="3 s")
    assert ran.code == 0, ran
    assert f"Replace the stale seqno {at + 5} in grastate.dat on s3: InnoDB recovered {at}" in ran.out, ran
    assert rows(steer, "s3") == rows(steer, "s1") == {"common": 3, "majority": 6}

    steer.stop("s3")
    steer.host("s3").sh("rm /var/lib/mysql/grastate.dat")
    write(steer, "s1", "majority", 1)
    ran = console.run("add-node", joiner="s3", settle="3 s")
    assert ran.code == 0, ran  # its position was recovered, and the cluster has all of it: nobody has to type a loss
    assert "Crash recovery of s3 has ended" in ran.out, ran
    assert "s3 has no Galera state: it can join only by SST" in ran.out, ran
    assert rows(steer, "s3") == rows(steer, "s1") == {"common": 3, "majority": 7}


@pytest.mark.long
@pytest.mark.slow
def test_that_without_logs_a_past_is_not_known_and_is_accepted_by_its_name_only(
    steer: Estate, console: Console, ledger: None
) -> None:
    steer.stop("s3")
    write(steer, "s1", "majority", 2)
    newest = steer.host("s3").sh("tail -n 1 /var/lib/mysql/mysql-bin.index").out.strip()
    steer.host("s3").sh(f"cd /var/lib/mysql && rm {newest} && mkfifo {newest}")
    planned = console("plan", "add-node", "--input", "joiner=s3")
    unread = f"{newest}, which its index names, is no binary log that can be read"
    assert unread in " ".join(planned.out.split()), planned  # and nothing waited for it
    steer.host("s3").sh("cd /var/lib/mysql && rm -f mysql-bin.*; journalctl --rotate; journalctl --vacuum-time=1s")
    refused = console("run", "add-node", "--input", "joiner=s3", "--yes")
    assert refused.code == 3, refused  # its server was asked where its data stand, and everything was taken back
    assert "the log of s3 contains no Primary Component" in " ".join((refused.out + refused.err).split()), refused
    console.assert_ended(RunState.UNDONE, refused)
    ran = console.run("add-node", joiner="s3", unknown_history="s3", settle="3 s")
    assert ran.code == 0, ran
    assert rows(steer, "s3") == rows(steer, "s1")
