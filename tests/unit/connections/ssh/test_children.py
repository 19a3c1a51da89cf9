"""What a child of the program gets to see: the environment without the secrets that came in it."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from services.connections.limits import Limits
from services.connections.ssh.connection import SshLink
from services.connections.ssh.proxy_process import ProxyProcess
from services.errors import Unreachable
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault, SecretRef, SystemVault, environment_for_children


def test_that_no_secret_of_the_environment_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBA_OF_PROD", "S3cret!pw")
    monkeypatch.setenv("MYSQL_PWD", "S3cret!pw")
    monkeypatch.setenv("Some_Password", "S3cret!pw")
    monkeypatch.setenv("KEEP_ME", "x")
    SecretRef.parse("env:DBA_OF_PROD")  # as an inventory does that names it
    given = environment_for_children()
    assert "S3cret!pw" not in given.values()
    assert given["KEEP_ME"] == "x"
    assert given["PATH"] == os.environ["PATH"]
    assert SystemVault().get(SecretRef("env", "DBA_OF_PROD")).reveal() == "S3cret!pw"


@pytest.mark.skipif(sys.platform == "win32", reason="sockets as standard input")
def test_that_a_proxy_command_does_not_see_the_password_of_the_inventory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("PROD_PW", "S3cret!pw")
    monkeypatch.setenv("SSHPASS", "S3cret!pw")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    SecretRef.parse("env:PROD_PW")
    process = ProxyProcess("env", "db1")
    said = heard(process)
    process.close(5.0)
    assert b"S3cret!pw" not in said
    assert b"SSH_AUTH_SOCK=/run/agent" in said


@pytest.mark.parametrize("pipes", [True, False], ids=["windows", "posix"])
def test_that_the_dictionary_handed_to_a_proxy_command_holds_no_secret_on_any_platform(
    monkeypatch: pytest.MonkeyPatch, pipes: bool
) -> None:
    handed: list[dict[str, str]] = []

    def mock_start(*_line: object, env: dict[str, str], **_more: object) -> Any:
        handed.append(env)
        raise OSError(2, "not started")

    monkeypatch.setattr(subprocess, "Popen", mock_start)
    monkeypatch.setenv("DBA_OF_PROD", "S3cret!pw")
    monkeypatch.setenv("SSHPASS", "S3cret!pw")
    monkeypatch.setenv("KEEP_ME", "x")
    SecretRef.parse("env:dba_of_prod")  # Windows hands it over as DBA_OF_PROD
    with pytest.raises(Unreachable, match="cannot be started"):
        ProxyProcess("ssh -W db1:22 gate", "db1", pipes=pipes)
    assert "S3cret!pw" not in handed[0].values()
    assert handed[0]["KEEP_ME"] == "x"
    assert {"PATH", "HOME"} <= set(handed[0])


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("pipes", [True, False], ids=["windows", "posix"])
def test_that_bytes_go_both_ways_and_the_program_ends_with_its_input(pipes: bool) -> None:
    process = ProxyProcess("cat", "db1", pipes=pipes)
    sent = bytes(range(256)) * 4000
    process.sock.settimeout(10.0)
    process.sock.sendall(sent[:100_000])
    got = b""
    while len(got) < 100_000:
        got += process.sock.recv(65_536)
    assert got == sent[:100_000]
    process.sock.shutdown(socket.SHUT_WR)
    assert heard(process) == b""
    process.close(5.0)


SAYS = "bash: gate\x1b]0;owned\x07 said no"
PROXY = f"printf '{SAYS}' >&2; exit 255"


@pytest.fixture
def proxied(tmp_path: Any) -> HostEntry:
    """A host behind a ProxyCommand that says why not, with a title for the terminal in it."""
    script = tmp_path / "proxy"
    script.write_text(f"#!/bin/sh\n{PROXY}\n")
    script.chmod(0o755)
    config = tmp_path / "config"
    config.write_text(f"Host db1\n  ProxyCommand {script}\n")
    return HostEntry("db1", "db1", SshAccess("dba", config=str(config)))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_that_what_a_proxy_command_complains_of_stands_in_the_error_and_not_on_the_terminal(
    proxied: HostEntry, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(Unreachable) as failed:
        SshLink.open(proxied, MemoryVault(), policy=None, limits=Limits())
    assert failed.value.sentence.endswith("ProxyCommand said: bash: gate\ufffd]0;owned\ufffd said no")
    assert capfd.readouterr().err == ""
    assert "ProxyCommand of db1 said: bash: gate\ufffd]0;owned" in caplog.text
    assert "\x1b" not in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_that_a_proxy_command_that_ends_without_a_word_is_told_with_its_exit_code(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host db1\n  ProxyCommand sh -c 'exit 3'\n", encoding="utf-8")
    with pytest.raises(Unreachable) as failed:
        SshLink.open(
            HostEntry("db1", "db1", SshAccess("dba", config=str(config))), MemoryVault(), policy=None, limits=Limits()
        )
    assert failed.value.sentence.endswith(" Its ProxyCommand ended with exit code 3 and no output.")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_that_a_proxy_command_that_complains_is_told_with_the_variables_that_it_did_not_get(
    proxied: HostEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`aws ssm` says 'Partial credentials found in env' then, and works at a terminal."""
    for name in [name for name in os.environ if name not in environment_for_children()]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PASSWORD_STORE_DIR", "/home/me/store")
    with pytest.raises(Unreachable) as failed:
        SshLink.open(proxied, MemoryVault(), policy=None, limits=Limits())
    assert not [advice for advice in failed.value.try_ if "variables" in advice]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "S3cret!pw")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "S3cret!pw")
    with pytest.raises(Unreachable) as failed:
        SshLink.open(proxied, MemoryVault(), policy=None, limits=Limits())
    assert "contain secrets (AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)" in failed.value.try_[-1]
    assert "S3cret!pw" not in failed.value.as_text()


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("pipes", [True, False], ids=["windows", "posix"])
def test_that_a_proxy_command_that_complains_without_end_takes_no_memory(tmp_path: Any, pipes: bool) -> None:
    script = tmp_path / "proxy"
    script.write_text("#!/bin/sh\nhead -c 6000000 /dev/zero >&2\n")
    script.chmod(0o755)
    noisy = ProxyProcess(str(script), "db1", pipes=pipes)
    noisy.sock.settimeout(60.0)
    assert heard(noisy) == b""  # it came to its end: nothing kept it waiting
    noisy.close(5.0)
    assert len(noisy._said) == 4096
    assert len(noisy.said()) == 301


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_that_a_child_that_keeps_the_pipe_does_not_keep_the_connection_from_closing(tmp_path: Any) -> None:
    script = tmp_path / "proxy"
    script.write_text("#!/bin/sh\necho first >&2\nsleep 60 &\necho $! >&2\nexec cat\n")
    script.chmod(0o755)
    process = ProxyProcess(str(script), "db1")
    begun = time.monotonic()
    while len(process.said().split(" / ")) < 2:
        time.sleep(0.01)
    child = int(process.said().split(" / ")[1])
    process.close(5.0)
    assert time.monotonic() - begun < 30.0
    os.kill(child, signal.SIGKILL)  # it lived: nobody waited for it
    assert process.said().startswith("first")


def heard(process: ProxyProcess) -> bytes:
    """Return all that the program writes to its standard output."""
    said = b""
    while piece := process.sock.recv(65_536):
        said += piece
    return said
