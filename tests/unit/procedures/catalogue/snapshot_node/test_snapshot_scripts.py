"""The scripts around the operator's commands, run by a real bash with a stub client: all ways out of the lock."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from services.connections.operator.made_by_run import NOTES
from services.procedures.catalogue.galera.snapshot_node.hold import HOLD, LISTED, REMOVE, RUN, UNLOCK, held
from services.procedures.catalogue.galera.snapshot_node.look_through import BRING, LOOK_THROUGH, NONE_BUT_ROOT

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
CLIENT = r"""#!/bin/bash
echo $$ >"$HERE/pid"; echo "$*" >>"$HERE/words"
case "$*" in *KILL*) echo "$*" >>"$HERE/killed"; exit 0;; esac
n=0
while IFS= read -r line; do
  echo "$line" >>"$HERE/asked"
  case $line in
    *FLUSH*) [ ! -e "$HERE/no-lock" ] || sleep 30; echo "locked 7";;
    *"session "*) echo "session 7 $(cat "$HERE/at" 2>/dev/null || echo "$HERE/data/")";;
    *VARIABLE_NAME*|*GROUP_CONCAT*) :;;
    *INNODB_DATA_WRITES*) n=$((n+1)); if [ -e "$HERE/writes" ]; then echo "counters 0 $(cat "$HERE/writes") 50 9"
      else echo "counters 0 5 50 9"; fi;;
    *"still "*) echo "still $(cat "$HERE/still" 2>/dev/null || echo 7)";;
    *"set "*) echo "set 1";;
    *UNLOCK*) touch "$HERE/unlocked"; echo "unlocked 7";;  # who has the answer may kill it
  esac
done
touch "$HERE/ended"
"""


@pytest.fixture
def donor(tmp_path: Path) -> Path:
    """A folder with a stub client in bin/ and a data folder whose grastate.dat tells an exact position."""
    (tmp_path / "bin").mkdir()
    client = tmp_path / "bin" / "mariadb"
    client.write_text(CLIENT)
    client.chmod(0o755)
    (tmp_path / "data").mkdir()
    state(tmp_path, "41")
    return tmp_path


def state(donor: Path, seqno: str) -> None:
    (donor / "data" / "grastate.dat").write_text(
        f"# GALERA saved state\nversion: 2.1\nuuid:    {UUID}\nseqno:   {seqno}\n"
    )


def ran(script: str, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{here / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script, "pilothouse", *words],
        env={"PATH": path, "HERE": str(here), "TMPDIR": str(here)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def hold(donor: Path, *command: str, way: str = "volume", limit: str = "5") -> subprocess.CompletedProcess[str]:
    mark = donor / "kept" / "snapshot-x"
    return ran(HOLD, donor, "1:1", str(donor / "data"), str(mark), way, "1", "3", limit, "90", *command)


def test_that_a_command_that_ends_well_under_the_lock_counts_at_the_position_under_it(donor: Path) -> None:
    found = hold(donor, "sh", "-c", f"echo 'pilothouse: snapshot at {UUID}:1 after '; test ! -e {donor}/unlocked")
    assert found.returncode == 0, found
    assert f"pilothouse: snapshot at {UUID}:41 after" in found.stdout
    assert f"| pilothouse: snapshot at {UUID}:1 after" in found.stdout  # what the command says is no word of ours
    assert held(UUID).startswith("^pilothouse")
    assert (donor / "unlocked").exists()
    assert (donor / "kept" / "snapshot-x").exists()
    asked = (donor / "asked").read_text()
    assert "lock_wait_timeout=1" in asked
    assert "wait_timeout=128" in asked  # the server ends the session by itself, whatever becomes of the script


def test_that_the_list_of_the_donors_files_travels_with_what_is_taken_and_stays_on_no_donor(donor: Path) -> None:
    data = donor / "data"
    (data / "shop").mkdir()
    for name in ("ibdata1", "ibtmp1", "shop/orders.ibd", "shop/orders.frm", "shop/#sql-1.ibd"):
        (data / name).write_text("four")
    taken = hold(donor, "cp", "-a", str(data), str(donor / "snap"))
    assert taken.returncode == 0, taken
    lines = (donor / "snap" / LISTED).read_text().splitlines()
    assert (lines[0], lines[-1]) == ("snapshot-x", "end")
    assert sorted(lines[1:-1]) == ["4\tibdata1", "4\tshop/orders.frm", "4\tshop/orders.ibd"]
    assert not (data / LISTED).exists()
    assert not list((donor / "kept").glob("*.files"))


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("false",), 77, "ended with exit code 1"),
        (("sleep", "30"), 76, "did not end within 1 s"),
        (("sh", "-c", "sleep 20 &"), 77, "left something at work"),
        (("no-such-program",), 77, "ended with exit code 127"),
    ],
)
def test_that_a_command_that_goes_wrong_is_told_and_the_lock_is_given_back(
    donor: Path, command: tuple[str, ...], code: int, said: str
) -> None:
    found = hold(donor, *command, limit="1")
    assert (found.returncode, said in found.stdout) == (code, True), found
    assert (donor / "unlocked").exists()
    assert not any(line.startswith(f"pilothouse: snapshot at {UUID}") for line in found.stdout.splitlines())


def test_that_a_lock_that_is_not_had_in_time_is_given_up_and_its_session_killed(donor: Path) -> None:
    (donor / "no-lock").touch()
    found = hold(donor, "touch", str(donor / "began"))
    assert (found.returncode, (donor / "began").exists()) == (74, False), found
    assert "KILL CONNECTION 7" in (donor / "killed").read_text()


def test_that_a_lock_that_was_lost_meanwhile_counts_for_nothing(donor: Path) -> None:
    killed = hold(donor, "sh", "-c", f"kill -KILL $(cat {donor}/pid); sleep 30")
    assert (killed.returncode, "lost" in killed.stdout) == (78, True), killed
    (donor / "still").write_text("8")
    assert hold(donor, "true").returncode == 78


def test_that_a_position_that_moved_under_the_lock_counts_for_nothing(donor: Path) -> None:
    moved = hold(donor, "sed", "-i", "s/seqno:.*/seqno:   -1/", str(donor / "data" / "grastate.dat"))
    assert (moved.returncode, "lost" in moved.stdout) == (78, True), moved
    began = hold(donor, "touch", str(donor / "began"))
    assert (began.returncode, (donor / "began").exists()) == (75, False), began


def test_that_a_copy_counts_only_where_the_server_wrote_nothing_meanwhile(donor: Path) -> None:
    assert hold(donor, "true", way="copy").returncode == 0
    assert "innodb_max_dirty_pages_pct=90" in (donor / "asked").read_text()
    (donor / "writes").write_text("5")
    wrote = hold(donor, "sh", "-c", f"echo 6 >{donor}/writes", way="copy")
    assert (wrote.returncode, "no one state" in wrote.stdout) == (79, True), wrote
    assert hold(donor, "sh", "-c", f"echo 7 >{donor}/writes").returncode == 0  # of a volume it is one moment


@pytest.mark.parametrize(
    ("seqno", "stopped", "server", "code"),
    [
        ("-1", "0", "0", 0),
        ("-1", "5", "0", 0),  # no such unit
        ("-1", "1", "0", 1),  # it could not be stopped
        ("41", "0", "1", 0),  # no server runs
        ("41", "0", "0", 4),
        ("41", "0", "127", 4),  # whether one runs is not known
    ],
)
def test_that_a_lock_is_told_as_ended_only_where_the_provider_goes_on_or_no_server_runs(
    donor: Path, seqno: str, stopped: str, server: str, code: int
) -> None:
    state(donor, seqno)
    for name, says in (("systemctl", stopped), ("pgrep", server), ("sleep", "0")):
        stub = donor / "bin" / name
        stub.write_text(f'#!/bin/sh\necho "{name} $*" >>"$HERE/ran"\nexit {says}\n')
        stub.chmod(0o755)
    (donor / "data" / LISTED).touch()  # a script that was killed left it
    found = ran(UNLOCK, donor, "1:1", "pilothouse-lock-x.scope", str(donor / "data"))
    assert found.returncode == code, found
    assert (donor / "data" / LISTED).exists() is (stopped == "1")
    assert (donor / "ran").read_text().startswith("systemctl stop pilothouse-lock-x.scope\n")


def test_that_a_pipe_in_the_place_of_the_state_holds_neither_the_lock_nor_its_end(donor: Path) -> None:
    """The data folder is the server's account's: it can lay one there at any moment (5 s are cut to a tenth here)."""
    timeout = donor / "bin" / "timeout"
    timeout.write_text('#!/bin/sh\n[ "$1" != 5 ] || { shift; set -- 0.5 "$@"; }\nPATH=${PATH#*:} exec timeout "$@"\n')
    timeout.chmod(0o755)
    (donor / "data" / "grastate.dat").unlink()
    os.mkfifo(donor / "data" / "grastate.dat")
    held_up = hold(donor, "touch", str(donor / "began"))
    assert (held_up.returncode, (donor / "began").exists()) == (75, False), held_up
    stub = donor / "bin" / "systemctl"
    stub.write_text("#!/bin/sh\n")
    stub.chmod(0o755)
    assert ran(UNLOCK, donor, "1:1", "pilothouse-lock-x.scope", str(donor / "data")).returncode == 3


def test_that_what_leads_out_of_the_data_folder_is_refused_before_any_lock(donor: Path) -> None:
    (donor / "data" / "shop").symlink_to("/etc")
    found = hold(donor, "true")
    assert (found.returncode, "leads out of" in found.stdout, (donor / "asked").exists()) == (72, True, False), found


def test_that_the_mark_is_on_the_disk_before_the_command_begins(donor: Path) -> None:
    """A host that falls under the lock has the snapshot and no mark else: it would be told that there is none."""
    stub(donor, "sync", 0)
    assert hold(donor, "sh", "-c", f"cp {donor}/ran {donor}/until-then").returncode == 0
    mark = donor / "kept" / "snapshot-x"
    assert f"sync -- {mark} {mark.parent}" in (donor / "until-then").read_text().splitlines()
    stub(donor, "sync", 1)
    assert hold(donor, "touch", str(donor / "began")).returncode == 75
    assert not (donor / "began").exists()


@pytest.mark.parametrize(
    "name", ["#sql-pilothouse-before.sst", "#sql-pilothouse-before.sst.part", ".pilothouse-before.sst"]
)
def test_that_older_data_kept_inside_the_donors_folder_are_refused_before_any_lock(donor: Path, name: str) -> None:
    """The joiner's old data may lie in a folder of the same name, and a copy would write into them."""
    (donor / "data" / name).mkdir()
    found = hold(donor, "true")
    assert (found.returncode, "holds older data" in found.stdout, (donor / "asked").exists()) == (72, True, False)


@pytest.mark.parametrize(("socket", "wanted"), [("", ""), ("/run/s.sock", "/run/s.sock"), ("s.sock", "{data}/s.sock")])
def test_that_the_lock_is_asked_for_by_the_local_servers_own_socket_alone(
    donor: Path, socket: str, wanted: str
) -> None:
    """Root's ~/.my.cnf may name another host: that one would be locked, and the copy taken without a lock."""
    defaults = donor / "bin" / "my_print_defaults"
    defaults.write_text(f"#!/bin/sh\necho --datadir=/x\n{f'echo --socket={socket}' if socket else ''}\n")
    defaults.chmod(0o755)
    assert hold(donor, "true").returncode == 0
    words = (donor / "words").read_text().splitlines()[0].split()
    assert {"--protocol=socket", "--host=localhost", "--local-infile=0"} <= set(words)
    sockets = [word for word in words if word.startswith("--socket=")]
    assert sockets == ([f"--socket={wanted.format(data=donor / 'data')}"] if wanted else [])


def test_that_a_server_with_another_data_folder_is_not_locked(donor: Path) -> None:
    (donor / "at").write_text("/srv/other/")
    found = hold(donor, "true")
    assert (found.returncode, "has its data in /srv/other/" in found.stdout) == (73, True), found
    assert "FLUSH" not in (donor / "asked").read_text()


def test_that_a_snapshot_is_removed_once_and_only_where_one_was_begun(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    words = (str(mark), RUN, "5", "sh", "-c", f"echo x >>{tmp_path}/removed; exit $(cat {tmp_path}/code)")
    (tmp_path / "code").write_text("3")
    assert (ran(REMOVE, tmp_path, *words).returncode, (tmp_path / "removed").exists()) == (0, False)
    mark.touch()
    assert (ran(REMOVE, tmp_path, *words).returncode, mark.exists()) == (3, True)
    (tmp_path / "code").write_text("0")
    assert (ran(REMOVE, tmp_path, *words).returncode, mark.exists()) == (0, False)


def test_that_a_removal_that_is_begun_again_waits_for_the_first_and_removes_nothing_twice(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    slow = f"echo x >>{tmp_path}/removed; sleep 2"
    words = ["bash", "-c", REMOVE, "pilothouse", str(mark), RUN, "5", "sh", "-c", slow]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as first:
        until = time.monotonic() + 5
        while not (tmp_path / "removed").exists() and time.monotonic() < until:
            time.sleep(0.05)
        second = ran(REMOVE, tmp_path, *words[4:])
        assert first.wait(10) == 0
    assert (second.returncode, "no snapshot of this run" in second.stdout) == (0, True), second
    assert (tmp_path / "removed").read_text() == "x\n"


def test_that_what_a_command_leaves_in_the_background_keeps_nobody_waiting(tmp_path: Path) -> None:
    found = ran(RUN, tmp_path, "5", "sh", "-c", "echo there; sleep 2 &")
    assert (found.returncode, found.stdout) == (0, "| there\n")
    assert ran(RUN, tmp_path, "1", "sleep", "9").returncode == 124


# -- the copy ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copied data folder, with what was kept inside it; who runs the tests may give nothing to root."""
    (tmp_path / "bin").mkdir()
    chown = tmp_path / "bin" / "chown"
    chown.write_text('#!/bin/sh\necho "$*" >>"$HERE/given"\n')
    chown.chmod(0o755)
    folder = tmp_path / "copy"
    (folder / "shop").mkdir(parents=True)
    (folder / ".aside").mkdir()
    for name in ("ibdata1", "grastate.dat", "donor.pid", "ibtmp1", "shop/orders.ibd", ".aside/old.pid"):
        (folder / name).write_text("x")
    (folder / ".aside" / "link").symlink_to("/etc")
    listed(folder, "1\tibdata1", "1\tshop/orders.ibd")
    stub(tmp_path, "systemctl", 0)
    return folder


def listed(copy: Path, *names: str, of: str = "snapshot-x", end: str = "end") -> None:
    (copy / LISTED).write_text("\n".join([of, *names, end]) + "\n")


def stub(here: Path, name: str, code: int) -> None:
    program = here / "bin" / name
    program.write_text(f'#!/bin/sh\necho "{name} $*" >>"$HERE/ran"\nexit {code}\n')
    program.chmod(0o755)


def looked(copy: Path, aside: str = "") -> subprocess.CompletedProcess[str]:
    return ran(LOOK_THROUGH, copy.parent, str(copy), aside or str(copy / ".aside"), "snapshot-x", "bring-x.scope")


def test_that_a_whole_copy_loses_the_traces_of_the_donors_run_and_what_is_kept_stays(copy: Path) -> None:
    assert looked(copy).returncode == 0, looked(copy)
    assert f"-h -- {os.getuid()}:{os.getgid()} .\n" in (copy.parent / "given").read_text()
    assert not (copy / "donor.pid").exists()
    assert (copy / ".aside" / "old.pid").exists()
    assert (copy / "shop" / "orders.ibd").exists()


@pytest.mark.parametrize("code", [0, 1])
def test_that_a_copy_counts_only_when_it_is_on_the_disk(copy: Path, code: int) -> None:
    """A host that loses its power may have whole files with pages of zeros: InnoDB takes them for never used ones."""
    stub(copy.parent, "sync", code)
    found = looked(copy)
    assert (found.returncode == 0, "on the disk" in found.stderr) == (code == 0, code != 0), found
    lines = (copy.parent / "ran").read_text().splitlines()
    assert lines[-1] == "sync -f ."  # behind what was removed, too
    assert not (copy / "donor.pid").exists()


@pytest.mark.parametrize(("command", "sync", "code"), [("true", 0, 0), ("true", 1, 71), ("false", 0, 1)])
def test_that_what_was_brought_is_on_the_disk_before_its_step_is_done(
    tmp_path: Path, command: str, sync: int, code: int
) -> None:
    """A run that is resumed behind it looks at lengths alone: pages of zeros would be taken."""
    (tmp_path / "bin").mkdir()
    stub(tmp_path, "sync", sync)
    program = BRING.replace(NOTES, str(tmp_path / "notes"))
    words = (str(tmp_path), f"{tmp_path}.aside", RUN, "5", "sh", "-c", f"echo there; {command}")
    found = ran(program, tmp_path, *words)
    assert next((tmp_path / "notes").iterdir()).read_bytes().startswith(b"%d:" % tmp_path.stat().st_dev)
    assert (found.returncode, "on the disk" in found.stdout) == (code, sync == 1), found
    assert "| there" in found.stdout
    assert (tmp_path / "ran").exists() is (command == "true")


@pytest.mark.parametrize("what", ["a link", "a hard link", "an .isl file", "the folder itself", "no tablespace"])
def test_that_a_copy_whose_data_lie_elsewhere_too_is_refused(copy: Path, what: str) -> None:
    if what == "a link":
        (copy / "shop" / "more").symlink_to(copy / "ibdata1")
    elif what == "a hard link":
        os.link(copy / "shop" / "orders.ibd", copy.parent / "the-donors-own.ibd")
    elif what == "an .isl file":
        (copy / "shop" / "far.isl").write_text("/mnt/far.ibd")
    elif what == "the folder itself":
        copy.rename(copy.parent / "real")
        copy.symlink_to(copy.parent / "real")
    else:
        (copy / "ibdata1").unlink()
    found = looked(copy)
    assert (found.returncode, found.stderr.startswith("pilothouse: ")) == (3, True), found


@pytest.mark.parametrize(
    ("names", "of", "end", "said"),
    [
        (("1\tibdata1", "1\tshop/orders.ibd", "1\tshop/lost.ibd"), "snapshot-x", "end", "as shop/lost.ibd"),
        (("1\tibdata1", "2\tshop/orders.ibd"), "snapshot-x", "end", "as shop/orders.ibd"),
        (("1\tibdata1",), "snapshot-y", "end", "is not that of snapshot-x"),
        (("1\tibdata1",), "snapshot-x", "", "or not whole"),
    ],
    ids=["a file is missing", "a file is shorter", "another snapshot", "half a list"],
)
def test_that_a_copy_that_lacks_a_file_of_the_donor_is_refused(
    copy: Path, names: tuple[str, ...], of: str, end: str, said: str
) -> None:
    """A far tar that can't read a file says so in its own exit code, which `ssh ... tar | tar` drops."""
    listed(copy, *names, of=of, end=end)
    found = looked(copy)
    assert (found.returncode, said in found.stderr) == (3, True), found


def test_that_a_copy_without_the_list_of_the_donors_files_is_refused_and_one_may_be_looked_through_twice(
    copy: Path,
) -> None:
    assert looked(copy).returncode == 0
    assert looked(copy).returncode == 0
    (copy / LISTED).unlink()
    assert looked(copy).returncode == 3


def test_that_what_the_command_left_running_ends_but_for_an_attached_volume(copy: Path) -> None:
    assert looked(copy).returncode == 0
    assert "systemctl stop bring-x.scope" in (copy.parent / "ran").read_text()
    stub(copy.parent, "systemctl", 1)
    assert looked(copy).returncode == 3
    (copy / ".aside" / "link").unlink()
    stub(copy.parent, "mountpoint", 0)
    assert looked(copy, f"{copy}.aside").returncode == 0
    stub(copy.parent, "mountpoint", 32)
    assert looked(copy, f"{copy}.aside").returncode == 3


def test_that_a_folder_in_whose_place_others_than_root_can_put_another_is_not_worked_in(copy: Path) -> None:
    above = copy.parent / "above"
    (above / "data").mkdir(parents=True)
    assert ran(NONE_BUT_ROOT, copy.parent, str(above / "data")).returncode == 0
    above.chmod(0o777)
    found = ran(NONE_BUT_ROOT, copy.parent, str(above / "data"))
    assert (found.returncode, f"may write into {above}" in found.stdout) == (1, True), found
