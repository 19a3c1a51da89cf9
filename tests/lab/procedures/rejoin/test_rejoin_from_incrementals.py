"""rejoin-from-incrementals on real servers: from backups to Synced by IST, killed and resumed, taken back, refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.catalogue.steps.restored.start_hold import SAID
from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.person import at_the_window
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states import backups
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

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
    "ASIDE", "BACKUP-CLUSTER", "BACKUP-FOUND", "BACKUP-LINKED", "BACKUP-OPTIONS", "BACKUP-PACKED", "BACKUP-POSITION",
    "BACKUP-SERVER", "BACKUP-USED", "CHAIN-FULL", "CHAIN-LSN", "CHAIN-MISSING", "CHAIN-NODE", "CHAIN-ORDER",
    "DISK-ROOM", "DONOR-SYNCED", "JOINER-CONFIGURED", "JOINER-STOPPED", "OLD-DATA", "ONE-FOLDER", "SETTINGS",
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
    "sed -i 's/^from_lsn = .*/from_lsn = 1/' {at}/alien/xtrabackup_checkpoints; "
    "echo plugin_load=evil.so >> {at}/alien/backup-my.cnf; "
    "sed -i 's/^mysql-bin.[0-9]*/mysql-bin.000001/' {at}/alien/xtrabackup_binlog_info"
)
_ODD = "[mysqld]\nwsrep_on=OFF\ninnodb_undo_directory=/var/lib/mysql-undo\nlower_case_table_names=1\n"


@pytest.fixture
def nothing_right(steer: Estate, chain: tuple[str, ...]) -> Iterator[str]:
    """A chain, a node and a donor with everything wrong that this procedure refuses; the incrementals as it is told."""
    full, first, second = chain
    at, s3 = f"{backups.FOLDER}/bad", steer.host("s3")
    s3.sh(_BAD.format(at=at, full=full, first=first, second=second))
    s3.sh(
        "install -d -o mysql -g mysql /var/lib/mysql-undo; mkdir /var/lib/mysql/#sql-pilothouse-before.sst; "
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
        s3.sh("systemctl stop mariadb; rm -rf /var/lib/mysql/#sql-pilothouse-before.sst /var/lib/mysql-undo; "
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


def _assert_old_data_elsewhere_are_refused(steer: Estate, console: Console) -> None:
    """Looked at where no server runs: a link and a table's .isl file in the data folder, and who may exchange that."""
    made = "/var/lib/mysql/sales /var/lib/mysql/sbtest/far.isl"
    steer.host("s3").sh(f"cd /var/lib/mysql && ln -s /srv/sales sales && touch sbtest/far.isl && ls -d {made}")
    steer.host("s3").sh("chmod o+w /var/lib")
    ran = console.run(NAME, **_HOW)
    steer.host("s3").sh(f"rm {made}; chmod o-w /var/lib")
    refused = ran.out[ran.out.rindex("Refused: ") :]
    assert [code for code in ("OLD-LINKED", "OWN-PLACE") if code not in refused] == [], ran
    assert "far.isl" in ran.out
    assert console.runs() == ()


@pytest.mark.slow
def test_that_a_node_returns_from_a_full_backup_and_two_incrementals_and_then_there_is_nothing_to_do(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    _assert_old_data_elsewhere_are_refused(steer, console)
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
    kept = _LISTING.replace("/var/lib/mysql;", "/var/lib/mysql/#sql-pilothouse-before.sst;")
    assert steer.host("s3").sh(kept).out == old, "what is kept inside is as it was, after copies, chown and a start"
    console.assert_nothing_to_do(NAME, **_HOW)
    backups.forget(steer, "s3")
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.long
def test_that_a_chain_with_an_sst_in_it_is_refused_by_the_logs_that_the_sst_erased(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    """The incremental behind it goes on at its LSNs and its log's number: the erased logs alone speak of it."""
    s3, spoiled = steer.host("s3"), f"{backups.FOLDER}/spoiled"
    s3.sh("rm /var/lib/mysql/grastate.dat; systemctl start mariadb")
    steer.wait_synced(size=3)
    number = "awk '{sub(/.*[.]/, \"\", $1); print $1 + 0; exit}'"
    s3.sh(f"was=$({number} {chain[2]}/xtrabackup_binlog_info); for n in $(seq 500); do "
          f"[ \"$(mariadb -Ne 'SHOW MASTER STATUS' | {number})\" -le \"$was\" ] || break; "
          f"mariadb -e 'FLUSH BINARY LOGS'; done; mariadb-backup --backup --galera-info --target-dir={spoiled} "
          f"--incremental-basedir={chain[2]} > /tmp/spoiled.log 2>&1; systemctl stop mariadb")  # fmt: skip
    steer.wait_synced(["s1", "s2"], size=2)
    of_it: dict[str, object] = {"full": chain[0], "incrementals": ",".join((*chain[1:], spoiled)), "donor": "s1"}
    ran = console.run(NAME, **of_it, **_HOW)
    assert ran.code != 0, ran
    refused = ran.out[ran.out.rindex("Refused: ") :]
    assert "CHAIN-NODE" in refused, ran
    assert not any(code in refused for code in ("CHAIN-ORDER", "CHAIN-MISSING", "CHAIN-LSN")), ran
    sentence = " ".join(ran.out.partition("CHAIN-NODE")[2].split())
    assert "whether the node received an SST between the backups is not known" in sentence[:300], sentence[:900]
    assert "differs from the one in the data folder" in sentence or "is no longer in the data folder" in sentence, (
        sentence[:900]
    )
    assert console.runs() == ()


@pytest.mark.slow
@pytest.mark.long
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


@pytest.fixture
def started_by_boots(steer: Estate, chain: tuple[str, ...]) -> Iterator[None]:
    """A host whose boots start its server, as on every estate but the lab's."""
    steer.host("s3").sh("systemctl enable mariadb 2>&1")
    try:
        yield
    finally:
        steer.host("s3").sh("systemctl disable mariadb 2>&1")


def _assert_held(steer: Estate) -> None:
    """A colleague's start is refused, and journal and status say why; the data are not touched by it."""
    s3 = steer.host("s3")
    before = s3.sh(f"{_LISTING}; stat -c %u .").out
    tried = s3.sh("systemctl start mariadb", check=False)
    assert not tried.ok, tried
    for told in ("journalctl --no-pager -b -u mariadb", "systemctl status --no-pager --full mariadb"):
        assert SAID in s3.sh(told, check=False).out, told
    assert "91-pilothouse-hold.conf" in s3.sh("systemctl status --no-pager --full mariadb", check=False).out
    assert s3.sh(f"{_LISTING}; stat -c %u .").out == before
    assert not s3.sh("pgrep -x mariadbd", check=False).ok


def _reboot(steer: Estate) -> None:
    """A real one; its boot tried to start the server, and was refused too."""
    steer.reboot("s3")
    tried = steer.host("s3").sh("journalctl --no-pager -b -u mariadb", check=False).out
    assert SAID in tried, f"the boot did not try: {tried}"
    _assert_held(steer)


@pytest.mark.slow
@pytest.mark.long
def test_that_a_boot_and_a_colleague_start_nothing_while_old_data_are_aside_and_the_run_goes_on_to_its_end(
    steer: Estate, console: Console, whole: Whole, started_by_boots: None
) -> None:
    old = steer.host("s3").sh(_LISTING).out
    killed = console.killed_run("keep-data-s3=done", NAME, tables=backups.tables(), **_HOW)
    assert killed.code == KILLED, killed
    _assert_held(steer)
    _reboot(steer)
    resumed = console("resume", console.runs()[0], "--yes")
    console.assert_ended(RunState.DONE, resumed)
    kept = _LISTING.replace("/var/lib/mysql;", "/var/lib/mysql/#sql-pilothouse-before.sst;")
    assert steer.host("s3").sh(kept).out == old
    steer.wait_synced(size=3)
    backups.forget(steer, "s3")
    steer.host("s3").sh("systemctl disable mariadb 2>&1")
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("word", ["undo", "resume"])
def test_that_a_boot_in_a_copy_starts_nothing_and_the_run_is_taken_back_exactly_asked_or_by_itself(
    steer: Estate, console: Console, whole: Whole, started_by_boots: None, word: str
) -> None:
    """Half a copy is never gone on with: a run that is resumed there says so, and is taken back by itself."""
    s3 = steer.host("s3")
    old = s3.sh(_LISTING).out
    steer.throttle("s3", 10)
    with console.running("run", NAME, *_words(tables=backups.tables(), **_HOW), "--yes", limit_s=600) as running:
        try:
            running.wait_for_step("copy-back-s3", "acting", limit_s=500)
            s3.sh("until test -e /var/lib/mysql/ibdata1; do sleep 0.02; done", limit_s=120)
        finally:
            running.kill()
            steer.unthrottle("s3")
    steer.reboot("s3")
    assert s3.sh("test -e /var/lib/mysql/ibdata1; test ! -e /var/lib/mysql/grastate.dat").ok
    _assert_held(steer)
    ended = console(word, console.runs()[0], "--yes")
    view = console.assert_ended(RunState.UNDONE, ended)
    if word == "resume":
        copied = next(step for step in view.steps if step.step.step_id == "copy-back-s3")
        assert "It was not started again: /var/lib/mysql/ibdata1 exists" in copied.error, ended
    assert s3.sh(_LISTING).out == old
    s3.sh("systemctl disable mariadb 2>&1")
    whole.assert_files_as_before()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.qt_log_ignore("does not support", extend=True)  # the off-screen platform's own menus
def test_that_a_node_returns_from_its_backups_through_the_window_from_the_cards_to_the_report(
    qtbot: QtBot, steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    with Writer(steer, ("s1", "s2"), rate=20) as writer, at_the_window(qtbot, console, "backups") as person:
        person.begins_at_the_cards(NAME)
        assert (person.answer("joiner"), person.answer("full")) == ("s3", chain[0])
        assert person.answer("incrementals") == ",".join(chain[1:])
        person.answers_and_begins({"tables": backups.tables(), "memory": "128 MiB", "settle": "3 s"})
        person.sees_it_done()
        assert any("copies of the backups on s3" in told for told in person.duties), person.duties
        person.looks_in_the_journal()
        writer.assert_nothing_lost(members(steer))
    steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE).steps}
    assert "by IST" in steps["transfer-s3"]
    assert "3 of 3 tables are equal" in steps["compare-s3"]


def _words(**inputs: object) -> tuple[str, ...]:
    return tuple(word for name, value in inputs.items() for word in ("--input", f"{name}={value}"))
