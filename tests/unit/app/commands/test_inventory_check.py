"""`inventory check` asks hosts side by side and tells of them in their order. On a mock of what tries a host."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from app.__main__ import main
from app.cli.commands import inventory as command
from services.connections.probe.test import AccessReport, Step
from services.inventory.model import HostEntry
from services.secrets import SecretRef, SystemVault

HOSTS = 20


class MockProbe:
    """Counts how many are asked at once; `db00` is not done before the last of the first lot began."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._lock = threading.Lock()
        self._lot = threading.Event()

    def __call__(self, host: HostEntry, _vault: object) -> AccessReport:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now == command._AT_ONCE:
                self._lot.set()
        assert self._lot.wait(20.0), "they are asked one after the other"
        with self._lock:
            self._now -= 1
        bad = host.name == "db07"
        return AccessReport(host.name, (Step("tcp", "SSH port", "failed" if bad else "passed", "Told."),))


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch) -> MockProbe:
    made = MockProbe()
    monkeypatch.setattr(command, "probe_access", made)
    return made


@pytest.fixture
def written(quiet_log: None, tmp_path: Path) -> list[str]:
    path = tmp_path / "many.toml"
    hosts = (f'[[host]]\nname = "db{n:02}"\naddress = "10.0.0.{n}"\n[host.ssh]\nuser = "x"\n' for n in range(HOSTS))
    path.write_text("version = 1\n" + "".join(hosts))
    return ["--inventory", str(path), "--data", str(tmp_path / "data")]


def test_that_a_mock_of_many_hosts_is_asked_side_by_side_within_a_bound_and_told_in_order(
    mock: MockProbe, written: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inventory", "check", "--json", *written]) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["host"] for one in told] == [f"db{n:02}" for n in range(HOSTS)]
    assert [one["host"] for one in told if not one["ok"]] == ["db07"]
    assert set(told[0]) == {"host", "ok", "steps"}
    assert mock.most == command._AT_ONCE < 10


def test_that_a_mock_of_hosts_is_told_as_text_as_before(
    mock: MockProbe, written: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inventory", "check", *written]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["db00", "    ok  SSH port: Told."]
    assert len(lines) == 2 * HOSTS


def test_that_a_secret_of_a_descriptor_is_read_once_by_many_at_a_time() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"secret\n")
    os.close(writer)
    vault, begin, found = SystemVault(), threading.Barrier(8), []

    def ask() -> None:
        begin.wait(10.0)
        found.append(vault.get(SecretRef("fd", str(reader))).reveal())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)
    assert found == ["secret"] * 8
