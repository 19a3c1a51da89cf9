"""How a command becomes root, and what never appears on the host's command line."""

from __future__ import annotations

import subprocess

import pytest

from services.connections.command import Command
from services.connections.sudo import refusal, wrap
from services.errors import SudoFailed
from services.inventory.model import SshAccess
from services.secrets import MemoryVault, Secret, SecretRef

REF = SecretRef("env", "SUDO")
VAULT = MemoryVault({"env:SUDO": "s3cret pass"})
CAT = Command(("cat", "/var/log/a log"), sudo=True)


def test_that_root_and_commands_that_need_no_root_run_as_they_are() -> None:
    assert wrap(CAT, SshAccess("root"), VAULT, user="root", host="db1").line == "cat '/var/log/a log'"
    assert wrap(Command(("id",)), SshAccess("dba"), VAULT, user="dba", host="db1").line == "id"


def test_that_a_login_without_sudo_is_told_before_anything_is_sent() -> None:
    with pytest.raises(SudoFailed, match="has no sudo"):
        wrap(CAT, SshAccess("dba"), VAULT, user="dba", host="db1")


def test_that_sudo_without_password_never_waits_for_one() -> None:
    found = wrap(CAT, SshAccess("dba", sudo="nopasswd"), VAULT, user="dba", host="db1")
    assert found.line == "LC_ALL=C sudo -n -- cat '/var/log/a log'"
    assert not found.prompt


@pytest.mark.parametrize("stdin", [None, Secret("more input")])
def test_that_the_password_and_the_input_are_not_on_the_command_line(stdin: Secret | None) -> None:
    access = SshAccess("dba", sudo="password", sudo_password=REF)
    command = Command(("mysql", "--user=x"), sudo=True, stdin=stdin)
    found = wrap(command, access, VAULT, user="dba", host="db1")
    assert "s3cret" not in found.line
    assert "more input" not in found.line
    assert "s3cret" not in repr(found)
    assert found.prompt.decode() in found.line
    assert bool(found.passed) is (stdin is not None)
    assert wrap(command, access, VAULT, user="dba", host="db1").prompt != found.prompt


def test_that_the_wrapping_for_input_hands_every_word_through_a_real_shell() -> None:
    access = SshAccess("dba", sudo="password", sudo_password=REF)
    command = Command(("printf", "%s|", "a b", "$HOME", "'"), sudo=True, stdin=Secret("x"))
    found = wrap(command, access, VAULT, user="dba", host="db1")
    line = found.line.partition(" -- ")[2]
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True, timeout=10)
    assert done.stdout == b"a b|$HOME|'|"
    assert done.stderr == found.passed


@pytest.mark.parametrize(
    ("stderr", "why"),
    [
        (b"sudo: a password is required\n", "wants a password"),
        (b"dba is not in the sudoers file.\n", "not in the sudoers file"),
        (b"Sorry, user dba is not allowed to execute '/bin/cat' as root on db1.\n", "don't allow"),
        (b"Sorry, user dba may not run sudo on db1.\n", "may not run sudo"),
        (b"sudo: no password was provided\nsudo: 1 incorrect password attempt\n", "password is wrong"),
        (b"sudo: sorry, you must have a tty to run sudo\n", "terminal"),
    ],
)
def test_that_what_sudo_says_is_told_apart(stderr: bytes, why: str) -> None:
    found = refusal(stderr, 1, user="dba", host="db1")
    assert found is not None
    assert why in str(found)


def test_that_a_commands_own_failure_is_not_sudos() -> None:
    assert refusal(b"cat: /x: No such file or directory\n", 1, user="dba", host="db1") is None
    assert refusal(b"error: a password is required by the command\n", 1, user="dba", host="db1") is None
    assert refusal(b"sudo: a password is required\n", 0, user="dba", host="db1") is None


def test_that_a_host_without_sudo_is_told() -> None:
    found = refusal(b"bash: line 1: sudo: command not found\n", 127, user="dba", host="db1")
    assert found is not None
    assert "not installed" in str(found)
