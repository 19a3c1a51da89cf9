"""The libraries of the builder's system that lie in the bundle: whose package each is of (dpkg; Linux only)."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pack.made import Made


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """A package of the system: its name, version, files of it in the bundle, and what its copyright file says."""

    name: str
    version: str
    files: tuple[str, ...]
    copyright: str


def system_packages(made: Made) -> tuple[SystemPackage, ...]:
    """Return the packages, in the order of their names; () on a system without dpkg."""
    if not sys.platform.startswith("linux"):
        return ()
    owned: dict[str, list[str]] = {}
    for path in sorted((made.bundle / "_internal").glob("*.so*")):
        if owner := _owner(path.name):
            owned.setdefault(owner, []).append(path.name)
    return tuple(_package(name, tuple(files)) for name, files in sorted(owned.items()))


def _owner(library: str) -> str:
    said = _dpkg("dpkg-query", "--search", f"*/{library}")
    names = re.findall(r"^([a-z0-9][a-z0-9.+-]*)(?::[a-z0-9]+)?(?:, [^:]+)?: /(?:usr/)?lib/", said, re.MULTILINE)
    return str(names[0]) if names else ""


def _package(name: str, files: tuple[str, ...]) -> SystemPackage:
    version = _dpkg("dpkg-query", "--show", "--showformat=${Version}\\n", name).splitlines()
    told = Path("/usr/share/doc") / name / "copyright"
    text = told.read_text(encoding="utf-8", errors="replace") if told.is_file() else ""
    return SystemPackage(name, version[0] if version else "", files, text)


def _dpkg(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
