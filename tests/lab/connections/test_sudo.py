"""sudo on real hosts, and the Test button over all of it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from services.connections.command import Command
from services.connections.probe.test import probe_access
from services.errors import SudoFailed, TimedOut
from tests.lab.connections.connecting import LIMITS, ROOT, SUDO, WHOAMI, WRONG, entry, free_session, vault
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import on_this_machine

HOST = "spare"


def test_that_sudo_without_password_makes_root(galera_estate: Estate) -> None:
    with free_session(galera_estate, entry(galera_estate, HOST)) as made:
        assert made.run(ROOT).text == "root\n"
    with free_session(galera_estate, entry(galera_estate, HOST, user="root", sudo="none")) as made:
        assert made.run(ROOT).text == "root\n"


def test_that_sudo_with_password_makes_root_and_the_password_reaches_neither_output_nor_process_list(
    galera_estate: Estate,
) -> None:
    secret = galera_estate.environment()[SUDO.name]
    host = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=SUDO)
    with free_session(galera_estate, host) as made:
        output = made.run(ROOT)
        assert (output.text, output.stderr, output.exit_code) == ("root\n", b"", 0)
        processes = made.run(Command(("ps", "-e", "-ww", "-o", "args"), sudo=True)).text
        assert "sudo -S" in processes
        assert secret not in processes
        stream = made.stream(Command(("tail", "-n", "+1", "-F", "/var/log/dpkg.log"), sudo=True))
        assert next(iter(stream.lines(limit_s=10.0)))
        stream.close()
    seen = galera_estate.host(HOST).sh("journalctl -b --no-pager -n 200").out
    assert secret not in seen


def test_that_a_wrong_sudo_password_fails_quickly_and_a_missing_one_at_once(galera_estate: Estate) -> None:
    wrong = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=WRONG)
    with free_session(galera_estate, wrong) as made:
        started = time.monotonic()
        with pytest.raises(SudoFailed, match="the sudo password is wrong"):
            made.run(ROOT, limit_s=20.0)
        assert time.monotonic() - started < on_this_machine(8.0)  # PAM itself waits about 2 s after a wrong one
        stream = made.stream(Command(("tail", "-n", "+1", "-F", "/var/log/dpkg.log"), sudo=True))
        with pytest.raises(SudoFailed):
            list(stream.lines(limit_s=15.0))
        stream.close()
    with free_session(galera_estate, entry(galera_estate, HOST, user="dbapw", sudo="nopasswd")) as made:
        with pytest.raises(SudoFailed, match="requires a password"):
            made.run(ROOT)
        assert made.run(WHOAMI).text == "dbapw\n"
    with (
        free_session(galera_estate, entry(galera_estate, HOST, user="dbapw", sudo="none")) as made,
        pytest.raises(SudoFailed, match="has no sudo"),
    ):
        made.run(ROOT)


def test_that_a_sudo_password_never_becomes_the_commands_input_where_sudo_does_not_ask(galera_estate: Estate) -> None:
    # dba needs no password: `cat` without a file would print whatever came on its input.
    from services.connections import remote_command, sudo
    from services.connections.ssh.connection import SshLink

    host = entry(galera_estate, HOST, sudo="password", sudo_password=SUDO)
    assert host.ssh is not None
    link = SshLink.open(host, vault(galera_estate), policy=None, limits=LIMITS)
    try:
        wrapped = sudo.wrap(Command(("cat",), sudo=True), host.ssh, vault(galera_estate), user="dba", host=HOST)
        with pytest.raises(TimedOut):
            remote_command.run(link, wrapped, None, host=HOST, limit_s=1.5, most=4096, what="cat")
        given = Command(("cat",), sudo=True, stdin=vault(galera_estate).get(WRONG))
        wrapped = sudo.wrap(given, host.ssh, vault(galera_estate), user="dba", host=HOST)
        output = remote_command.run(link, wrapped, given.stdin, host=HOST, limit_s=10.0, most=4096, what="cat")
        assert output.text == "not the password"
        assert output.stderr == b""
    finally:
        link.close()


def test_that_the_test_button_passes_every_step_on_a_whole_host(galera_estate: Estate) -> None:
    report = probe_access(entry(galera_estate, "n2"), vault(galera_estate), limits=LIMITS)
    assert report.ok, report.as_text()
    states = {step.name: step.state for step in report.steps}
    assert states == dict.fromkeys(
        ("name", "tcp", "host-key", "ssh-login", "shell", "sudo", "sql-tcp", "sql-login", "tls", "rights"), "passed"
    )


def test_that_the_test_button_says_where_it_stops(galera_estate: Estate, tmp_path: Path) -> None:
    unknown = entry(galera_estate, HOST, known_hosts=str(tmp_path / "none"))
    report = probe_access(unknown, vault(galera_estate), limits=LIMITS)
    assert not report.ok
    assert report.question is not None
    assert [step.name for step in report.steps if step.state == "failed"] == ["host-key", "sql-tcp"]
    wrong = entry(galera_estate, HOST, user="dbapw", sudo="password", sudo_password=WRONG)
    report = probe_access(wrong, vault(galera_estate), limits=LIMITS)
    assert {step.name: step.state for step in report.steps}["sudo"] == "failed"
