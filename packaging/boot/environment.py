"""The project's own environments: .venv from the lock, .venv-headless without Qt; with more than the lock .venv-bench
(peers.py) and .venv-package (package.py)."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from boot import debian
from boot.places import LOCK, PYPROJECT, ROOT, WINDOWS, BootError, is_debian, say

# Everything that brings a part of Qt. The service tests run without them (third law: no Qt below the window).
QT_DISTRIBUTIONS = ("pyqtgraph", "pyside6-essentials", "pytest-qt", "shiboken6")
# What has no wheel: a peer of the benchmarks (on Linux), and what makes the manual page.
BUILT_HERE = ("mysqlclient", "argparse-manpage")


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment.

    Attributes:
        folder: where it lies, at the root; without: distributions of the lock that it goes without.
        peers: a second lock, of what is only measured or packed with; of these alone some are built here.
    """

    folder: Path
    without: tuple[str, ...] = ()
    peers: Path | None = None

    @property
    def python(self) -> Path:
        """Return the interpreter inside."""
        return self.folder / ("Scripts/python.exe" if WINDOWS else "bin/python")

    @property
    def stamp(self) -> Path:
        """Return the file that says what was installed; written last, so that a broken install is no install."""
        return self.folder / "installed-from-lock"

    def tool(self, name: str) -> str:
        """Return the path of a console script inside."""
        return str(self.python.with_name(f"{name}.exe" if WINDOWS else name))


MAIN = Environment(ROOT / ".venv")
HEADLESS = Environment(ROOT / ".venv-headless", without=QT_DISTRIBUTIONS)


def ensure(environment: Environment) -> None:
    """Make `environment` hold exactly what the lock says; costs nothing when it does already."""
    wanted = fingerprint(environment)
    usable = _usable(environment)
    if usable and _read(environment.stamp) == wanted:
        return
    if not usable:
        _create(environment)
    say(f"installing the locked packages into {environment.folder.name} (a minute on a fresh machine)")
    with tempfile.TemporaryDirectory(prefix="pilothouse-") as folder:
        chosen = Path(folder) / "requirements.txt"
        chosen.write_text(without(LOCK.read_text(encoding="utf-8"), environment.without), encoding="utf-8")
        # Wheels only: nothing is compiled and no package runs its own code while it is being installed.
        _pip(environment, "install", "--require-hashes", "--only-binary", ":all:", "-r", str(chosen))
        complete = environment.peers is None or _install_peers(environment, environment.peers, chosen)
    # The project itself: editable, built by the locked setuptools, so nothing is fetched that has no hash.
    _pip(environment, "install", "--no-deps", "--no-index", "--no-build-isolation", "-e", str(ROOT))
    if complete:
        environment.stamp.write_text(wanted, encoding="utf-8")


def _install_peers(environment: Environment, lock: Path, chosen: Path) -> bool:
    """Install what the second lock names; tell whether all of it is there.

    What has no wheel is built by the locked setuptools: nothing is fetched that has no hash. Where it can't be built
    (no compiler, no headers), the rest is installed, and the next run tries again.
    """
    words = ["install", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    text = lock.read_text(encoding="utf-8")
    chosen.write_text(without(text, BUILT_HERE), encoding="utf-8")
    _pip(environment, *words, "-r", str(chosen))
    built = ",".join(name for name in BUILT_HERE if f"\n{name}==" in text)
    try:
        _pip(environment, *words, "--no-binary", built, "--no-build-isolation", "-r", str(lock))
    except BootError as error:
        say(f"not available: {built}: {error}")
        return False
    return True


def fingerprint(environment: Environment) -> str:
    """Return what decides whether an environment is up to date: lock, project metadata, place, omissions."""
    metadata = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    parts: dict[str, object] = {
        "lock": LOCK.read_text(encoding="utf-8"),
        "project": metadata["project"],
        "packages": metadata["tool"]["setuptools"],
        "root": str(ROOT),
        "without": environment.without,
    }
    if environment.peers is not None:
        parts["peers"] = environment.peers.read_text(encoding="utf-8")
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def without(lock: str, omitted: tuple[str, ...]) -> str:
    """Return the text of a lock less the entries named in `omitted` (normalised names, PEP 503)."""
    kept: list[str] = []
    keeping = True
    for line in lock.splitlines(keepends=True):
        if line[:1].isalnum():
            keeping = line.split("==", 1)[0].strip() not in omitted
        if keeping or line.startswith("#"):
            kept.append(line)
    return "".join(kept)


def _create(environment: Environment) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        reason = debian.ensure(debian.venv_packages(), "virtual environments")
        if reason or not is_debian():
            raise BootError(reason or "this Python has no ensurepip: install one that can make virtual environments")
    say(f"creating {environment.folder.name} with Python {sys.version.split()[0]}")
    done = subprocess.run(
        [sys.executable, "-I", "-m", "venv", "--clear", str(environment.folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BootError(f"the environment could not be made: {(done.stderr or done.stdout).strip()}")


def _usable(environment: Environment) -> bool:
    """Tell whether an environment stands there, complete with pip (an upgraded system Python leaves an empty one)."""
    if not environment.python.exists():
        return False
    probe = "import importlib.util, sys; sys.exit(sys.version_info < (3, 11) or not importlib.util.find_spec('pip'))"
    try:
        done = subprocess.run([environment.python, "-I", "-c", probe], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _pip(environment: Environment, *arguments: str) -> None:
    # -I: no module of the current folder is imported (venv.py, pip.py in a folder of downloads).
    # Extra places to find packages (a folder of wheels somebody built here, an additional index) are switched off: a
    # wheel from there has the right version and the wrong hash. The index, proxies and certificates stay as configured.
    settings = {**os.environ, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    settings.pop("PIP_NO_INDEX", None)
    settings.pop("PYTHONPATH", None)
    command = [str(environment.python), "-I", "-m", "pip", "--quiet", "--no-input", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BootError(f"pip {arguments[0]} failed:\n{(done.stderr or done.stdout).strip()}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
