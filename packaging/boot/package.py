"""The verb `package`: the wheel, the sdist and what this platform installs, made of what is committed.

What packages are made with has an environment of its own, .venv-package. What stands in the work tree and in no commit
is said, and is in no package: the same commit gives the same packages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from boot import debian, environment, process
from boot.environment import Environment
from boot.places import PACKAGE_WORK, PACKAGES, PYPROJECT, ROOT, TOOLS_LOCK, BootError, say

TOOLS = Environment(ROOT / ".venv-package", peers=TOOLS_LOCK)
KINDS = ("wheel", "bundle", "installers")
# What lists libraries and whose they are, two that parts of Qt load, and what edits where libraries are searched.
DEBIAN = ("binutils", "dpkg-dev", "libwayland-cursor0", "libwayland-egl1", "patchelf")
LIMIT_S = 3_600.0


def package(arguments: list[str]) -> int:
    """Build what is asked for into a folder; return the exit code."""
    parser = argparse.ArgumentParser(prog="bootstrap.py package", description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (all, each with those before it)")
    parser.add_argument("--out", type=Path, default=PACKAGES, metavar="DIR", help="where they go (dist)")
    options = parser.parse_args(arguments)
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"not a kind of package: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    last = max((KINDS.index(kind) for kind in options.kinds), default=len(KINDS) - 1)
    os.umask(0o022)  # packages keep the modes of the files that they are made of
    environment.ensure(TOOLS)
    for packages, purpose in ((debian.QT_PACKAGES, "the icons"), (_system_packages(), "the packages of Linux")):
        if problem := debian.ensure(packages, purpose):
            say(problem)
    commit, made_at = export(PACKAGE_WORK / "tree")
    settings = {
        **os.environ,
        "SOURCE_DATE_EPOCH": made_at,  # reproducible-builds.org, "SOURCE_DATE_EPOCH"
        "PYTHONHASHSEED": "1",  # PyInstaller manual, "Creating a Reproducible Build"
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }
    words = ["-m", "pack", "--commit", commit, "--out", str(options.out.absolute()), *KINDS[: last + 1]]
    ending = process.run([str(TOOLS.python), *words], settings, LIMIT_S, folder=ROOT / "packaging")
    return 0 if ending.code == 0 else 2


def _system_packages() -> tuple[str, ...]:
    """Return the Debian packages; the library of Debian's own Python, which the bundle holds, is one of its own."""
    own = f"libpython{sys.version_info.major}.{sys.version_info.minor}"
    return (*DEBIAN, own) if sys.base_prefix == "/usr" else DEBIAN


def export(folder: Path) -> tuple[str, str]:
    """Lay out what HEAD holds in `folder`; return the commit and its time (seconds since 1970)."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return "", _copied(folder)
    if changed := _git("status", "--porcelain"):
        say(f"not committed, so not packaged: {len(changed.splitlines())} changed or new files of this checkout")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = folder.parent / "tree.tar"
    _git("archive", "--format=tar", f"--output={archive}", "HEAD")
    with tarfile.open(archive) as tar:
        # Debian 12's Python has no filter yet (3.11.4); the archive is our own git's.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)  # noqa: S202
    archive.unlink()
    commit, made_at = _git("log", "-1", "--format=%H %ct").split()
    (folder / "resources" / "built-from").write_text(f"{commit}\n", encoding="ascii", newline="\n")
    return commit, made_at


def _copied(folder: Path) -> str:
    """Copy the sources of a folder that git does not know; return the time of its project file."""
    say("not a git checkout, or no git: the packages are built from the files in this folder and name no commit")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT, folder, ignore=_not_sources)
    return str(int(PYPROJECT.stat().st_mtime))


def _not_sources(_folder: str, names: list[str]) -> list[str]:
    made = {"build", "dist", "__pycache__"}
    return [name for name in names if name in made or name.endswith(".egg-info") or (name[0] == "." and name != ".ci")]


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BootError(f"git {words[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()
