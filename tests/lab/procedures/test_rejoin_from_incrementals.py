"""rejoin-from-incrementals on real servers: from backups to Synced by IST, killed and resumed, taken back, refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures import backups
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

NAME = "rejoin-from-incrementals"
_LISTING = "cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort"
_HOW: dict[str, object] = {"joiner": "s3", "memory": "128 MiB", "settle": "3 s"}


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[tuple[str, ...]]:
    """Backups of s3 on its own disk, and s3 stopped after more was written."""
    found = backups.make_chain(steer, "s3")
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield found
    finally:
        backups.forget(steer, "s3")


REFUSED = (
    "ASIDE", "BACKUP-CLUSTER", "BACKUP-FOUND", "BACKUP-LINKED", "BACKUP-PACKED", "BACKUP-POSITION", "BACKUP-SERVER",
    "BACKUP-USED", "CHAIN-FULL", "CHAIN-LSN", "CHAIN-MISSING", "CHAIN-ORDER", "DISK-ROOM", "DONOR-SYNCED",
    "JOINER-CONFIGURED", "JOINER-STOPPED", "OLD-DATA", "ONE-FOLDER", "SETTINGS",
)  # fmt: skip
_BAD = (
    "mkdir {at}; cp -a {first} {at}/nofull; "  # an incremental where the full backup should be
    "cp -a {full} {at}/work; cp -a {first} {at}/spent; "
    "mariadb-backup --prepare --target-dir={at}/work > /tmp/w 2>&1; "
    "mariadb-backup --prepare --target-dir={at}/work --incremental-dir={at}/spent > /tmp/w 2>&1; rm -rf {at}/work; "
    "mkdir {at}/linked; cp -al {first}/. {at}/linked/; touch {at}/linked/a.ibd.qp; "
    "cp -a {second} {at}/gap; sed -i 's/^from_lsn = .*/from_lsn = 99999999999/' {at}/gap/xtrabackup_checkpoints; "
    "rm {at}/gap/*galera_info; "
    "cp -a {second} {at}/alien; sed -i 's/^[0-9a-f]*-/aaaaaaaa-/' {at}/alien/xtrabackup_galera_info; "
    "sed -i 's/^server_version = 10.11.18/server_version = 10.11.17/' {at}/alien/xtrabackup_info; "
    "sed -i 's/^from_lsn = .*/from_lsn = 1/' {at}/alien/xtrabackup_checkpoints"
)
_ODD = "[mysqld]\nwsrep_on=OFF\ninnodb_undo_directory=/var/lib/mysql-undo\nlower_case_table_names=1\n"


@pytest.fixture
def nothing_right(steer: Estate, chain: tuple[str, ...]) -> Iterator[str]:
    """A chain, a node and a donor with everything wrong that this procedure refuses; the incrementals as it is told."""
    full, first, second = chain
    at, s3 = f"{backups.FOLDER}/bad", steer.host("s3")
    s3.sh(_BAD.format(at=at, full=full, first=first, second=second))
    s3.sh(
        "install -d -o mysql -g mysql /var/lib/mysql-undo; mkdir /var/lib/mysql/.pilothouse-before.sst; "
        f"printf '{_ODD}' > /etc/mysql/mariadb.conf.d/zz-odd.cnf; "
        "sed -i 's/^wsrep_cluster_address/#&/' /etc/mysql/mariadb.conf.d/*lab*.cnf; "
        "cp -p /var/lib/mysql/grastate.dat /tmp/; sed -i 's/^seqno:.*/seqno: 99999999/' /var/lib/mysql/grastate.dat; "
        "systemctl start mariadb"
    )
    steer.sql("s1", "SET GLOBAL wsrep_desync = ON")
    try:
        yield ",".join(f"{at}/{name}" for name in ("spent", "linked", "gap", "alien", "nowhere"))
    finally:
        steer.sql("s1", "SET GLOBAL wsrep_desync = OFF")
        s3.sh("systemctl stop mariadb; rm -rf /var/lib/mysql/.pilothouse-before.sst /var/lib/mysql-undo; "
              "cp -p /tmp/grastate.dat /var/lib/mysql/; rm /tmp/grastate.dat")  # fmt: skip


@pytest.mark.slow
def test_that_each_thing_that_is_wrong_with_backups_node_and_donor_is_refused_with_its_code(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...], nothing_right: str
) -> None:
    ran = console.run(
        NAME, full=f"{backups.FOLDER}/bad/nofull", incrementals=nothing_right, donor="s1", scratch="/run/lock/copies",
        **_HOW,
    )  # fmt: skip
    assert ran.code != 0, ran
    refused = ran.out[ran.out.rindex("Refused: ") :]
    assert [code for code in REFUSED if code not in refused] == [], ran
    assert console.runs() == ()


@pytest.mark.slow
def test_that_a_node_returns_from_a_full_backup_and_two_incrementals_and_then_there_is_nothing_to_do(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    old = steer.host("s3").sh(_LISTING).out
    originals = steer.host("s3").sh(f"find {backups.FOLDER} -type f | sort | xargs sha256sum").out
    with Writer(steer, ("s1", "s2"), seconds=90) as writer:
        ran = console.run(NAME, tables=backups.tables(), **_HOW)
        assert ran.code == 0, ran
        steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
        assert "by IST" in steps["transfer-s3"]
        assert "3 of 3 tables are equal" in steps["compare-s3"]
        assert "one past" in steps["history-s3"]
        writer.assert_nothing_lost(members(steer))
    assert steer.host("s3").sh(f"find {backups.FOLDER} -type f | sort | xargs sha256sum").out == originals
    kept = _LISTING.replace("/var/lib/mysql;", "/var/lib/mysql/.pilothouse-before.sst;")
    assert steer.host("s3").sh(kept).out == old, "what is kept inside is as it was, after copies, chown and a start"
    console.assert_nothing_to_do(NAME, **_HOW)
    backups.forget(steer, "s3")
    whole.assert_as_before()


@pytest.mark.slow
def test_that_a_run_killed_in_a_prepare_goes_on_and_is_taken_back_with_the_old_data_as_they_were(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    old = steer.host("s3").sh(_LISTING).out
    killed = console.killed_run("prepare-1-s3=acting", NAME, tables=backups.tables(), **_HOW)
    assert killed.code == KILLED, killed
    again = console.killed("settle-s3=acting", "resume", console.runs()[0], "--yes")
    assert again.code == KILLED, again
    steer.wait_synced(size=3)
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host("s3").sh(_LISTING).out == old
    whole.assert_files_as_before()
