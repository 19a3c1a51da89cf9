"""Which version of this program runs, made from which commit, and how it was installed."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

NOT_INSTALLED = "0+not-installed"
BUILT_FROM = "built-from"
"""A file of resources that a package has: the commit it was made from, in one line."""

_HOME = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_MOST = 1 << 20
"""Bytes that are read of a file of git: packed-refs of thousands of branches are smaller."""
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Build:
    """What runs here.

    Attributes:
        version: as its package has it; NOT_INSTALLED where there is none.
        commit: 40 or 64 hexadecimal digits; '' where nothing tells it.
        form: "bundle" with a Python of its own, "environment" among the packages of a Python, "checkout" from sources.
    """

    version: str
    commit: str
    form: Literal["bundle", "environment", "checkout"]

    @property
    def line(self) -> str:
        """Return it in one line: version, commit, form."""
        commit = f"commit {self.commit[:_SHOWN]}, " if self.commit else ""
        return f"{self.version} ({commit}{self.form})"


def own_version() -> str:
    """Return it as its package has it; what was not installed (a checkout, a bundle without metadata) has none."""
    try:
        return version("pilothouse")
    except PackageNotFoundError:
        return NOT_INSTALLED


def own_build(home: Path = _HOME) -> Build:
    """Return what runs here; `home` is the folder that holds `services` and `resources`."""
    packed = _commit(_read(home / "resources" / BUILT_FROM))
    if getattr(sys, "frozen", False):  # PyInstaller manual, "Run-time Information"
        return Build(own_version(), packed, "bundle")
    if packed or not (home / ".git").exists():
        return Build(own_version(), packed, "environment")
    return Build(own_version(), _checked_out(home / ".git"), "checkout")


def _checked_out(git: Path) -> str:
    """Return the commit of HEAD without asking git, which need not be there (gitrepository-layout(5)); '' if unread."""
    linked = _read(git)  # a worktree's .git is a file that names its folder
    folder = git.parent / linked.removeprefix("gitdir: ") if linked.startswith("gitdir: ") else git
    head = _read(folder / "HEAD")
    if not head.startswith("ref: refs/") or ".." in head:
        return _commit(head)
    name = head.removeprefix("ref: ")
    common = folder / (_read(folder / "commondir") or ".")
    if found := _commit(_read(common / name)):
        return found
    packed = (line.split(" ", 1) for line in _read(common / "packed-refs").split("\n"))
    return next((_commit(pair[0]) for pair in packed if pair[1:] == [name]), "")


def _commit(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST).strip()
    except OSError:
        return ""
