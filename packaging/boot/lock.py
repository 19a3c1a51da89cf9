"""Refreshing requirements.lock: one file for Linux, macOS and Windows, Python 3.11 to 3.13, with hashes (ADR 0003)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from boot.environment import MAIN
from boot.places import LOCK, PYPROJECT, ROOT, WINDOWS, BootError, say


def refresh(arguments: list[str]) -> int:
    """Compile the lock anew from pyproject.toml; `--upgrade` in `arguments` also moves what is pinned already."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-lock-") as folder:
        compiler = _compiler(Path(folder))
        # The result must be the same wherever it is made: no configuration file, no index and no machine's path in it.
        command = [
            *compiler, "pip", "compile", str(PYPROJECT), "--output-file", str(LOCK), "--quiet",
            "--all-extras", "--universal", "--python-version", "3.11",
            "--generate-hashes", "--only-binary", ":all:", "--no-annotate",
            "--no-config", "--no-sources", "--no-emit-index-url", "--no-emit-find-links",
            "--custom-compile-command", "python packaging/bootstrap.py lock", *arguments,
        ]  # fmt: skip
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            raise BootError("the lock could not be compiled; it stands as it was")
    say(f"{LOCK.name} is up to date with {PYPROJECT.name}")
    return 0


def _compiler(folder: Path) -> list[str]:
    """Return the command of uv: the locked one where the environment stands, else a borrowed one."""
    tool = Path(MAIN.tool("uv"))
    if tool.exists():
        return [str(tool)]
    say("fetching the lock tool (uv) for this once")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if WINDOWS else "bin/python")
    fetched = subprocess.run([python, "-m", "pip", "--quiet", "install", "uv"], check=False)
    if fetched.returncode != 0:
        raise BootError(f"uv could not be installed with {sys.executable}; `pip install uv` tells why")
    return [str(python), "-m", "uv"]
