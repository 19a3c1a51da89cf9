"""The programs that keep, bring back and clear folders, run for real on folders of the test's own, cut short too."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from services.connections.operator.made_by_run import NOTES
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import (
    CLEAR_COPIES,
    COPY_CHAIN,
    MARK,
    PREPARE_ONCE,
)
from services.procedures.catalogue.galera.snapshot_node.hold import RUN
from services.procedures.catalogue.galera.snapshot_node.look_through import BRING
from services.procedures.catalogue.steps.restored.restoring_programs import (
    BACK_FROM_INSIDE,
    COPIED_BACK,
    COPY_BACK,
    GIVE_TO_SERVER,
    KEEP_INSIDE,
)
from services.procedures.plan.parts.galera.data_folder import INSIDE, INSIDE_BEFORE
from tests.entered_by_others import entered

OWNER, WHO = os.getuid(), f"{os.getuid()}:{pwd.getpwuid(os.getuid()).pw_gid}"
MINE = f"{os.getuid()}:{os.getgid()}"
DATADIR = "/var/lib/mysql"
_CHOWN = 'chown() { printf "%s\\n" "$*" >> "$CHOWNED"; }\n'
"""Only root may give a file away: what would be given, and in which order, is written down."""


def _ran(program: str, *words: object, chowned: Path | None = None) -> int:
    text = program if chowned is None else _CHOWN + program
    done = subprocess.run(
        ("bash", "-c", text, "pilothouse", *map(str, words)),
        env={**os.environ, "CHOWNED": str(chowned or "/dev/null")},
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.fixture
def data(tmp_path: Path) -> Path:
    entered(tmp_path)
    folder = tmp_path / "data"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/orders.ibd").write_text("rows")
    (folder / "ibdata1").write_text("old")
    return folder


def test_that_data_kept_inside_come_back_and_the_folder_is_given_to_its_owner_last(data: Path, tmp_path: Path) -> None:
    aside, chowned = data / ".kept", tmp_path / "chowned"
    assert _ran(KEEP_INSIDE, data, aside, OWNER, chowned=chowned) == 0
    assert [p.name for p in data.iterdir()] == [".kept"]
    assert _ran(BACK_FROM_INSIDE, data, aside, OWNER, chowned=chowned) == 0
    assert sorted(p.name for p in data.iterdir()) == ["ibdata1", "shop"]
    assert (data / "shop/orders.ibd").read_text() == "rows"
    assert chowned.read_text().splitlines() == [f"-h -- {MINE} ."] * 2 + [f"-h -- {WHO} ."]


def test_that_a_folder_of_which_nothing_was_kept_yet_is_given_back_by_the_way_back(data: Path, tmp_path: Path) -> None:
    chowned = tmp_path / "chowned"
    assert _ran(BACK_FROM_INSIDE, data, data / ".kept", OWNER, chowned=chowned) == 0
    assert chowned.read_text().splitlines()[-1] == f"-h -- {WHO} ."


def test_that_keeping_begins_with_the_folder_that_shows_it(data: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    (data / ".kept.part").write_text("a file where the folder should be")
    assert _ran(KEEP_INSIDE, data, data / ".kept", OWNER, chowned=blocked) == 5
    assert not blocked.exists(), "the data folder is still its server's"


def test_that_what_was_brought_is_given_to_the_owner_with_the_mode_of_what_is_kept_beside(
    data: Path, tmp_path: Path
) -> None:
    aside, chowned = tmp_path / "data.kept", tmp_path / "chowned"
    aside.mkdir()
    aside.chmod(0o755)
    data.chmod(0o700)
    assert _ran(GIVE_TO_SERVER, data, aside, OWNER, chowned=chowned) == 0
    assert data.stat().st_mode & 0o777 == 0o755
    assert chowned.read_text().splitlines()[-1] == f"-h -- {WHO} ."


def test_that_a_copy_can_be_cleared_at_whatever_moment_it_was_cut_short(data: Path, tmp_path: Path) -> None:
    work = tmp_path / "r" / "copies"
    assert _ran(COPY_CHAIN, work, DATADIR, data) == 0
    assert (work / "0/shop/orders.ibd").read_text() == "rows"
    assert _ran(COPY_CHAIN, work, DATADIR, data) == 0, "begun again it begins with fresh copies"
    (work / "0/ibdata1").unlink()  # a clearing that was cut short: the mark goes last
    assert (work / MARK).exists()
    assert _ran(CLEAR_COPIES, work) == 0
    assert not work.exists()
    work.mkdir()  # killed before the mark was made, or after it was removed
    assert _ran(CLEAR_COPIES, work) == 0
    assert not work.exists()
    work.mkdir()
    assert _ran(COPY_CHAIN, work, DATADIR, data) == 0
    assert _ran(CLEAR_COPIES, work) == 0
    assert _ran(CLEAR_COPIES, work) == 0


def test_that_somebody_elses_folder_is_neither_cleared_nor_copied_into(data: Path, tmp_path: Path) -> None:
    assert _ran(CLEAR_COPIES, data) == 4
    assert _ran(COPY_CHAIN, data, DATADIR, tmp_path) == 4
    assert (data / "ibdata1").read_text() == "old"
    leads = tmp_path / "leads"
    leads.symlink_to(data)
    assert _ran(CLEAR_COPIES, leads) == 4
    assert (data / "ibdata1").read_text() == "old"


@pytest.mark.parametrize(("tool", "synced", "ended"), [(0, 0, True), (7, 0, False), (0, 1, False)])
def test_that_a_copy_back_has_ended_only_when_it_is_on_disk(data: Path, *, tool: int, synced: int, ended: bool) -> None:
    """The tool writes without one fsync: a power cut would leave files with holes behind a copy that was told done."""
    program = COPY_BACK.replace(NOTES, str(data.parent / "notes"))
    text = f'sync() {{ echo "sync $*"; return {synced}; }}\n{program}'
    told = f"echo 'copying'; echo 'completed OK!'; exit {tool}"
    words = ("bash", "-c", text, "pilothouse", str(data), f"{data}.kept", "sh", "-c", told)
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) is ended
    assert ("sync -f ." in ran.stdout) is (tool == 0)
    assert b"d shop\0" in next((data.parent / "notes").iterdir()).read_bytes()
    shown = program.replace("sync -f", "true")
    words = ("bash", "-c", shown, "pilothouse", str(data), f"{data}.kept", "sh", "-c", told)
    printed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert (re.search(COPIED_BACK, printed) is not None) is (tool == 0)


@pytest.mark.parametrize("by", ["the operator's command", "a copy back"])
def test_that_what_a_stopped_command_had_brought_is_noted_so_that_an_undo_removes_it(data: Path, by: str) -> None:
    """An undo keeps, and leaves to a person, what is not noted and bears no server's name: half a copy's parts too."""
    program = (COPY_BACK if by == "a copy back" else BRING).replace(NOTES, str(data.parent / "notes"))
    more = () if by == "a copy back" else (RUN, "60")
    words = ("bash", "-c", program, "pilothouse", str(data), f"{data}.kept", *more)
    begins = (
        "sh",
        "-c",
        f"cd {data} && touch part-1 && mkfifo {data.parent}/there && echo >{data.parent}/there; sleep 60",
    )
    with subprocess.Popen((*words, *begins), stdout=subprocess.DEVNULL, start_new_session=True) as at_work:
        while not (data.parent / "there").exists():
            time.sleep(0.01)
        (data.parent / "there").read_text()
        for one in _below(at_work.pid):  # systemd sends its signal to each process of a unit: systemd.kill(5)
            with contextlib.suppress(ProcessLookupError):  # its end may have come with its child's
                os.kill(one, signal.SIGTERM)
        assert at_work.wait(30) not in {0, -signal.SIGTERM}
    assert b"f part-1\0" in next((data.parent / "notes").iterdir()).read_bytes()


def _below(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [one for child in listed for one in _below(int(child))] + [pid]


@pytest.mark.parametrize("name", [INSIDE, INSIDE_BEFORE])
def test_that_what_an_earlier_run_kept_in_the_data_folder_is_not_copied_with_a_backup(
    data: Path, tmp_path: Path, name: str
) -> None:
    (data / name).mkdir()
    (data / name / "orders.ibd").write_text("older")
    assert _ran(COPY_CHAIN, tmp_path / "copies", DATADIR, data) == 0
    assert sorted(p.name for p in (tmp_path / "copies/0").iterdir()) == ["ibdata1", "shop"]
    assert (data / name / "orders.ibd").exists()


def test_that_a_backup_whose_tables_lie_elsewhere_is_no_copy(data: Path, tmp_path: Path) -> None:
    (data / "shop/far.isl").write_text("/elsewhere/shop/far.ibd")
    assert _ran(COPY_CHAIN, tmp_path / "copies", DATADIR, data) == 7
    (data / "shop/far.isl").unlink()
    os.mkfifo(data / "shop/waits.ibd")
    assert _ran(COPY_CHAIN, tmp_path / "copies", DATADIR, data) == 7


_WRITTEN = """# This options file was generated by innobackupex.

# The server
[mysqld]
innodb_checksum_algorithm=crc32
innodb_data_file_path=ibdata1:12M;ibdata2:8M:autoextend
innodb_log_file_size=100663296
innodb_page_size=4096
innodb_undo_directory=./
innodb_undo_tablespaces=0
innodb_compression_level=6
"""
"""As mariadb-backup 10.11.18 writes it."""
_TOOL = '#!/bin/sh\ncd "${0%tool}place/work.part" && cat backup-my.cnf > read\necho "completed OK!"\n'


def _prepared_by_binlogs(tmp_path: Path, backup: Path) -> subprocess.CompletedProcess[str]:
    """Run the prepare of rejoin-from-binlogs with a stand-in that writes down which options it was given."""
    place, tool = tmp_path / "place", tmp_path / "tool"
    place.mkdir(mode=0o755)
    tool.write_text(_TOOL, encoding="ascii")
    tool.chmod(0o755)
    (backup / "xtrabackup_galera_info").write_text("u:7 0\n", encoding="ascii")
    words = ("bash", "-c", PREPARE, "pilothouse", *map(str, (backup, place / "work", tool, "u:7")))
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("more", ["", "plugin_load=\n", "plugin-load = \n"])
def test_that_a_prepare_is_given_what_a_backup_says_of_its_pages_and_files(
    data: Path, tmp_path: Path, more: str
) -> None:
    (data / "backup-my.cnf").write_text(_WRITTEN + more, encoding="ascii")
    wanted = [line for line in _WRITTEN.splitlines() if line and not line.startswith("#")]
    assert _ran(COPY_CHAIN, tmp_path / "copies", DATADIR, data) == 0
    kept = tmp_path / "copies/0/backup-my.cnf"
    assert kept.read_text(encoding="ascii").splitlines() == wanted
    assert _ran(PREPARE_ONCE, tmp_path / "copies/began-0", "true") == 0
    assert kept.read_text(encoding="ascii").splitlines() == wanted
    assert _prepared_by_binlogs(tmp_path, data).returncode == 0
    assert (tmp_path / "place/work/read").read_text(encoding="ascii").splitlines() == wanted


@pytest.mark.parametrize(
    "line",
    [
        "plugin_load=evil.so",
        "plugin-load=evil.so",
        "plugin_load_add = evil",
        "loose-plugin-load=evil.so",
        "plugin_dir=/tmp/a",
        "plugin-dir=./",
        "plugin_loa=evil.so",
        "innodb_undo_directory=/tmp/a",
        "innodb_data_home_dir=./",
        "innodb_data_file_path=/tmp/a/ibdata1:12M",
        "innodb_data_file_path=..:12M",
        "innodb_encrypt_log=ON",
        "file_key_management_filename=keys",
        "!include evil.cnf",
        "!includedir /tmp/a",
        "[mariabackup]",
        "datadir=/tmp/a",
        "tmpdir",
    ],
)
def test_that_no_prepare_begins_with_an_option_that_a_backup_has_no_need_of(
    data: Path, tmp_path: Path, line: str
) -> None:
    """What a backup's own options name is loaded by root: whoever wrote the backup would be root."""
    later, copies = tmp_path / "later", tmp_path / "copies"
    later.mkdir()
    (data / "backup-my.cnf").write_text(_WRITTEN, encoding="ascii")
    (later / "backup-my.cnf").write_text(f"{_WRITTEN}  {line}", encoding="ascii")
    assert _ran(COPY_CHAIN, copies, DATADIR, data, later) == 9
    (copies / "1/backup-my.cnf").write_text(f"{_WRITTEN}{line}\n", encoding="ascii")
    assert _ran(PREPARE_ONCE, copies / "began-0", "touch", copies / "ran") == 9
    assert not (copies / "ran").exists()
    ran = _prepared_by_binlogs(tmp_path, later)
    assert ran.returncode == 9
    assert f"backup-my.cnf names {line}: " in ran.stdout
    assert not list((tmp_path / "place").rglob("read"))


def test_that_nothing_is_copied_or_prepared_where_others_may_write_above_it(data: Path, tmp_path: Path) -> None:
    """Who may write into a folder on the way renames what root made, and lays something else there."""
    shared, work = tmp_path / "shared", tmp_path / "shared/below/copies"
    (shared / "below").mkdir(parents=True)
    for mode in (0o777, 0o772):
        shared.chmod(mode)
        assert _ran(COPY_CHAIN, work, DATADIR, data) == 10
        assert not work.exists()
        assert _ran(COPY_CHAIN, tmp_path / "copies", shared / "mysql", data) == 10
        assert not (tmp_path / "copies").exists()
    shared.chmod(0o1777)  # nobody renames what is ours there
    assert _ran(COPY_CHAIN, work, DATADIR, data) == 0
    shared.chmod(0o777)
    assert _ran(PREPARE_ONCE, work / "began-0", "touch", tmp_path / "ran") == 10
    assert not (tmp_path / "ran").exists()
    assert not (work / "began-0").exists()
