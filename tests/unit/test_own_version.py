"""A program that was not installed, or whose metadata were left out of a bundle, runs all the same."""

from __future__ import annotations

from importlib import metadata

import pytest

from app.__main__ import main
from services import own_version


def test_that_a_program_without_metadata_tells_that_it_was_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(own_version, "version", absent)
    monkeypatch.setattr(metadata, "version", absent)
    assert own_version.own_version() == own_version.NOT_INSTALLED
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pilothouse {own_version.NOT_INSTALLED}\n"
