"""The database's account, or who wrote a backup, against root's programs on folders: links, swaps, odd files."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from services.connections.operator.folders_of_others import WALK
from services.connections.programs.folder_programs import OWN_PLACE
from services.procedures.catalogue.galera.rejoin_from_binlogs.restore_programs import PREPARE
from services.procedures.catalogue.galera.rejoin_from_incrementals.programs import COPY_CHAIN
from services.procedures.catalogue.galera.snapshot_node.hold import LISTED
from services.procedures.catalogue.galera.snapshot_node.look_through import LOOK_THROUGH
from services.procedures.catalogue.steps.restored.restoring_programs import KEEP_INSIDE


def _ran(program: str, *words: object, attack: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program of root's; `attack` is a shell's functions that act at the moment at which an attacker would."""
    return subprocess.run(
        ["bash", "-c", f"{attack}\n{program}", "pilothouse", *map(str, words)],
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/orders.ibd").write_text("rows")
    (folder / "ibdata1").write_text("old")
    return folder


_NOT_ROOT = "chown() { :; }\n"


def test_that_a_link_laid_where_old_data_are_kept_takes_nothing_of_the_data_elsewhere(
    data: Path, tmp_path: Path
) -> None:
    """Root moved what the database's account chose into a folder of its choice: /etc/ld.so.preload, for one."""
    etc = tmp_path / "etc"
    etc.mkdir()
    (data / "ld.so.preload").write_text("/tmp/evil.so")
    swap = f'mkdir() {{ command mkdir "$@" && rmdir "$4" && ln -s {etc} "$4"; }}\n'
    ran = _ran(KEEP_INSIDE, data, data / ".kept", os.getuid(), attack=_NOT_ROOT + swap)
    assert ran.returncode == 5, ran
    assert list(etc.iterdir()) == []
    assert (data / "ld.so.preload").exists()


def test_that_a_data_folder_that_others_may_write_into_is_closed_before_anything_is_moved(data: Path) -> None:
    data.chmod(0o777)
    ran = _ran(KEEP_INSIDE, data, data / ".kept", os.getuid(), attack=_NOT_ROOT)
    assert ran.returncode == 0, ran
    assert data.stat().st_mode & 0o777 == 0o755
    assert [one.name for one in data.iterdir()] == [".kept"]


@pytest.mark.parametrize("led", ["", "a link"])
def test_that_no_data_are_exchanged_in_a_folder_in_which_others_may_exchange_them_too(tmp_path: Path, led: str) -> None:
    """Who may write there put a link in the place of root's new folder: what it led to was given to the server."""
    place = tmp_path / "srv" / "mysql"
    place.mkdir(parents=True)
    asked = place
    if led:
        asked = tmp_path / "leads"
        asked.symlink_to(place)
    assert _ran(OWN_PLACE, asked).returncode == 0, _ran(OWN_PLACE, asked)
    for mode, above in ((0o757, place), (0o775, place.parent)):
        above.chmod(mode)
        if os.getuid() == 0:
            os.chown(above, -1, 1)
        ran = _ran(OWN_PLACE, asked)
        assert (ran.returncode, str(above) in ran.stdout) == (1, True), ran
        above.chmod(0o755)


@pytest.mark.parametrize(("mode", "group", "refused"), [(0o755, 1, 0), (0o775, 0, 0), (0o775, 1, 1), (0o1777, 0, 1)])
def test_that_what_passes_before_a_plan_passes_in_its_steps_as_well(
    tmp_path: Path, mode: int, group: int, refused: int
) -> None:
    """A folder of root's and its group passed the check, and was refused by the first step, the server stopped."""
    if os.getuid() != 0:
        pytest.skip("a folder can be given to a group by root alone")
    place = tmp_path / "place"
    place.mkdir()
    os.chown(place, 0, group)
    place.chmod(mode)
    assert _ran(OWN_PLACE, place).returncode == refused
    assert (_ran(f'{WALK}beside "$1"', place / "data").returncode != 0) == bool(refused)


def test_that_an_access_list_that_lets_somebody_write_is_seen(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o755)
    assert _ran(OWN_PLACE, place).returncode == 0
    entries = ((1, 7, -1), (2, 7, 65534), (4, 5, -1), (16, 7, -1), (32, 5, -1))  # u::rwx u:nobody:rwx g::r-x m::rwx o
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(place, "system.posix_acl_access", packed)
    except OSError:
        pytest.skip("this file system has no access lists")
    ran = _ran(OWN_PLACE, place)
    assert (ran.returncode, str(place) in ran.stdout) == (1, True), ran


# -- the backup --------------------------------------------------------------------------------------------------------

U = "0a9baafc-e833-11f1-988e-8319290952fc"
_TOOL = "#!/bin/sh\nfor one; do :; done\necho page >> ${one#--target-dir=}/shop/orders.ibd\necho 'completed OK!'\n"


def _copied(tmp_path: Path, backup: Path, program: str, attack: str) -> subprocess.CompletedProcess[str]:
    """Copy a backup by either procedure's program, while its writer acts."""
    place, tool = tmp_path / "place", tmp_path / "tool"
    place.mkdir(mode=0o755)
    tool.write_text(_TOOL, encoding="ascii")
    tool.chmod(0o755)
    (backup / "xtrabackup_galera_info").write_text(f"{U}:7 0\n", encoding="ascii")
    words = (backup, place / "work", tool, f"{U}:7") if program is PREPARE else (place / "work", "/var/lib/x", backup)
    return _ran(program, *words, attack=attack)


@pytest.mark.parametrize("program", [PREPARE, COPY_CHAIN])
def test_that_what_becomes_a_link_when_it_is_copied_is_no_copy(data: Path, tmp_path: Path, program: str) -> None:
    """Root's prepare wrote through it: into any file of the host."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    ran = _copied(tmp_path, data, program, f'cp() {{ ln -sf {victim} {data}/shop/orders.ibd; command cp "$@"; }}')
    assert ran.returncode != 0, ran
    assert victim.read_text() == "mine"
    assert not (tmp_path / "place/work/shop").exists()


@pytest.mark.parametrize("program", [PREPARE, COPY_CHAIN])
@pytest.mark.parametrize("what", ["shop", "."])
def test_that_no_file_of_roots_comes_into_a_copy_by_a_folder_that_is_a_link_for_a_while(
    data: Path, tmp_path: Path, program: str, what: str
) -> None:
    """cp had listed the folder; what it copies then is what lies there under the same name elsewhere (/etc/shadow)."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "shadow").write_text("root's own")
    (data / "shop/shadow").write_text("bait")
    at = data if what == "." else data / what
    reads = data / "shop/shadow" if what == "shop" else data / "shadow"
    swap = f"""cp() {{ command cp "$@"; local to; for to; do :; done
      mv -T {at} {tmp_path}/away; ln -sT {secret} {at}
      cat {reads} > "$to/shadow"; rm {at}; mv -T {tmp_path}/away {at}; }}"""
    ran = _copied(tmp_path, data, program, swap)
    assert ran.returncode != 0, ran
    assert "was changed while it was copied" in ran.stdout


@pytest.mark.parametrize("program", [PREPARE, COPY_CHAIN])
def test_that_a_pipe_in_a_backup_keeps_nobody_waiting(data: Path, tmp_path: Path, program: str) -> None:
    os.mkfifo(data / "shop/more.ibd")
    ran = _copied(tmp_path, data, program, "")
    assert ran.returncode != 0, ran
    assert "more.ibd" in ran.stdout


@pytest.mark.parametrize("program", [PREPARE, COPY_CHAIN])
def test_that_an_option_file_of_gigabytes_is_not_read(data: Path, tmp_path: Path, program: str) -> None:
    with (data / "backup-my.cnf").open("w") as file:
        file.truncate(2**36)
    ran = _copied(tmp_path, data, program, "")
    assert ran.returncode != 0, ran
    assert "longer than any tool writes it" in ran.stdout


# -- the copy of a donor's volume --------------------------------------------------------------------------------------


def _looked(data: Path) -> subprocess.CompletedProcess[str]:
    """Look through a copy that brought the whole list of the donor's files; no unit is to be ended."""
    (data / LISTED).write_text("snapshot-x\n1\tibdata1\n1\tshop/orders.ibd\nend\n")
    attack = f"{_NOT_ROOT}systemctl() {{ :; }}\n"
    return _ran(LOOK_THROUGH, data, f"{data}.aside", "snapshot-x", "bring-x.scope", attack=attack)


@pytest.mark.parametrize("what", ["a device", "a pipe", "a program of another account"])
def test_that_a_donors_device_pipe_or_setuid_program_is_never_given_to_the_server(data: Path, what: str) -> None:
    """rsync -a as root brings all of them; a device in the data folder is the host's disk, readable to its account."""
    (data / "grastate.dat").write_text("x")
    odd = data / "shop/odd.ibd"
    if what == "a device":
        if os.getuid():
            pytest.skip("only root makes a device")
        os.mknod(odd, 0o600 | 0o020000, os.makedev(1, 5))
    elif what == "a pipe":
        os.mkfifo(odd)
    else:
        odd.write_text("#!/bin/sh")
        odd.chmod(0o4755)
    ran = _looked(data)
    assert (ran.returncode, "odd.ibd" in ran.stderr) == (3, True), ran


def test_that_the_socket_of_the_donors_server_is_left_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "grastate.dat").write_text("x")
    monkeypatch.chdir(data)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("mysql.sock")
    assert _looked(data).returncode == 0
    assert not (data / "mysql.sock").exists()
