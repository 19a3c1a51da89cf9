"""`procedures NAME` before there is an inventory: the questions are shown, and that nothing was read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.__main__ import main
from services.procedures.catalogue import all_procedures

NAMES = [procedure.about.name for procedure in all_procedures()]


@pytest.fixture(autouse=True)
def nothing_written_down(quiet_log: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workstation whose inventory is not there."""
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_names, **_how: str(tmp_path / "none"))


@pytest.mark.parametrize("name", NAMES)
def test_that_questions_are_shown_without_an_inventory(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", name]) == 0
    output = capsys.readouterr().out
    assert "--input " in output
    assert "no host was read" in output


def test_that_a_machine_is_told_that_no_host_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["procedures", NAMES[0], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["hosts_read"] is False
    assert document["fields"]


def test_that_a_named_inventory_that_is_not_there_is_still_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["procedures", NAMES[0], "--inventory", str(tmp_path / "typo.toml")]) == 2
    assert "typo.toml" in capsys.readouterr().err
