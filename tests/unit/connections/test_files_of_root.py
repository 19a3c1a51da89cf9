"""The scripts that write files as root, run by the shells of hosts as the user of the tests."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.operator import files as operator_files
from services.secrets import Secret

SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]
ME = f"{os.getuid()}:{os.getgid()}"


def done(command: Command, shell: str = "sh", sent: str | None = None) -> subprocess.CompletedProcess[str]:
    text = sent if sent is not None else command.stdin.reveal() if command.stdin is not None else ""
    return subprocess.run([shell, *command.argv[1:]], input=text, text=True, capture_output=True, check=False)


def new(path: Path, text: str = "new\n", mode: str = "0640") -> Command:
    return operator_files.written(str(path), Secret(text), mode, ME)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    made = tmp_path / "victim"
    made.write_text("precious\n")
    made.chmod(0o600)
    return made


def untouched(victim: Path) -> bool:
    return victim.read_text() == "precious\n" and stat.S_IMODE(victim.stat().st_mode) == 0o600


@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_file_is_made_and_replaced_with_its_mode_and_nothing_stays_beside_it(tmp_path: Path, shell: str) -> None:
    path = tmp_path / "with 'a' quote" / "x.cnf"
    assert done(operator_files.folder_made(str(path.parent / "a/b")), shell).returncode == 0
    for text, mode in (("one\n", "0640"), ("two\n" * 50_000, "0600"), ("", "0644")):
        assert done(new(path, text, mode), shell).stderr == ""
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (text, int(mode, 8))
    assert sorted(file.name for file in path.parent.iterdir()) == ["a", "x.cnf"]
    assert done(operator_files.removed(str(path), str(tmp_path / "no/such")), shell).returncode == 0
    assert not path.exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_content_which_breaks_off_replaces_nothing(victim: Path, shell: str) -> None:
    ended = done(new(victim, "precious and more\n"), shell, sent="precious and")
    assert ended.returncode == 73
    assert "not all of the content arrived" in ended.stderr
    assert untouched(victim)
    assert [file.name for file in victim.parent.iterdir()] == ["victim"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_that_a_link_in_a_folder_of_others_is_neither_followed_nor_written_through(
    tmp_path: Path, victim: Path, shell: str, mode: int
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "x.cnf").symlink_to(victim)
    (folder / "sub").symlink_to(tmp_path)
    if os.getuid() == 0:
        os.chown(folder, -1, 1)  # root's own group may write where root may
    folder.chmod(mode)
    if os.getuid() == 0:
        os.chown(folder, -1, 1)  # root's own group is root
    for path in (folder / "x.cnf", folder / "sub" / "victim", folder / "sub" / "made"):
        ended = done(new(path), shell)
        assert (ended.returncode, "is a symbolic link" in ended.stderr) == (73, True)
    assert done(operator_files.copied(str(folder / "x.cnf"), str(folder / "kept")), shell).returncode == 73
    assert done(operator_files.removed(str(folder / "sub" / "victim")), shell).returncode == 73
    assert done(operator_files.folder_made(str(folder / "sub" / "made")), shell).returncode == 73
    assert done(operator_files.removed(str(folder / "x.cnf")), shell).returncode == 0  # the link itself
    assert untouched(victim)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["open", "victim"]


@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_link_of_ones_own_is_followed_and_stays_one(tmp_path: Path, shell: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "etc" / "conf.d").symlink_to("../far/./deep")
    (tmp_path / "far" / "deep" / "my.cnf").symlink_to(tmp_path / "far" / ".." / "real.cnf")
    assert done(new(tmp_path / "etc" / "conf.d" / "my.cnf"), shell).stderr == ""
    assert (tmp_path / "real.cnf").read_text() == "new\n"
    assert (tmp_path / "far" / "deep" / "my.cnf").is_symlink()
    (tmp_path / "loop").symlink_to("loop")
    assert "too many" in done(new(tmp_path / "loop"), shell).stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_that_the_other_name_of_a_hard_link_keeps_its_content_owner_and_mode(victim: Path, shell: str) -> None:
    other = victim.with_name("x.cnf")
    other.hardlink_to(victim)
    assert done(new(other, mode="0644"), shell).returncode == 0
    assert untouched(victim)
    kept = victim.with_name("kept")
    kept.hardlink_to(victim)
    assert done(operator_files.copied(str(other), str(kept)), shell).returncode == 0
    assert (kept.read_text(), untouched(victim)) == ("new\n", True)


@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_copy_replaces_a_link_that_others_laid_for_its_new_file(
    tmp_path: Path, victim: Path, shell: str
) -> None:
    source, kept = tmp_path / "x.cnf", tmp_path / "x.cnf.pilothouse-47"
    source.write_text("evil\n")
    kept.with_name(f"{kept.name}.new").symlink_to(victim)
    assert done(operator_files.copied(str(source), str(kept)), shell).returncode == 0
    assert (kept.read_text(), untouched(victim)) == ("evil\n", True)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_pipe_or_a_folder_in_place_of_the_file_is_told_and_never_opened(tmp_path: Path, shell: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a plain file" in done(operator_files.copied(str(tmp_path / "pipe"), str(tmp_path / "x")), shell).stderr
    assert done(new(tmp_path / "pipe"), shell).returncode == 0
    assert (tmp_path / "pipe").read_text() == "new\n"
    (tmp_path / "folder").mkdir()
    assert "is a folder" in done(new(tmp_path / "folder"), shell).stderr


def test_that_the_new_file_is_opened_anew_in_a_folder_of_our_own_and_moved_onto_the_name_itself() -> None:
    command = new(Path("/etc/x.cnf"), "sécret")
    assert command.argv[:2] == ("sh", "-c")
    assert command.argv[3:] == ("pilothouse", "/etc/x.cnf", "0640", ME, "7", "yes")
    script = command.argv[2]
    assert "dd of=./new conv=excl,fsync oflag=nofollow status=none" in script
    assert 'mv -fT -- ./new "../$name"' in script
    assert 'chown -h -- "$3" ./new' in script
    assert "mktemp -d ./.pilothouse-XXXXXXXXXX" in script
    assert "sécret" not in command.shell_text()
    assert operator_files.removed("/a").argv[3:] == ("pilothouse", "/a")
    assert operator_files.copied("/a", "/b").argv[3:] == ("pilothouse", "/a", "/b")
