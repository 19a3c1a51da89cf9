"""How a command becomes root, and what never appears on the host's command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.sudo import Wrapped, other_prompt, refusal, without_marks, wrap
from services.errors import SudoFailed
from services.inventory.model import SshAccess
from services.secrets import MemoryVault, Secret, SecretRef

REF = SecretRef("env", "SUDO")
VAULT = MemoryVault({"env:SUDO": "s3cret pass"})
OF_SUDO_RS = json.loads((Path(__file__).parents[1] / "recorded" / "sudo-rs.json").read_text(encoding="utf-8"))
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
        (b"sudo: a password is required\n", "requires a password"),
        (b"dba is not in the sudoers file.\n", "not in the sudoers file"),
        (b"Sorry, user dba is not allowed to execute '/bin/cat' as root on db1.\n", "do not allow"),
        (b"Sorry, user dba may not run sudo on db1.\n", "may not run sudo"),
        (b"sudo: no password was provided\nsudo: 1 incorrect password attempt\n", "password is wrong"),
        (b"sudo: sorry, you must have a tty to run sudo\n", "terminal"),
        (b"sudo: interactive authentication is required\n", "requires a password"),  # sudo-rs
        (b"sudo-rs: interactive authentication is required\n", "requires a password"),
        (b"sudo: I'm sorry dba. I'm afraid I can't do that\n", "do not allow"),  # sudo-rs
        (b"sudo: maximum 3 incorrect authentication attempts\n", "password is wrong"),  # sudo-rs
        (b"sudo: a terminal is required to read the password; either use ...\n", "terminal"),
        (b"sudo: no tty present and no askpass program specified\n", "terminal"),
        (b"sudo: /usr/bin/sudo must be owned by uid 0 and have the setuid bit set\n", "may not become root"),
        (b"sudo: effective uid is not 0, is /usr/bin/sudo on a file system with 'nosuid'?\n", "may not become root"),
        (b'sudo: The "no new privileges" flag is set, which prevents sudo ...\n', "gain new privileges"),
        (b"sudo: account validation failure, is your account locked?\n", "locked or expired"),
        # What nobody listed here is told in sudo's own words.
        (b"/etc/sudoers:3: syntax error\nsudo: no valid sudoers sources found, quitting\n", "no valid sudoers sources"),
        (b"sudo: PAM account management error: Permission denied\n", "PAM account management error"),
        (b"sudo: Es ist ein Passwort notwendig\n", "Es ist ein Passwort notwendig"),
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


def test_that_words_after_which_sudo_goes_on_are_no_refusal_of_its() -> None:
    for words in (
        b"sudo: unable to resolve host db1: Name or service not known\n",
        b"sudo: setrlimit(RLIMIT_CORE): Operation not permitted\n",
        b"sudo: mysqlbinlog: command not found\n",
    ):
        assert refusal(words, 1, user="dba", host="db1") is None
    unknown = b"sudo: something that a later one says\n"
    assert refusal(unknown, 1, user="dba", host="db1", silent=False) is None  # the command's own output came
    assert refusal(unknown, 1, user="dba", host="db1") is not None


def test_that_each_refusal_says_what_to_try() -> None:
    tried = {
        words: refusal(f"sudo: {words}\n".encode(), 1, user="dba", host="db1").try_  # type: ignore[union-attr]
        for words in ("must have a tty", "the setuid bit", "no new privileges", "a password is required")
    }
    assert len(set(tried.values())) == 4
    assert all(advice for advice in tried.values())


@pytest.mark.parametrize(
    ("stderr", "sure"),
    [
        ("Password for dba@CORP.EXAMPLE: ", True),
        ("(current) UNIX password:", True),
        ("[sudo] Passwort für dba: ", True),
        ("Lecture of the admin.\nMot de passe : ", True),
        ("Verification code:", True),
        ("パスワード：", True),
        ("Copying tables:", False),
    ],
)
def test_that_a_prompt_of_another_module_is_told_from_a_line_that_waits_for_nobody(stderr: str, sure: bool) -> None:
    assert bool(other_prompt(stderr.encode(), sure=True)) is sure
    assert other_prompt(stderr.encode()) == stderr.rpartition("\n")[2].strip()


def test_that_a_whole_line_is_no_prompt() -> None:
    assert other_prompt(b"Password for dba@CORP.EXAMPLE: \n") == ""
    assert other_prompt(b"done") == other_prompt(b"") == ""


@pytest.mark.parametrize("case", OF_SUDO_RS, ids=lambda case: f"{case['version']}: {case['line'][:60]}")
def test_that_what_sudo_rs_really_says_is_told_apart(case: dict[str, str]) -> None:
    left = without_marks(case["stderr"].encode(), Wrapped("", prompt=b"[mark]"))
    assert b"Password:" not in left
    assert other_prompt(left) == ""
    gave, silent = "-S" in case["line"], not case["stdout"]
    found = refusal(left, int(case["exit"]), user="dba", host="db1", silent=silent, gave=gave)
    said = None if found is None else found.sentence.removeprefix("sudo for dba failed: ").removesuffix(".")
    assert said == case["why"]


def test_that_the_commands_own_words_stand_alone_once_sudo_let_it_through() -> None:
    wrapped = Wrapped("", prompt=b"[pilothouse 1]", passed=b"[passed 1]")
    for before in (b"[pilothouse 1]", b"[sudo: [pilothouse 1]] Password: \n"):
        assert without_marks(before + b"[passed 1]cat: /x: No such file\n", wrapped) == b"cat: /x: No such file\n"
