"""What a child of the program gets to see: the environment without the secrets that came in it."""

from __future__ import annotations

import os
import sys

import pytest

from services.connections.proxy_process import ProxyProcess
from services.secrets import SecretRef, SystemVault, environment_for_children


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
    said = b""
    while piece := process.sock.recv(65_536):  # type: ignore[attr-defined]
        said += piece
    process.close(5.0)
    assert b"S3cret!pw" not in said
    assert b"SSH_AUTH_SOCK=/run/agent" in said
