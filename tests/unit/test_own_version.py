"""What the program says of itself: version, commit and how it was installed, also where nothing of that is known."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from app.__main__ import main
from services.workstation import own_version


def test_that_a_program_without_metadata_tells_that_it_was_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(own_version, "version", absent)
    monkeypatch.setattr(metadata, "version", absent)
    assert own_version.own_version() == own_version.NOT_INSTALLED
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"pilothouse {own_version.NOT_INSTALLED} (")


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.net", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of one empty commit."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    _git(folder, "init", "--quiet")
    _git(folder, "commit", "--quiet", "--allow-empty", "--message", "one")
    return folder


def test_that_a_checkout_tells_its_commit_by_loose_and_packed_refs_and_detached(checkout: Path) -> None:
    commit = _git(checkout, "rev-parse", "HEAD")
    told = own_version.Build(own_version.own_version(), commit, "checkout")
    assert own_version.own_build(checkout) == told
    _git(checkout, "pack-refs", "--all")
    assert own_version.own_build(checkout) == told
    _git(checkout, "checkout", "--quiet", "--detach")
    assert own_version.own_build(checkout) == told


def test_that_a_second_worktree_tells_the_commit_of_its_own_branch(checkout: Path) -> None:
    other = checkout.parent / "other"
    _git(checkout, "worktree", "add", "--quiet", "-b", "side", str(other))
    _git(other, "commit", "--quiet", "--allow-empty", "--message", "two")
    assert own_version.own_build(other).commit == _git(other, "rev-parse", "HEAD")


def test_that_a_package_tells_the_commit_that_it_was_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / own_version.BUILT_FROM).write_text("a" * 40 + "\n", encoding="ascii")
    found = own_version.own_build(tmp_path)
    assert (found.commit, found.form) == ("a" * 40, "environment")
    assert found.line == f"{own_version.own_version()} (commit aaaaaaaaaaaa, environment)"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert own_version.own_build(tmp_path).form == "bundle"


@pytest.mark.parametrize("head", ["", "ref: refs/heads/none", "ref: refs/../../secret", "A" * 40, "\x00", "g" * 40])
def test_that_a_head_that_names_no_commit_leaves_the_commit_out(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head, encoding="utf-8")
    assert own_version.own_build(tmp_path) == own_version.Build(own_version.own_version(), "", "checkout")
    assert own_version.own_build(tmp_path / "none").line.endswith(" (environment)")
