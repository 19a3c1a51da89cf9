"""With this machine's OpenSSH and without: what several files of tests of connections share."""

from __future__ import annotations

import pytest

from services.connections.ssh import config as ssh_config


@pytest.fixture
def without_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand on a machine without an ssh program."""
    monkeypatch.setattr(ssh_config, "ssh_program", lambda: None)


@pytest.fixture(params=["ssh is asked", "there is no ssh"])
def either_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test twice: with this machine's ssh, and without one."""
    if request.param == "there is no ssh":
        monkeypatch.setattr(ssh_config, "ssh_program", lambda: None)
    elif ssh_config.ssh_program() is None:
        pytest.skip("OpenSSH's ssh is not installed")
