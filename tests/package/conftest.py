"""The bundle under test: what `bootstrap.py package` made before, or made now of what is committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from boot.environment import MAIN
from boot.places import PACKAGE_WORK, ROOT, in_ci, is_root
from pack.made import NAME, Made

BUILD_LIMIT_S = 1_800
PACKAGES = "PILOTHOUSE_PACKAGES"
"""The folder of packages that were made of this tree a moment ago: nothing is built again."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The bundle, and how its programs are called."""

    made: Made

    @property
    def folder(self) -> Path:
        """Return where it lies."""
        return self.made.bundle

    def run(
        self, *words: str, told: str = "", program: str = NAME, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run its program as a login without a Python of its own would: no variable of this environment reaches it."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
        environment = {**kept, "PATH": os.defpath, "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8", **settings}
        command = [str(self.folder / program), *words]
        return subprocess.run(
            command, input=told, capture_output=True, text=True, env=environment, check=False, timeout=110
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the time of the making too, which falls into the first that asks for the bundle."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(BUILD_LIMIT_S + 120))


def _obstacle() -> str:
    """Return why no bundle can be made here; '' where it can, and where an automated run has to say why not."""
    if sys.platform.startswith("linux") and shutil.which("objdump") is None and not (is_root() or in_ci()):
        return "the bundle is made with binutils: sudo apt-get install binutils"
    return ""


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The bundle of this tree."""
    if problem := _obstacle():
        pytest.skip(problem)
    out = Path(os.environ.get(PACKAGES) or tmp_path_factory.mktemp("packages")).absolute()
    if PACKAGES not in os.environ:
        words = [sys.executable, str(ROOT / "packaging" / "bootstrap.py"), "package", "bundle", "--out", str(out)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=BUILD_LIMIT_S)
        assert done.returncode == 0, done.stdout + done.stderr
    made = Made(PACKAGE_WORK, out, "")
    assert made.bundle.is_dir(), f"no bundle lies at {made.bundle}: make one with packaging/bootstrap.py package"
    return Bundle(made)


@pytest.fixture(scope="session")
def trying(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A copy of the bundle with the program that imports what it is told to."""
    work = tmp_path_factory.mktemp("trying")
    copy = Bundle(Made(work, bundle.made.out, ""))
    shutil.copytree(bundle.folder, copy.folder, symlinks=True)
    name = f"{NAME}-try.exe" if os.name == "nt" else f"{NAME}-try"
    shutil.copy(bundle.made.work / "pyinstaller" / "work" / NAME / name, copy.folder)
    return copy


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The variables of a login whose home folder is empty."""
    folder = tmp_path / "home"
    folder.mkdir()
    return {"HOME": str(folder), "USERPROFILE": str(folder), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@pytest.fixture(scope="session")
def environment_program() -> str:
    """The program of the project's own environment: what the bundle has to be like."""
    return MAIN.tool(NAME)
