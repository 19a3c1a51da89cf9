"""Where files lie, and whose backups they are, unlike the tests' own; on real servers. Each is refused in the checks.

Nothing is moved, and no run begins: what a run of hours would find in its middle is told before.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console, Ran
from tests.lab.procedures.states import backups, rejoining
from tests.lab.procedures.whole import Whole

NAME, JOINER = "rejoin-from-incrementals", "s3"
HOW: dict[str, object] = {"joiner": JOINER, "memory": "128 MiB", "settle": "3 s"}
FAR, MEMBERS = "/srv/far", ("s1", "s2", JOINER)
KEYS = "/etc/mysql/keys.txt"


def _refused(console: Console, ran: Ran, *codes: str) -> None:
    assert ran.code == 1, ran
    refused = ran.out[ran.out.rindex("Refused: ") :]
    assert [code for code in codes if code not in refused] == [], ran
    assert console.runs() == ()


@pytest.fixture
def far(steer: Estate, whole: Whole) -> Iterator[None]:
    """A table outside the data folder on every member, and backups of s3 with it."""
    del whole
    for name in MEMBERS:
        steer.host(name).sh(f"install -d -o mysql -g mysql {FAR}")
    steer.sql("s1", f"CREATE TABLE sbtest.far (id INT PRIMARY KEY) DATA DIRECTORY='{FAR}'; "
                    "INSERT INTO sbtest.far VALUES (1), (2)")  # fmt: skip
    backups.make_chain(steer, JOINER)
    steer.stop(JOINER)
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        backups.forget(steer, JOINER)
        steer.sql("s1", "DROP TABLE sbtest.far")


@pytest.mark.long
def test_that_a_table_outside_the_data_folder_is_refused_in_the_checks(
    steer: Estate, console: Console, far: None
) -> None:
    del far
    assert steer.host(JOINER).sh(f"ls {FAR}/sbtest").out.split() == ["far.ibd"]
    _refused(console, console.run(NAME, **HOW), "OLD-LINKED", "BACKUP-LINKED")


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[tuple[str, ...]]:
    """Backups of s3 on its own disk, and s3 stopped after more was written."""
    del whole
    found = backups.make_chain(steer, JOINER)
    try:
        yield found
    finally:
        backups.forget(steer, JOINER)


def _stopped(steer: Estate) -> None:
    steer.stop(JOINER)
    steer.wait_synced(["s1", "s2"], size=2)


@pytest.mark.long
def test_that_a_data_folder_that_is_a_symbolic_link_is_refused_in_the_checks(
    steer: Estate, console: Console, chain: tuple[str, ...]
) -> None:
    del chain
    _stopped(steer)
    host = steer.host(JOINER)
    host.sh(
        "ln -s /var/lib/mysql /srv/db; printf '[mysqld]\\ndatadir=/srv/db\\n' > /etc/mysql/mariadb.conf.d/zz-db.cnf"
    )
    try:
        _refused(console, console.run(NAME, **HOW), "OLD-LINKED")
    finally:
        host.sh("rm -f /srv/db")


@pytest.mark.long
def test_that_generations_that_are_mixed_and_backups_that_are_packed_are_refused(
    steer: Estate, console: Console, chain: tuple[str, ...]
) -> None:
    """A full backup of one week with an incremental of the next; then one as `mariadb-backup --compress` leaves it."""
    full, *_ = chain
    host, other = steer.host(JOINER), f"{backups.FOLDER}-next"
    tool = "mariadb-backup --backup --galera-info"
    made = (
        f"mkdir {other}; {tool} --target-dir={other}/full > /tmp/g 2>&1 && "
        f"{tool} --target-dir={other}/inc --incremental-basedir={other}/full > /tmp/g 2>&1 && "
        f"{tool} --compress --target-dir={other}/packed > /tmp/g 2>&1"
    )
    steer.sql("s1", f"INSERT INTO {backups.TABLE} (text) SELECT REPEAT('n', 150) FROM sbtest.seq_1_to_2000")
    # A checkpoint between them: with the same LSN the one would follow on the other, and rightly so.
    steer.sql(JOINER, "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, innodb_max_dirty_pages_pct = 0")
    host.sh(f"sleep 6; {made}", limit_s=300)
    output = host.sh(f"cat {full}/xtrabackup_checkpoints {other}/full/xtrabackup_checkpoints | grep ^to_lsn").out
    assert len(set(output.splitlines())) == 2, output
    _stopped(steer)
    before = host.sh(f"find {other} -name '*.qp' | wc -l").out.strip()
    assert int(before) > 100, "it is packed"
    _refused(console, console.run(NAME, full=full, incrementals=f"{other}/inc", **HOW), "CHAIN-MISSING")
    _refused(console, console.run(NAME, full=f"{other}/packed", incrementals="none", **HOW), "BACKUP-PACKED")


@pytest.fixture
def encrypted(steer: Estate, whole: Whole) -> Iterator[None]:
    """s2 encrypts its binary logs; s3 is down, with its backup and the logs of s2."""
    del whole
    options = (
        f"[mysqld]\\nplugin_load_add=file_key_management\\nfile_key_management_filename={KEYS}\\nencrypt_binlog=ON\\n"
    )
    key = "1;" + "0123456789abcdef" * 4
    steer.host("s2").sh(
        f"printf '{key}\\n' > {KEYS}; chown mysql {KEYS}; chmod 600 {KEYS}; "
        f"printf '{options}' > /etc/mysql/mariadb.conf.d/zz-encrypted.cnf; systemctl restart mariadb",
        limit_s=120,
    )
    steer.wait_synced(MEMBERS, size=3, limit_s=60)
    steer.sql("s1", "CREATE TABLE sbtest.mixed (id INT PRIMARY KEY); INSERT INTO sbtest.mixed VALUES (-1)")
    rejoining.back_up(steer, JOINER)
    steer.sql("s1", "INSERT INTO sbtest.mixed SELECT seq FROM sbtest.seq_1_to_40")
    rejoining.away(steer, JOINER)
    rejoining.carry_logs(steer, "s2", JOINER)
    steer.host(JOINER).sh("find /var/lib/mysql -mindepth 1 -delete")
    try:
        yield
    finally:
        steer.host("s2").sh("rm -f /etc/mysql/mariadb.conf.d/zz-encrypted.cnf; systemctl restart mariadb", limit_s=120)
        steer.host(JOINER).sh("rm -rf /srv/rejoin")
        steer.wait_synced(("s1", "s2"), limit_s=60)
        steer.sql("s1", "DROP TABLE sbtest.mixed")


@pytest.mark.long
def test_that_encrypted_binary_logs_are_refused_by_name_before_anything_is_moved(
    steer: Estate, console: Console, encrypted: None
) -> None:
    del encrypted
    near = ("--override", "IST-REACHES=it is tried", "--override", "RACE=the same")
    inputs = {"joiner": JOINER, "backup": rejoining.BACKUP, "binlogs": rejoining.LOGS, "settle": "3 s"}
    ran = console.run("rejoin-from-binlogs", *near, **inputs)
    assert ran.code == 3, ran
    assert "BINLOG-UNREAD (" in "".join(step.error for step in console.assert_ended(RunState.UNDONE, ran).steps), ran
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == []
