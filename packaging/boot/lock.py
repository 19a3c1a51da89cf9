"""Refreshing requirements.lock, the benchmarks' peers.lock and package.lock of what packages are made with.

Each is one file for Linux, macOS and Windows, with hashes; Python 3.11 to 3.13 (ADR 0003).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from boot.environment import BUILT_HERE, MAIN
from boot.places import LOCK, PEERS, PEERS_LOCK, PYPROJECT, ROOT, TOOLS, TOOLS_LOCK, WINDOWS, BootError, say


def refresh(arguments: list[str]) -> int:
    """Compile the lock anew from pyproject.toml; `--upgrade` in `arguments` also moves what is pinned already."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-lock-") as folder:
        compiler = _compiler(Path(folder))
        _compile(compiler, PYPROJECT, LOCK, ["--all-extras", *arguments])
        for wanted, lock in ((PEERS, PEERS_LOCK), (TOOLS, TOOLS_LOCK)):
            # Beside the project's own packages in one environment: what both need has one version.
            beside = ["--constraint", str(LOCK), "--no-binary", ",".join(BUILT_HERE)]
            _compile(compiler, wanted, lock, [*beside, *arguments])
    return 0


def _compile(compiler: list[str], source: Path, lock: Path, more: list[str]) -> None:
    # The result must be the same wherever it is made: no configuration file, no index and no machine's path in it.
    command = [
        *compiler, "pip", "compile", str(source), "--output-file", str(lock), "--quiet",
        "--universal", "--python-version", "3.11",
        "--generate-hashes", "--only-binary", ":all:", "--no-annotate",
        "--no-config", "--no-sources", "--no-emit-index-url", "--no-emit-find-links",
        "--custom-compile-command", "python packaging/bootstrap.py lock", *more,
    ]  # fmt: skip
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        raise BootError(f"{lock.name} could not be compiled; it stands as it was")
    say(f"{lock.name} is up to date with {source.name}")


def _compiler(folder: Path) -> list[str]:
    """Return the command of uv: the locked one where the environment stands, else a borrowed one."""
    tool = Path(MAIN.tool("uv"))
    if tool.exists():
        return [str(tool)]
    say("downloading the lock tool (uv) for this run")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if WINDOWS else "bin/python")
    fetched = subprocess.run([python, "-I", "-m", "pip", "--quiet", "install", "uv"], check=False)
    if fetched.returncode != 0:
        raise BootError(f"uv could not be installed with {sys.executable}; `pip install uv` tells why")
    return [str(python), "-I", "-m", "uv"]
