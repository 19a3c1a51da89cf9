"""The step 'Commands' of a host's test: whether a command is run for the login at all. On a scripted way in."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from services.connections.ports import Output
from services.connections.probe import test as probe
from services.connections.probe.test import AccessReport, probe_access
from services.errors import UserError
from services.inventory.model import HostEntry, SshAccess
from services.secrets import MemoryVault

KERNEL = Output(0, b"db1\nMemTotal:       8000000 kB\ncpu  1 2 3\n", b"")
CLOCK = Output(0, b"1795490000.123456789\n", b"")
NOLOGIN = Output(1, b"This account is currently not available.\n", b"")


def tried(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], Output], sudo: str = "nopasswd") -> AccessReport:
    """Return the report of a host whose SSH lets in, and whose commands are answered so."""
    target = SimpleNamespace(host="db1", port=22, user="dba", key_name="db1", jumps=(), proxy_command="")
    link = SimpleNamespace(target=target, login="key", close=lambda: None)
    monkeypatch.setattr(probe, "target_for", lambda *_given: target)
    monkeypatch.setattr(probe.SshLink, "open", lambda *_given, **_named: link)
    monkeypatch.setattr(probe, "addresses_of", lambda *_given: [])

    def run(_link: Any, line: Any, *_given: Any, what: str = "", **_named: Any) -> Output:
        return answer(what)

    monkeypatch.setattr(probe.remote_command, "run", run)
    return probe_access(HostEntry("db1", "192.0.2.1", ssh=SshAccess("dba", sudo=sudo)), MemoryVault())


def states(report: AccessReport) -> dict[str, str]:
    return {step.name: step.state for step in report.steps}


def honest(what: str) -> Output:
    if "id" in what.split():
        return Output(0, b"0\n", b"")
    return CLOCK if what.startswith("date") else KERNEL


def test_that_a_login_whose_commands_run_passes_the_step_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    report = tried(monkeypatch, honest)
    assert (states(report)["shell"], states(report)["sudo"]) == ("passed", "passed")
    assert next(s for s in report.steps if s.name == "shell").title == "Commands"


@pytest.mark.parametrize("answer", [NOLOGIN, Output(0, b"", b""), Output(1, b"", b""), Output(0, b"Welcome!\n", b"")])
def test_that_one_answer_to_every_command_fails_it_and_nothing_is_concluded_of_sudo(
    monkeypatch: pytest.MonkeyPatch, answer: Output
) -> None:
    report = tried(monkeypatch, lambda _what: answer)
    found = states(report)
    assert found["shell"] == "failed"
    assert "sudo" not in found
    (step,) = (s for s in report.steps if s.name == "shell")
    assert "This login cannot run commands, although SSH accepts it:" in step.sentence
    assert any("chsh" in advice for advice in step.try_)


@pytest.mark.parametrize(
    "problem", [UserError("Broken off.", host="db1"), RuntimeError("odd"), OSError("Socket is closed")]
)
def test_that_a_command_that_can_not_be_run_at_all_fails_it(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def answer(_what: str) -> Output:
        raise problem

    found = states(tried(monkeypatch, answer))
    assert found["ssh-login"] == "passed"
    assert found["shell"] == "failed"
    assert "sudo" not in found


def test_that_a_host_without_a_kernels_files_passes_by_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    report = tried(monkeypatch, lambda what: CLOCK if what.startswith("date") else Output(1, b"", b"cat: no such file"))
    assert states(report)["shell"] == "passed"
