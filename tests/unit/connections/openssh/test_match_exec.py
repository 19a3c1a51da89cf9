"""`Match exec`: real programs of a real ssh_config, which learn no secret and can't hold a connection up."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from services.connections.openssh import conditions
from services.connections.ssh.config import target_for
from services.inventory.model import SshAccess
from services.secrets import SecretRef
from tests.conftest import ExpectLog

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX"),
    pytest.mark.usefixtures("either_reader"),
]


def user_of(folder: Path, condition: str, address: str = "db1") -> str:
    config = folder / "config"
    config.write_text(f"Match {condition}\n User matched\nHost *\n User other\n", encoding="utf-8")
    return target_for(SshAccess("", config=str(config)), address).user


def test_that_the_program_gets_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {"MYSQL_PWD": "a-secret", "SSHPASS": "b-secret", "ODDLY_NAMED": "c-secret"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PLAIN", "as it is")
    SecretRef.parse("env:ODDLY_NAMED")  # as an inventory names it
    assert user_of(tmp_path, f'exec "env >{tmp_path}/got"') == "matched"
    got = (tmp_path / "got").read_text(encoding="utf-8")
    assert "PLAIN=as it is" in got
    assert "-secret" not in got


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ('exec "true"', True),
        ('exec "false"', False),
        ('!exec "false"', True),
        ('!exec "true"', False),
        ('host db1 exec "test %n = db1"', True),
        ('host db1 exec "test %n = db2"', False),
        ('exec "true" host other', False),
        ('exec "true" exec "false"', False),
        ('exec "/nowhere/at/all"', False),
    ],
)
def test_that_its_exit_status_decides(tmp_path: Path, condition: str, matches: bool) -> None:
    assert user_of(tmp_path, condition) == ("matched" if matches else "other")


def test_that_it_runs_once_and_not_at_all_where_the_line_has_failed_before(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    user_of(tmp_path, f'host other exec "echo x >>{ran}"')
    assert not ran.exists()
    user_of(tmp_path, f'exec "echo x >>{ran}"')
    assert ran.read_text(encoding="utf-8") == "x\n"


def test_that_one_that_does_not_end_is_ended_and_taken_for_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_log: ExpectLog, without_ssh: None
) -> None:
    expected_log("WARNING", r"Match exec did not end within 0\.5 s and counts as not matched\. echo")
    expected_log("WARNING", r"Match exec did not end within 0\.5 s and counts as not matched\. sleep 41")
    monkeypatch.setattr(conditions, "MOST_S", 0.5)
    began = time.monotonic()
    condition = f'exec "echo $$ >{tmp_path}/pid; sleep 40; true"\n User x\nMatch exec "sleep 41"'
    assert user_of(tmp_path, condition) == "other"
    assert time.monotonic() - began < 3.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 0)


def test_that_it_runs_at_each_connection_as_at_a_terminal(tmp_path: Path) -> None:
    """What it asks may have changed since: the network, a token, the hour."""
    switch = tmp_path / "switch"
    assert user_of(tmp_path, f'exec "test -e {switch}"') == "other"
    switch.touch()
    assert user_of(tmp_path, f'exec "test -e {switch}"') == "matched"
