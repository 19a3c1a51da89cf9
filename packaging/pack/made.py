"""Where the parts of one build lie, and how its tools are called."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from boot.places import BootError

NAME = "pilothouse"


@dataclass(frozen=True, slots=True)
class Made:
    """One build.

    Attributes:
        work: the folder of everything on the way; out: the folder of what people install; commit: 40 digits.
    """

    work: Path
    out: Path
    commit: str

    @property
    def tree(self) -> Path:
        """Return the sources as they are committed."""
        return self.work / "tree"

    @property
    def site(self) -> Path:
        """Return the folder where the wheel is unpacked: what is bundled is what the wheel holds."""
        return self.work / "site"

    @property
    def share(self) -> Path:
        """Return the folder of what a desktop reads: menu entry, icons, manual page, completions."""
        return self.work / "share"

    @property
    def bundle(self) -> Path:
        """Return the folder that PyInstaller makes."""
        return self.work / "bundle" / NAME

    @property
    def licences(self) -> Path:
        """Return the licences of everything that is bundled."""
        return self.work / "licences.txt"

    @property
    def sbom(self) -> Path:
        """Return the list of everything that is bundled, for machines."""
        return self.work / "sbom.cdx.json"

    @property
    def origins(self) -> Path:
        """Return the list of where each library of the bundle was taken from."""
        return self.work / "origins.json"

    @property
    def version(self) -> str:
        """Return the version, from its one place: pyproject.toml of what is committed."""
        project = tomllib.loads((self.tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return str(project["version"])

    @property
    def name(self) -> str:
        """Return how this platform's packages begin: name, version, system, machine."""
        system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
        return f"{NAME}-{self.version}-{system}-{platform.machine().lower()}"


def epoch() -> int:
    """Return the time that every file gets (seconds since 1970)."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def call(words: Sequence[object], folder: Path, settings: Mapping[str, str] | None = None) -> str:
    """Run a tool; return what it printed; raise BootError with the end of what it said where it fails."""
    command = [str(word) for word in words]
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **(settings or {})}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    except FileNotFoundError as missing:
        raise BootError(f"{command[0]} is not there, and the packages are made with it") from missing
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-20:])
        raise BootError(f"'{' '.join(command[:4])}' ended with {done.returncode}:\n{said}")
    return done.stdout


def python(made: Made, words: Sequence[object], folder: Path) -> str:
    """Run this environment's Python with the unpacked wheel before the checkout it was installed from."""
    return call([sys.executable, *words], folder, {"PYTHONPATH": f"{made.site}{os.pathsep}{made.tree / 'packaging'}"})
