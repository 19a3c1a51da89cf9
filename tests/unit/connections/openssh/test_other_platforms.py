"""What is different on Windows and macOS, as far as Linux can show it: os.name, missing sockets, own places."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from services.connections import dial
from services.connections.openssh import agent, key_files, own_account, program, tokens
from services.connections.openssh.program import Question, ssh_program
from services.connections.openssh.settings import Settings, settings_of
from services.connections.openssh.tokens import Tokens
from services.connections.ssh import config as ssh_config
from services.connections.ssh.config import target_for
from services.connections.tunnels import _local
from services.errors import BadInput
from services.inventory.imports_mycnf import import_my_cnf
from services.inventory.imports_workbench import default_path
from services.inventory.model import SshAccess
from services.ssh_words import arguments
from services.workstation import files

_POSIX_ALONE = {"getuid", "geteuid", "killpg", "getpgid", "fchmod"}


class _Windows:
    """The module os as Windows has it; files stay where they are."""

    name = "nt"
    pathsep = ";"

    def __getattr__(self, name: str) -> Any:
        if name in _POSIX_ALONE:
            raise AttributeError(name)
        return getattr(os, name)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (files, agent, key_files, own_account, program, ssh_config, tokens):
        monkeypatch.setattr(module, "os", _Windows())
    monkeypatch.setenv("PROGRAMDATA", r"D:\Data")
    monkeypatch.setenv("USERNAME", "dba")


@pytest.mark.usefixtures("windows")
def test_that_windows_own_places_and_names_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = str(Path(r"D:\Data", "ssh", "ssh_config"))
    assert program._files(Question("db1"))[1:] == [system]
    assert ssh_config._system_folder() == Path(r"D:\Data", "ssh")
    found = settings_of("globalknownhostsfile __PROGRAMDATA__/ssh/ssh_known_hosts __PROGRAMDATA__/ssh/b\r\n")
    assert ssh_config._global_known_hosts(found) == (r"D:\Data/ssh/ssh_known_hosts", r"D:\Data/ssh/b")
    assert ssh_config._global_known_hosts(Settings())[0] == str(Path(r"D:\Data", "ssh", "ssh_known_hosts"))
    assert (own_account.home_of_passwd(), own_account.login_of_passwd()) == (None, "dba")
    assert Tokens("a", "b", 22, "dba").put_in("%i", "IdentityFile") == "0"
    (tmp_path / "OpenSSH").mkdir()
    monkeypatch.setenv("PATH", f"relative;{tmp_path / 'OpenSSH'}")
    assert ssh_program() is None
    (tmp_path / "OpenSSH" / "ssh.exe").touch(mode=0o755)
    assert ssh_program() == str(tmp_path / "OpenSSH" / "ssh.exe")


@pytest.mark.usefixtures("windows")
def test_that_modes_and_owners_of_files_are_no_matter_where_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "key").write_text("x")
    (tmp_path / "real" / "key").chmod(0o666)
    key_files.refuse_open_to_others(str(tmp_path / "real" / "key"))
    assert files.not_ones_own(tmp_path / "real" / "key") == ""
    assert files._followed(tmp_path / "link" / "key").read_text() == "x"


@pytest.mark.usefixtures("windows")
def test_that_an_agents_named_pipe_is_opened_as_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pipe").write_bytes(b"\0\0\0\5\x0c\0\0\0\0")
    opened: list[str] = []

    def open_it(place: str, flags: int) -> int:
        opened.append(place)
        return os.open(tmp_path / "pipe", flags)

    monkeypatch.setattr(agent.os, "open", open_it, raising=False)
    pipe = agent._Pipe(r"\\.\pipe\openssh-ssh-agent")
    assert pipe.recv(4) == b"\0\0\0\5"
    pipe.close()
    assert opened == [r"\\.\pipe\openssh-ssh-agent"]


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (r"\\.\pipe\openssh-ssh-agent", r"\\.\pipe\openssh-ssh-agent"),
        ("//./pipe/krd-agent", r"\\.\pipe\krd-agent"),
        (r"\.\pipe\krd-agent", ""),
        ("C:/Users/dba/agent.sock", ""),
    ],
)
def test_that_an_agents_named_pipe_is_one_whichever_slashes_it_is_written_with(
    monkeypatch: pytest.MonkeyPatch, place: str, named: str
) -> None:
    assert agent._pipe_of("//./pipe/krd-agent") == "", "a socket's place, elsewhere"
    monkeypatch.setattr(agent, "os", _Windows())
    assert agent._pipe_of(place) == named


def test_that_a_system_without_unix_sockets_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(BadInput, match="this system has no Unix sockets"):
        _local("/run/mysqld/mysqld.sock", "db1", 1.0)
    with pytest.raises(OSError, match="this system has no Unix sockets"):
        agent.Agent("/run/agent.sock", 1.0)


@pytest.mark.parametrize(("has_sockets", "via"), [(True, "socket"), (False, "direct")])
def test_that_localhost_of_an_option_file_is_tcp_where_there_are_no_unix_sockets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_sockets: bool, via: str
) -> None:
    if not has_sockets:
        monkeypatch.delattr(socket, "AF_UNIX")
    (tmp_path / "my.cnf").write_text("[client]\nuser=dba\nhost=localhost\n")
    (host,) = import_my_cnf(tmp_path / "my.cnf").hosts
    assert host.sql is not None
    assert host.sql.via == via


@pytest.mark.parametrize(
    ("platform", "end"),
    [
        ("win32", "Roaming/MySQL/Workbench/connections.xml"),
        ("darwin", "Library/Application Support/MySQL/Workbench/connections.xml"),
        ("linux", ".mysql/workbench/connections.xml"),
    ],
)
def test_that_workbench_is_looked_for_where_it_writes(monkeypatch: pytest.MonkeyPatch, platform: str, end: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("APPDATA", "/Users/dba/AppData/Roaming")
    assert default_path().as_posix().endswith(end)


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_that_a_connection_is_tuned_with_what_the_system_has(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    if platform != "linux":
        monkeypatch.delattr(socket, "TCP_USER_TIMEOUT")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sock = dial.dial("127.0.0.1", listener.getsockname()[1], what="SSH", host="db1", limit_s=5.0, dead_after_s=9.0)
        with sock:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_that_backslashes_of_an_include_stay_and_lead_from_a_drive() -> None:
    (word,) = arguments(r"C:\Users\dba\.ssh\conf.d\*")
    assert PureWindowsPath(r"C:\Users\dba\.ssh") / word == PureWindowsPath(r"C:\Users\dba\.ssh\conf.d\*")
    assert arguments(r'"C:\Program Files\x y"') == [r"C:\Program Files\x y"]


def test_that_apples_setting_is_known_where_apples_ssh_prints_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ssh").write_text(
        '#!/bin/sh\ncase "$*" in *" none "*) echo usekeychain no;; *) echo usekeychain yes; echo user dba;; esac\n'
    )
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "config").write_text("UseKeychain yes\nUser dba\n")
    assert target_for(SshAccess("", config=str(tmp_path / "config")), "db1").user == "dba"
