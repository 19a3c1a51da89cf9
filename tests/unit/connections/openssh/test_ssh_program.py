"""`ssh -G`: how often this machine's own ssh is asked, within what time, and what never reaches it."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from services.connections.openssh import program
from services.connections.openssh.settings import settings_of
from services.connections.ssh import config as ssh_config
from services.connections.ssh.config import hop_for, target_for
from services.errors import BadInput, TimedOut
from services.inventory.model import SshAccess

pytestmark = pytest.mark.skipif(ssh_config.ssh_program() is None, reason="OpenSSH's ssh is not installed")


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program before ssh that counts its runs."""
    real = program.ssh_program()
    folder, count = tmp_path / "bin", tmp_path / "count"
    folder.mkdir()
    (folder / "ssh").write_text(f'#!/bin/sh\necho "run $*" >>{count}\nexec {real} "$@"\n')
    (folder / "ssh").chmod(0o755)
    count.touch()
    monkeypatch.setenv("PATH", f"relative:{folder}{os.pathsep}{os.environ['PATH']}")
    return count


def runs(count: Path) -> int:
    """Return how often a host was asked for; what ssh says without any file is asked once, and apart."""
    return sum(" -F none " not in line for line in count.read_text().splitlines())


def test_that_ssh_is_asked_once_until_a_file_changes(tmp_path: Path, counted: Path) -> None:
    (tmp_path / "d").mkdir()
    config = tmp_path / "config"
    config.write_text(f"Include {tmp_path}/d/*.conf\nHost *\n User one\n")
    access = SshAccess("", config=str(config))
    assert [target_for(access, "db1").user for _ in range(3)] == ["one"] * 3
    assert runs(counted) == 1
    assert target_for(access, "db2").user == "one"
    assert runs(counted) == 2
    (tmp_path / "d" / "new.conf").write_text("User two\n")
    assert target_for(access, "db1").user == "two"
    config.write_text("Host *\n User three\n")
    assert target_for(access, "db1").user == "three"
    assert runs(counted) == 4


@pytest.mark.parametrize("line", ["Match exec true", "Match localnetwork 10.0.0.0/8", "CanonicalizeHostname no"])
def test_that_what_rests_on_more_than_files_is_asked_each_time(tmp_path: Path, counted: Path, line: str) -> None:
    (tmp_path / "config").write_text(f"{line}\n User one\n")
    for _ in range(2):
        try:
            target_for(SshAccess("", config=str(tmp_path / "config")), "db1")
        except BadInput as problem:
            assert "localnetwork" in problem.sentence  # noqa: PT017 - an OpenSSH before 9.4 does not know it
    assert runs(counted) == 2


_AS_A_COMMAND = "-o SessionType=default -o RemoteCommand=none -- db1 sh"


@pytest.mark.parametrize(
    ("text", "host", "hop"),
    [
        (
            "Match sessiontype exec\n Port 2201\nRemoteCommand tmux\n",
            _AS_A_COMMAND,
            "-N -- gate",
        ),
        ('Match host db* !command "tmux*"\n', _AS_A_COMMAND, "-N -- gate"),
        ("Match final command=sh\n", _AS_A_COMMAND, "-N -- gate"),
        ("Host db1\n RemoteCommand tmux new -A\n RequestTTY yes\n", " -- db1", " -- gate"),
        ('Match exec "command -v true"\n', " -- db1", " -- gate"),
    ],
)
def test_that_a_match_on_the_session_is_asked_for_a_command_and_a_hop_for_none(
    tmp_path: Path, counted: Path, text: str, host: str, hop: str
) -> None:
    (tmp_path / "config").write_text(text)
    access = SshAccess("dba", config=str(tmp_path / "config"))
    for ask in (lambda: target_for(access, "db1"), lambda: hop_for(access, "dba@gate")):
        with contextlib.suppress(BadInput):  # an OpenSSH before 10.0 does not know these conditions
            ask()
    asked = [line.rstrip() for line in counted.read_text().splitlines() if " -F none " not in line]
    assert [line.partition("-l dba")[2].strip() for line in asked] == [host.strip(), hop.strip()]


def test_that_a_match_on_the_session_in_a_file_that_ssh_alone_finds_is_asked_for_a_command(
    tmp_path: Path, counted: Path
) -> None:
    """OpenSSH 10.0 and newer put %h and ${VARIABLE} into the names of an Include; older ones are scripted to."""
    inner, config = tmp_path / "of-db1", tmp_path / "config"
    inner.write_text("Match sessiontype exec\n Port 2201\n")
    config.write_text(f"Include {tmp_path}/of-%h\nHost *\n User dba\n")
    counted_ssh = tmp_path / "bin" / "ssh"
    words = f'echo "debug1: Reading configuration data {inner}" >&2\nexec'
    counted_ssh.write_text(counted_ssh.read_text().replace("\nexec", f"\n{words}"))
    with contextlib.suppress(BadInput):  # one that finds the file and is older than the condition
        target_for(SshAccess("", config=str(config)), "db1")
    asked = [line.rstrip() for line in counted.read_text().splitlines() if " -F none " not in line]
    assert [_AS_A_COMMAND in line for line in asked] == [False, True]


def test_that_a_name_that_begins_with_a_dash_never_reaches_ssh(tmp_path: Path, counted: Path) -> None:
    for address in ("-G", "-oProxyCommand=id", "--", "a b", "$(id)"):
        with pytest.raises(BadInput, match="is not an address"):
            target_for(SshAccess("", config=str(tmp_path / "config") if address == "--" else None), address)
    assert runs(counted) == 0


def test_that_a_file_that_has_no_end_is_not_given_to_ssh(tmp_path: Path, counted: Path) -> None:
    (tmp_path / "config").write_text("Include /dev/zero\n")
    with pytest.raises(BadInput, match="cannot be read"):
        target_for(SshAccess("", config=str(tmp_path / "config")), "db1")
    assert runs(counted) == 0


def is_over(pid: int) -> bool:
    """Return whether a process ended; who inherited it may not have asked yet how."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_that_ssh_is_ended_with_a_program_that_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "MOST_S", 2.0)
    config = tmp_path / "config"
    config.write_text(f'Match exec "echo $$ >{tmp_path}/pid; sleep 40; true"\n User matched\n', encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(TimedOut, match=r"ssh -G did not report"):
        target_for(SshAccess("", config=str(config)), "db1")
    assert time.monotonic() - began < 30.0
    pid = tmp_path / "pid"
    if pid.exists() and (number := pid.read_text(encoding="utf-8").strip()):  # a slow machine had not begun it
        while not is_over(int(number)) and time.monotonic() - began < 30.0:
            time.sleep(0.05)
        assert is_over(int(number))


def test_that_a_program_in_a_folder_that_is_named_from_where_one_stands_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    assert program.ssh_program() is None


def test_that_what_ssh_says_against_the_files_is_in_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Host *\n Port 22x\n")
    with pytest.raises(BadInput, match=r"config line 2: Bad port '22x'") as caught:
        target_for(SshAccess("", config=str(tmp_path / "config")), "db1")
    assert "debug1" not in caught.value.sentence
    assert caught.value.try_ == ("Try it in a terminal: ssh -G db1",)


def test_that_ssh_learns_no_secret(tmp_path: Path, counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "a-secret")
    (tmp_path / "config").write_text(f'Match exec "env >{tmp_path}/got"\n User x\n')
    target_for(SshAccess("", config=str(tmp_path / "config")), "db1")
    assert "a-secret" not in (tmp_path / "got").read_text()


def test_that_files_in_one_line_of_an_answer_are_told_apart_on_every_system() -> None:
    found = settings_of(
        "host db1\nuserknownhostsfile /home/a b/.ssh/known_hosts ~/.ssh/known_hosts2\r\n"
        "globalknownhostsfile __PROGRAMDATA__\\ssh/ssh_known_hosts __PROGRAMDATA__\\ssh/ssh_known_hosts2\n"
        "revokedhostkeys C:\\Users\\A B\\revoked D:/revoked\nidentityfile /keys/a b\nidentityfile /keys/c\n"
    )
    assert found.all("userknownhostsfile") == ("/home/a b/.ssh/known_hosts", "~/.ssh/known_hosts2")
    assert len(found.all("globalknownhostsfile")) == 2
    assert found.all("revokedhostkeys") == ("C:\\Users\\A B\\revoked", "D:/revoked")
    assert found.all("identityfile") == ("/keys/a b", "/keys/c")
