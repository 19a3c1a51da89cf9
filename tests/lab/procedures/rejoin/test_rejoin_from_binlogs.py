"""rejoin-from-binlogs on real servers: refused, cut short and taken back, killed and resumed to its proof, again.

One node is away with its disk lost; its backup is older than every donor's cache, and the binary logs close the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.procedures.catalogue.steps.restored.start_hold import SAID
from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states import forks, rejoining
from tests.lab.procedures.states.obstacles import assert_alone
from tests.lab.procedures.states.rejoining import BACKUP, LISTS_SCHEMAS, LOGS, VARIED
from tests.lab.procedures.states.writer import TABLE, Writer
from tests.lab.procedures.whole import Whole

NAME, JOINER, DONORS = "rejoin-from-binlogs", "s3", ("s1", "s2")
INPUTS = {"joiner": JOINER, "backup": BACKUP, "binlogs": LOGS, "settle": "3 s", "tables": ", ".join((TABLE, *VARIED))}
BARE = {name: value for name, value in INPUTS.items() if name != "tables"}
NOT_COMPARED = ("--override", "COMPARE=it is refused before there are rows to compare")
OLD = "/var/lib/mysql/an-old-file"
HOLD = "/etc/systemd/system/mariadb.service.d/91-pilothouse-hold.conf"
STARTED = "/srv/rejoin/started"
OF_UPGRADE = "/var/lib/mysql/lost@002bfound"
"""What mariadb-upgrade, of Debian's unit, makes of a folder lost+found behind a start: a schema on that node alone."""
IN_PARTS = (
    "SET SESSION wsrep_trx_fragment_unit = 'statements'; SET SESSION wsrep_trx_fragment_size = 1; BEGIN; "
    "INSERT INTO sbtest.parts VALUES (1); DO SLEEP(15); INSERT INTO sbtest.parts VALUES (2); COMMIT"
)
"""A session that switches streaming replication on for itself: no member's variable shows it."""
START = (
    f"{{ systemctl start mariadb >{STARTED} 2>&1; echo $? >>{STARTED}; "
    f"systemctl status mariadb -n 0 >>{STARTED}; true; }}"
)
"""A colleague's start: what it says, its exit code, and where systemd says why."""


@pytest.fixture
def lost(steer: Estate, whole: Whole) -> Iterator[Writer]:
    """s3 down with nothing but a file in its data folder, a backup and logs of s2 beside it, and writes that go on."""
    del whole
    with _lost(steer) as writer:
        yield writer


@contextmanager
def _lost(steer: Estate, meanwhile: str = "") -> Iterator[Writer]:
    """The same; `meanwhile`: what a session on s1 begins right before s3 is away."""
    steer.sql("s1", "GRANT SELECT ON sbtest.* TO observer@'%'")
    rejoining.count_alike(steer, (*DONORS, JOINER))
    # Slow enough for the forecast of the race, which takes all write sets for as large as the ballast's.
    with Writer(steer, DONORS, rate=8.0) as writer:
        steer.host(JOINER).sh("rm -rf /var/lib/mysql/.pilothouse-* /var/lib/mysql/#sql-pilothouse-*")
        rejoining.varied(steer, "s1")
        steer.host(JOINER).sh(
            f"install -d -m 700 -o mysql -g mysql {OF_UPGRADE}; "
            f"echo default-character-set=utf8mb4 | install -m 660 -o mysql -g mysql /dev/stdin {OF_UPGRADE}/db.opt"
        )
        seqno = rejoining.back_up(steer, JOINER)
        rejoining.varied_on(steer, "s1")
        steer.sql("s2", "FLUSH BINARY LOGS")
        rejoining.forget(steer, seqno, "s1", DONORS)
        steer.sql("s2", "FLUSH BINARY LOGS")
        if meanwhile:
            steer.host("s1").sh(f'systemd-run --collect --quiet mariadb -e "{meanwhile}"; sleep 4')
        rejoining.away(steer, JOINER)
        rejoining.bring_logs(
            steer, "s2", JOINER
        )  # of a member that runs since before the backup: its filters are known
        steer.host(JOINER).sh(
            f"find /var/lib/mysql -mindepth 1 -delete; install -o mysql -g mysql -m 600 /dev/null {OLD}"
        )
        yield writer
    steer.sql("s1", "REVOKE SELECT ON sbtest.* FROM observer@'%'; "
              f"DROP TABLE IF EXISTS sbtest.ballast, {', '.join(reversed(VARIED))}")  # fmt: skip
    steer.host(JOINER).sh(f"rm -rf {OF_UPGRADE}")
    steer.host(JOINER).sh("rm -rf /srv/rejoin /var/lib/mysql/.pilothouse-* /var/lib/mysql/#sql-pilothouse-*")


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


def _start_was_refused(estate: Estate) -> None:
    output = estate.host(JOINER).sh(f"cat {STARTED} && rm {STARTED}").out
    assert "Assertion failed on job for mariadb.service." in output
    assert "\n1\n" in output
    assert SAID in output
    assert HOLD.rpartition("/")[2] in output


def _cut_short(estate: Estate, console: Console, cut: str) -> None:
    """Cut a replay short by a command: the run fails, takes itself back and leaves neither a server nor its folder."""
    words = ("run", NAME, *(f"--input={name}={value}" for name, value in INPUTS.items()), "--yes")
    with console.running(*words) as running:
        running.wait_for_step(f"replay-{JOINER}")
        estate.host(JOINER).sh(
            f"for n in $(seq 300); do pgrep -x mariadb-binlog >/dev/null && {cut} && break; sleep 0.1; done"
        )
        ran = running.end()
    assert ran.code == 3, ran  # 4: something stays
    view = console.assert_ended(RunState.UNDONE, ran)
    assert next(step for step in view.steps if step.step.step_id == f"replay-{JOINER}").failed, ran
    assert estate.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]
    assert not estate.host(JOINER).sh("pgrep -x mariadbd", check=False).ok
    assert not estate.host(JOINER).sh("test -e /run/pilothouse/private", check=False).ok
    assert estate.host(JOINER).sh("ls -A /var/lib/pilothouse/replay").out.split() == []


def test_that_a_node_comes_back_by_ist_from_a_backup_older_than_every_cache(
    steer: Estate, console: Console, lost: Writer
) -> None:
    # As on a volume of its own, whose folder is no schema: each list of the schemas logs a complaint, all the while.
    steer.host(JOINER).sh("install -d -m 700 /var/lib/mysql/lost+found")
    steer.host(JOINER).sh(LISTS_SCHEMAS)
    before = _there(steer)

    missing = steer.host(JOINER).sh(f"ls {LOGS}").out.split()[-2]
    steer.host(JOINER).sh(f"mv {LOGS}/{missing} /srv/rejoin/away")
    _refused(console, "BINLOG-GAP")
    steer.host(JOINER).sh(f"mv /srv/rejoin/away {LOGS}/{missing}")
    assert [line.split()[0] for line in _there(steer) if line] == [line.split()[0] for line in before if line]

    # Killed while it replays: a colleague who starts the server then is told why it does not start. The run finds the
    # work again; what follows the target comes by IST, and rows are equal.
    ran = console.killed_run(f"replay-{JOINER}=acting", NAME, **INPUTS)
    assert ran.code == KILLED, ran
    steer.host(JOINER).sh(START)
    _start_was_refused(steer)
    resumed = console("resume", console.runs()[0], "--yes")
    assert resumed.code == 0, resumed
    view = console.assert_ended(RunState.DONE, resumed)
    came = next(step for step in view.steps if step.step.step_id == f"transfer-{JOINER}")
    assert "IST" in "".join(came.evidence), resumed
    lost.assert_nothing_lost(("s1", "s2", JOINER))
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql/#sql-pilothouse-before*").out.split() == ["an-old-file"]
    assert steer.host(JOINER).sh("ls -A /var/lib/pilothouse/replay").out.split() == []
    schemas = steer.host(JOINER).sh("mariadb -Ne 'SHOW DATABASES'").out
    assert "#sql" not in schemas
    assert "lost+found\n" in schemas, "the backup has it, no member does: nothing is in it, so it is no difference"
    steer.host(JOINER).sh("systemctl stop lab-lister; rmdir /var/lib/mysql/lost+found")
    console.assert_nothing_to_do(NAME, **INPUTS)


@pytest.mark.long
def test_that_a_replay_that_is_cut_short_never_counts_and_that_no_start_gets_through_meanwhile(
    steer: Estate, console: Console, lost: Writer
) -> None:
    del lost
    _cut_short(steer, console, f"{START} && pkill -x mariadb-binlog")
    _start_was_refused(steer)


@pytest.mark.long
def test_that_a_release_in_the_middle_of_a_replay_lets_no_start_through_until_all_is_taken_back(
    steer: Estate, console: Console, lost: Writer
) -> None:
    del lost
    ran = console.killed_run(f"replay-{JOINER}=acting", NAME, **INPUTS)
    assert ran.code == KILLED, ran
    released = console("undo", console.runs()[0], "--release", "--yes")
    assert released.code == 4, released
    assert set(console.open_obligations()) == {f"hold:{JOINER}", f"held-out:{JOINER}"}, released
    steer.host(JOINER).sh(START)
    _start_was_refused(steer)
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]
    assert not steer.host(JOINER).sh(f"test -e {HOLD}", check=False).ok


@pytest.mark.long
def test_that_a_transaction_in_parts_that_was_open_at_the_target_is_told_and_all_is_taken_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """Its beginning is in no binary log; IST brings its end alone. The node is Synced then, and lacks its rows.

    Its log says so; where the journal is behind, the comparison of the rows is first.
    """
    del whole
    steer.sql("s1", "DROP TABLE IF EXISTS sbtest.parts; CREATE TABLE sbtest.parts (id INT PRIMARY KEY)")
    with _lost(steer, IN_PARTS):
        ran = console.run(NAME, **INPUTS)
        assert ran.code == 3, ran
        view = console.assert_ended(RunState.UNDONE, ran)
        failed = next(step for step in view.steps if step.failed)
        told = {f"fragments-{JOINER}": "its rows are missing", f"same-rows-{JOINER}": "sbtest.parts differs: 0 rows"}
        assert told[failed.step.step_id] in failed.error, failed.error
        assert steer.host(JOINER).sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]
        assert steer.sql("s1", "SELECT COUNT(*) FROM sbtest.parts") == [["2"]]
    steer.sql("s1", "DROP TABLE sbtest.parts")


@pytest.mark.long
def test_that_a_link_of_the_servers_account_in_place_of_its_state_is_not_written_through(
    steer: Estate, console: Console, lost: Writer
) -> None:
    del lost
    host, state, victim = steer.host(JOINER), "/var/lib/mysql/grastate.dat", "/srv/rejoin/secret"
    host.sh(f"install -m 600 /dev/null {victim}")
    words = ("run", NAME, *(f"--input={name}={value}" for name, value in INPUTS.items()), "--yes")
    with console.running(*words) as running:
        running.wait_for_step(f"set-position-{JOINER}")
        host.sh(f"runuser -u mysql -- ln -s {victim} {state}")
        ran = running.end()
    assert ran.code == 3, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    assert any(step.failed for step in view.steps if step.step.step_id in {f"set-position-{JOINER}", f"state-{JOINER}"})
    assert host.sh(f"stat -c '%U:%G %a %s %F' {victim}").out == "root:root 600 0 regular empty file\n"
    assert host.sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]


@pytest.mark.long
def test_that_what_makes_it_unsafe_is_refused_before_anything_is_changed(
    steer: Estate, console: Console, whole: Whole
) -> None:
    host = steer.host(JOINER)
    host.sh("rm -rf /var/lib/mysql/.pilothouse-* /var/lib/mysql/#sql-pilothouse-*")
    table = "sbtest.unlogged (id INT PRIMARY KEY AUTO_INCREMENT)"
    steer.sql(
        "s1", f"DROP TABLE IF EXISTS sbtest.unlogged; CREATE TABLE {table}; INSERT INTO sbtest.unlogged VALUES ()"
    )
    seqno = rejoining.back_up(steer, JOINER)
    assert seqno > 0
    steer.sql("s1", "INSERT INTO sbtest.unlogged VALUES ()")
    rejoining.away(steer, JOINER)
    # By its files: what filters, where its log lies, a mode that was never tried, a tool that is not there.
    unsafe = (
        "[mysqld]\nbinlog_do_db = shop\nlog_bin = /var/log/mysql/mysql-bin\nwsrep_gtid_mode = ON\n"
        "slave_exec_mode = IDEMPOTENT\nwsrep_trx_fragment_size = 1\n"
    )
    host.sh(
        f"printf '{unsafe}' > /etc/mysql/mariadb.conf.d/98-unsafe.cnf; "
        "for f in mariabackup mariadb-backup; do mv /usr/bin/$f /usr/bin/$f.away; done"
    )
    _blocked(console, {"FILTERS", "OWN-LOG", "GTID-MODE", "STREAMING", "BACKUP-TOOL", "OWN-REACH", "COMPARE"})
    host.sh(
        "rm /etc/mysql/mariadb.conf.d/98-unsafe.cnf; "
        "for f in mariabackup mariadb-backup; do mv /usr/bin/$f.away /usr/bin/$f; done"
    )
    # By what was found: a log under an id that nobody has, a role whose first admin is whoever replays it, ten
    # transactions that are in no log of this member, a last one with wsrep off, no room.
    ((number,),) = steer.sql("s1", "SELECT @@server_id")
    steer.sql("s1", "SET GLOBAL server_id = 99; FLUSH BINARY LOGS; CREATE ROLE odd; DROP ROLE odd")
    unlogged = "SET SESSION sql_log_bin = 0; " + "INSERT INTO sbtest.unlogged VALUES (); " * 10
    steer.sql("s1", f"{unlogged}; SET SESSION sql_log_bin = 1; INSERT INTO sbtest.unlogged VALUES ()")
    steer.sql("s1", "SET SESSION wsrep_on = OFF; INSERT INTO sbtest.unlogged VALUES (999)")
    rejoining.carry_logs(steer, "s1", JOINER)
    steer.sql("s1", f"SET GLOBAL server_id = {number}; FLUSH BINARY LOGS")
    host.sh(
        f"sed -i 's/^backup_type = .*/backup_type = incremental/' {BACKUP}/xtrabackup_checkpoints; "
        f"sed -i 's/^[0-9a-f]*-/deadbeef-/' {BACKUP}/xtrabackup_galera_info; "
        "find /var/lib/mysql -mindepth 1 -delete; "
        "fallocate -l $(($(df -PB1 /var/lib/mysql | tail -1 | awk '{print $4}') - 500000000)) /var/lib/mysql/full"
    )
    ran = console.run(NAME, *NOT_COMPARED, **BARE)
    view = console.assert_ended(RunState.UNDONE, ran)
    words = "".join(step.error for step in view.steps)
    for code in ("OTHER-UUID", "AHEAD", "WRITER", "DONE-BY", "HOLES", "IST-REACHES", "RACE", "DISK-ROOM"):
        assert f"{code} (" in words, (code, words)
    # A server that runs, and is no member, is none to be rebuilt.
    alone = "[mysqld]\\nwsrep_on = OFF\\n"
    host.sh(
        "rm -rf /var/lib/mysql/full; mariadb-install-db --user=mysql >/dev/null 2>&1; "
        f"printf '{alone}' > /etc/mysql/mariadb.conf.d/98-alone.cnf; systemctl start mariadb"
    )
    _blocked(console, {"STOPPED"})
    host.sh("systemctl stop mariadb; rm /etc/mysql/mariadb.conf.d/98-alone.cnf; rm -rf /srv/rejoin")
    steer.sql("s1", "DROP TABLE sbtest.unlogged")
    whole.assert_files_as_before()


@pytest.mark.long
def test_that_a_backup_of_the_losing_side_of_a_fork_is_refused_though_the_binary_logs_are_the_winners(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """UUID, seqno and logs are right: only what a member has at the backup's own seqno shows it."""
    del whole
    host = steer.host(JOINER)
    host.sh("rm -rf /var/lib/mysql/.pilothouse-* /var/lib/mysql/#sql-pilothouse-*")
    shared = forks.make_ledger(steer)
    steer.partition([JOINER])
    try:
        steer.wait_synced(DONORS, size=2, limit_s=60)
        while_asserts(lambda: assert_alone(steer, JOINER), limit_s=60)
        steer.sql(JOINER, "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
        steer.wait_synced((JOINER,), size=1, limit_s=40)
        forks.acknowledge(steer, JOINER, 5_000)
        seqno = rejoining.back_up(steer, JOINER)
        won = forks.acknowledge(steer, "s1", 1_000, 3 * forks.ROWS)
        forks.forget(steer, JOINER)
    finally:
        steer.heal()
    assert rejoining.status(steer, "s1", "wsrep_last_committed") > seqno
    host.sh(f"install -o mysql -g mysql -m 600 /dev/null {OLD}")
    rejoining.carry_logs(steer, "s1", JOINER)
    ran = console.run(NAME, *NOT_COMPARED, "--override", "IST-REACHES=a fork is what is tried", **BARE)
    assert ran.code == 3, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    past = next(step for step in view.steps if step.step.step_id == f"past-{JOINER}")
    assert past.failed, ran
    assert "another server's change" in past.error, past.error
    assert not any(step.step.step_id.startswith("keep-data") and step.started is not None for step in view.steps), ran
    assert host.sh("ls -A /var/lib/mysql").out.split() == ["an-old-file"]
    assert {int(row[0]) for row in steer.sql("s1", f"SELECT id FROM {forks.LEDGER}")} == shared | won
    steer.sql("s1", f"DROP TABLE {forks.LEDGER}")
    host.sh("rm -rf /srv/rejoin")


@pytest.mark.long
def test_that_the_private_servers_are_strict_though_option_files_let_them_pass_over_rows(
    steer: Estate, console: Console, lost: Writer
) -> None:
    """Each asks itself before anything is applied: the run ends well only where its own words win over the files'."""
    file = "/etc/mysql/mariadb.conf.d/98-lenient.cnf"
    lenient = "slave_exec_mode = IDEMPOTENT\\nslave_skip_errors = 1032,1062\\nslave_run_triggers_for_rbr = YES\\n"
    host = steer.host(JOINER)
    host.sh(f"printf '[mysqld]\\n{lenient}' > {file}")
    try:
        _blocked(console, {"FILTERS"})
        ran = console.run(NAME, "--override", "FILTERS=what its own words are worth is tried", **INPUTS)
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        assert steer.sql(JOINER, "SELECT @@slave_exec_mode") == [["IDEMPOTENT"]]
    finally:
        host.sh(f"rm {file}; systemctl restart mariadb", limit_s=120)
    lost.assert_nothing_lost(("s1", "s2", JOINER))


def _blocked(console: Console, codes: set[str]) -> None:
    before = console.runs()
    ran = console.run(NAME, "--json", **BARE)
    assert ran.code != 0, ran
    assert console.runs() == before, ran
    assert all(code in ran.out + ran.err for code in codes), ran
