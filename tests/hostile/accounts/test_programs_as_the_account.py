"""What lies in data that another account wrote leads root's programs nowhere: names in a backup, links, pipes, swaps.

The tool of these tests obeys a `.ren` file as mariadb-backup 10.11.18 does: a table's file gets the path that it holds.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.connections.operator.made_by_run import NOTES
from services.connections.programs.backup_programs import BACKUPS
from services.connections.programs.read_programs import LOG_NEWEST, VIEWS_OF_LOG
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import COPY_CHAIN, PREPARE_ONCE
from services.procedures.catalogue.steps.restored.restoring_programs import EMPTY_BESIDE
from services.procedures.catalogue.steps.restored.state_kept import KEEP_STATE, PUT_STATE_BACK, SCRIPT_ENDS_S
from services.procedures.plan.parts.galera.data_folder import INSIDE
from tests.hostile.accounts.test_folders_of_others import ACCOUNT, GROUP, USER, Place, place

__all__ = ["place"]
U = "0a9baafc-e833-11f1-988e-8319290952fc"
_OBEYS = """#!/bin/sh
for one; do case $one in --target-dir=*) to=${one#*=};; esac; done
cd "$to" || exit
for one in */*.ren; do mv "${one%.ren}.ibd" "$(cat "$one").ibd" || exit; done
echo 'completed OK!'
"""
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another account")


def _ran(program: str, *words: object, limit_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", program, "pilothouse", *map(str, words)],
        capture_output=True, text=True, timeout=limit_s, check=False, stdin=subprocess.DEVNULL, errors="replace",
    )  # fmt: skip


def _tool(place: Place, text: str) -> Path:
    tool = place.top / "tool"
    tool.write_text(text, encoding="ascii")
    tool.chmod(0o755)
    return tool


def _backup(place: Place, target: str) -> Path:
    backup = place.own / "backup"
    (backup / "shop").mkdir(parents=True)
    (backup / "shop" / "evil.ibd").write_text("root's next program")
    (backup / "shop" / "evil.ren").write_text(target)
    (backup / "xtrabackup_galera_info").write_text(f"{U}:7 0\n")
    for at in (backup, *backup.rglob("*")):
        os.chown(at, USER, GROUP)
    return backup


def test_that_a_path_in_a_backup_leads_a_prepare_to_nothing_of_roots(place: Place) -> None:
    """The tool renamed the account's file into /etc/logrotate.d as root: root's next program ran it."""
    backup, tool = _backup(place, f"../../../../../../../../..{place.wanted}/evil"), _tool(place, _OBEYS)
    ran = _ran(PREPARE, backup, place.roots / "work", tool, f"{U}:7")
    assert (ran.returncode, "names a place that is no table of the backup" in ran.stdout) == (9, True), ran
    assert not (place.roots / "work").exists()
    ran = _ran(COPY_CHAIN, place.roots / "copies", "/var/lib/x", backup)
    assert (ran.returncode, "names a place that is no table of the backup" in ran.stdout) == (7, True), ran
    words = (place.roots / "copies/began-0", tool, "--prepare", f"--target-dir={place.roots / 'copies/0'}")
    assert _ran(PREPARE_ONCE, *words).returncode != 0
    assert place.untouched()


_FOLLOWS = """#!/bin/sh
for one; do case $one in --target-dir=*) to=${one#*=};; esac; done
cd "$to" || exit
while read -r path; do echo 'rows of a backup' > "$path" || echo "***WARNING: $path could not be opened: Error: 13"
done < aria_log.00000001
[ ! -e link ] || ln -s "$(cat link)" shop/orders.MYI
[ ! -e begins ] || setsid sleep 300 > /dev/null 2>&1 &
echo 'completed OK!'
"""
"""What mariadb-backup 10.11.18 does with an Aria log: rows go to the table of the path that stands there (tried)."""


def _with_log(place: Place, **files: str) -> Path:
    backup = _backup(place, "./shop/orders")
    for name, text in files.items():
        (backup / name).write_text(text)
        os.chown(backup / name, USER, GROUP)
    return backup


def _both_ways(place: Place, backup: Path, tool: Path) -> tuple[subprocess.CompletedProcess[str], ...]:
    """Prepare a backup as rejoin-from-binlogs does, and as rejoin-from-incrementals does."""
    alone = _ran(PREPARE, backup, place.roots / "work", tool, f"{U}:7")
    copies = place.roots / "copies"
    assert _ran(COPY_CHAIN, copies, "/var/lib/x", backup).returncode == 0
    words = (copies / "began-0", tool, "--prepare", f"--target-dir={copies / '0'}")
    return alone, _ran(PREPARE_ONCE, *words)


def test_that_a_path_in_the_log_of_a_backup_leads_a_prepare_to_nothing_of_roots(place: Place) -> None:
    """Root's tool wrote rows of the backup over a file of root's: as a path, or through the account's own link."""
    (place.own / "t.MAD").symlink_to(place.wanted / "shadow")
    paths = (place.wanted / "shadow", place.own / "t.MAD", place.wanted / "new", "../new")
    backup = _with_log(place, **{"aria_log.00000001": "".join(f"{one}\n" for one in paths)})
    for ran in _both_ways(place, backup, _tool(place, _FOLLOWS)):
        assert "could not be opened: Error: 13" in ran.stdout, ran
    assert place.untouched()
    assert not (place.roots / "new").exists()
    assert not (place.roots / "work").exists()


def test_that_what_a_prepare_writes_in_its_own_copy_is_roots_afterwards(place: Place) -> None:
    backup = _with_log(place, **{"aria_log.00000001": "shop/orders.MAD\n"})
    for ran, made in zip(_both_ways(place, backup, _tool(place, _FOLLOWS)), ("work", "copies/0"), strict=True):
        assert ran.returncode == 0, ran
        folder = place.roots / made
        assert (folder / "shop/orders.MAD").read_text() == "rows of a backup\n"
        assert {one.stat().st_uid for one in (folder, *folder.rglob("*"))} == {0}
        assert all(one.stat().st_mode & 0o7022 == 0 for one in (folder, *folder.rglob("*")))
    assert (place.roots / "copies").stat().st_mode & 0o777 == 0o700


def test_that_a_link_that_a_prepare_leaves_in_its_copy_ends_the_run(place: Place) -> None:
    backup = _with_log(place, **{"aria_log.00000001": "", "link": str(place.wanted / "shadow")})
    for ran in _both_ways(place, backup, _tool(place, _FOLLOWS)):
        assert (ran.returncode != 0, "is not a plain file or folder of its own" in ran.stdout) == (True, True), ran
    assert place.untouched()


def test_that_what_a_prepare_began_is_ended_before_its_copy_is_roots_again(place: Place) -> None:
    backup = _with_log(place, **{"aria_log.00000001": "", "begins": ""})
    begun = _FOLLOWS.replace("2>&1 &\n", "2>&1 &\n[ ! -e begins ] || echo $! > begins\n")
    for ran, made in zip(_both_ways(place, backup, _tool(place, begun)), ("work", "copies/0"), strict=True):
        assert ran.returncode == 0, ran
        assert not Path("/proc", (place.roots / made / "begins").read_text().strip()).exists()


def test_that_a_prepare_reaches_its_copy_in_a_closed_folder_and_writes_nowhere_else_all_the_same(place: Place) -> None:
    """A tool that can't reach a table loses its rows, and says that all is well; /var/lib/pilothouse is closed."""
    log = f"shop/orders.MAD\n{place.wanted / 'shadow'}\n../new\n"
    backup = _with_log(place, **{"aria_log.00000001": log})
    place.roots.chmod(0o700)
    copies = place.roots / "deep" / "copies"
    assert _ran(COPY_CHAIN, copies, "/var/lib/x", backup).returncode == 0
    copies.parent.chmod(0o700)
    words = (copies / "began-0", _tool(place, _FOLLOWS), "--prepare", f"--target-dir={copies / '0'}")
    ran = _ran(PREPARE_ONCE, *words)
    assert (ran.returncode, ran.stdout.count("could not be opened: Error: 13")) == (0, 2), ran
    assert (copies / "0/shop/orders.MAD").read_text() == "rows of a backup\n"
    assert place.untouched()
    assert not (copies / "new").exists()


@pytest.mark.parametrize("named", ["../new", "../../../new"])
def test_that_what_a_prepare_makes_beside_its_copy_is_taken_away_and_nothing_of_it_counts(
    place: Place, named: str
) -> None:
    """Where everybody may write nobody may too: `../NAME.ibd` stayed there, under a number of no account."""
    place.roots.chmod(0o1777)
    (place.roots / "theirs").write_text("of somebody else")
    os.chown(place.roots / "theirs", USER, GROUP)
    backup, tool = _with_log(place, **{"aria_log.00000001": f"{named}\n"}), _tool(place, _FOLLOWS)
    if named == "../new":
        ran = _ran(PREPARE, backup, place.roots / "work", tool, f"{U}:7")
    else:
        copies = place.roots / "deep/copies"
        assert _ran(COPY_CHAIN, copies, "/var/lib/x", backup).returncode == 0
        ran = _ran(PREPARE_ONCE, copies / "began-0", tool, "--prepare", f"--target-dir={copies / '0'}")
    assert ran.returncode != 0
    assert f"{place.roots}/new was made outside of the copies" in ran.stdout
    assert not (place.roots / "new").exists()
    assert (place.roots / "theirs").read_text() == "of somebody else"


def test_that_a_table_that_was_renamed_while_the_backup_was_taken_is_taken_as_it_is(place: Place) -> None:
    backup = _backup(place, "./shop/orders")
    assert _ran(COPY_CHAIN, place.roots / "copies", "/var/lib/x", backup).returncode == 0


def test_that_an_account_that_has_a_folder_open_swaps_nothing_in_it_while_root_empties_the_data(place: Place) -> None:
    """Ten of ten: root's rm went to data/shop/zz/shadow.ibd by a link that was laid in zz's place meanwhile."""
    data, kept = place.own / "data", place.own / "data" / INSIDE
    (data / "shop/zz").mkdir()
    (data / "shop/zz/shadow.ibd").write_text("rows")
    (place.wanted / "shadow.ibd").write_text("root's")
    kept.mkdir()
    for at in (data / "shop/zz", data / "shop/zz/shadow.ibd"):
        os.chown(at, USER, GROUP)
    (place.roots / "notes").mkdir()
    swap = f"cd /proc/self/fd/8 && mv -T zz zz.was && ln -s {place.wanted} zz"
    own = f"command setpriv --reuid={USER} --regid={GROUP} --clear-groups sh -c '{swap}'"
    attack = f'exec 8< {data}/shop\nxargs() {{ {own}; command xargs "$@"; }}\n'
    program = EMPTY_BESIDE.replace(NOTES, str(place.roots / "notes"))
    ran = _ran(attack + program, data, kept, USER)
    assert (place.wanted / "shadow.ibd").read_text() == "root's", ran
    assert ran.returncode == 0, ran


def _with_state_kept(place: Place) -> tuple[Path, Path, Path]:
    """Keep the state of a data folder; return that folder, where the state lies, and the server's log."""
    data, kept, log = place.own / "data", place.roots / "state", place.own / "error.log"
    (data / "grastate.dat").write_text("uuid:    u\nseqno:   -1\n")
    (data / "ibdata1").write_text("rows")
    log.write_text("before\n")
    for at in (data / "grastate.dat", data / "ibdata1", log):
        os.chown(at, USER, GROUP)
    assert _ran(KEEP_STATE, ACCOUNT, data, kept, log).returncode == 0
    return data, kept, log


def test_that_a_pipe_or_a_log_without_an_end_keeps_no_undo_waiting(place: Place) -> None:
    """root's grep waited on the pipe for ever, root's tail filled /tmp from a sparse log of 100 GB."""
    data, kept, log = _with_state_kept(place)
    words = (ACCOUNT, data, kept, "no.service", log, "u", "WSREP: ")
    (data / "grastate.dat").unlink()
    os.mkfifo(data / "grastate.dat")
    with log.open("a") as grown:
        grown.truncate(100 * 2**30)
    ran = _ran(PUT_STATE_BACK, *words)
    assert (ran.returncode, "more since than is read" in ran.stdout) == (0, True), ran
    log.write_text("before\nWSREP: came\n")
    ran = _ran(PUT_STATE_BACK, *words)
    assert (ran.returncode, ran.stdout) == (0, "state file: put back\n"), ran
    assert (data / "grastate.dat").read_text().splitlines()[2] == "uuid:    u"


_RAN = "[Note] WSREP: Running: 'wsrep_sst_{} --role 'joiner' --address '10.0.0.3' --parent 162'\n"
_BACKUP = _RAN.format("mariabackup")


@pytest.mark.parametrize(
    ("log", "more", "told"),
    [
        (_BACKUP, "", "put back"),
        (_BACKUP, ".sst", "a transfer had begun"),
        (_RAN.format("rsync"), "", "a transfer had begun"),
        (_BACKUP + _RAN.format("rsync"), "", "a transfer had begun"),
        ("[Note] WSREP: came\n", "", "a transfer had begun"),
        (_BACKUP, "process", "may run still"),
        (_BACKUP, "process that ends", "put back"),
    ],
)
def test_that_the_mark_of_a_transfer_alone_keeps_no_state_file_from_its_place(
    place: Place, log: str, more: str, told: str
) -> None:
    """wsrep_sst_mariabackup makes .sst before it erases; cut short it leaves its mark (MariaDB 10.11.18)."""
    data, kept, at = _with_state_kept(place)
    (data / "grastate.dat").write_text("uuid:    0\nseqno:   -1\n")
    (data / "sst_in_progress").touch()
    os.chown(data / "sst_in_progress", USER, GROUP)
    if more == ".sst":
        (data / more).mkdir()
    at.write_text("before\n" + log)
    # In its own trap a script ends its processes, then takes its mark away: the undo gives it that time.
    runs = ["bash", "-c", f"read -r -t {5 if more.endswith('ends') else 120}; rm -f $0 # wsrep_sst_x"]
    mark = str(data / "sst_in_progress")
    script = subprocess.Popen([*runs, mark], stdin=subprocess.PIPE, user=USER) if "process" in more else None
    program = PUT_STATE_BACK if more != "process" else PUT_STATE_BACK.replace(f"seq {SCRIPT_ENDS_S}", "seq 2")
    try:
        ran = _ran(program, ACCOUNT, data, kept, "no.service", at, "u", "WSREP: ")
    finally:
        if script is not None:
            script.kill()
            script.communicate()
    assert (ran.returncode, told in ran.stdout) == (0, True), ran
    assert (data / "sst_in_progress").exists() == (told != "put back")
    assert ("uuid:    u" in (data / "grastate.dat").read_text()) == (told == "put back")


def test_that_a_log_without_a_lines_end_takes_no_more_memory_than_its_bound(place: Place) -> None:
    log = place.own / "error.log"
    log.write_text("WSREP: New COMPONENT: primary = yes, early\n")
    with log.open("a") as grown:
        grown.truncate(100 * 2**30)
    ran = _ran(VIEWS_OF_LOG.replace(str(LOG_NEWEST), str(2**20)), "file", log)
    assert ran.returncode == 0, ran
    assert "early" not in ran.stdout
    assert 0 < int(ran.stdout.rpartition("read ")[2].split()[0]) <= 2**20 + 200
    log.unlink()
    os.mkfifo(log)
    ran = _ran(VIEWS_OF_LOG, "file", log, limit_s=10.0)
    assert (ran.stdout, "is not a plain file" in ran.stderr) == ("read 0 0\n", True), ran


def test_that_what_the_cut_of_a_log_may_have_left_of_a_clients_words_is_not_told(place: Place) -> None:
    log, view = place.own / "error.log", "2026-11-28 19:00:00 0 [Note] WSREP: New COMPONENT: primary = yes, {}\n"
    padded = "2026-11-28 19:00:00 0 [Note] other\n" * 400
    log.write_text(view.format("older") + padded + view.format("forged") + padded + view.format("true"))
    whole = len(log.read_text()) - len(view.format("older")) - 10
    cut = VIEWS_OF_LOG.replace(str(LOG_NEWEST), str(whole - len(padded)))
    output = _ran(cut, "file", log).stdout
    assert ("true" in output, "forged" in output, "older" in output) == (True, False, False), output
    output = _ran(VIEWS_OF_LOG, "file", log).stdout
    assert all(word in output for word in ("true", "forged", "older")), output


def test_that_a_pipe_with_the_name_of_a_backups_file_ends_no_search(place: Place) -> None:
    backup = place.own / "backup"
    backup.mkdir()
    (backup / "xtrabackup_checkpoints").write_text("backup_type = full-backuped\n")
    for name in ("mariadb_backup_binlog_info", "xtrabackup_info", "mariadb_backup_galera_info"):
        os.mkfifo(backup / name)
    ran = _ran(BACKUPS, backup, limit_s=20.0)
    assert (ran.returncode, ran.stdout.endswith("end\n")) == (0, True), ran
