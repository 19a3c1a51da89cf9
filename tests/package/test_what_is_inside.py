"""What lies in the packages, and what must not: secrets, paths of the builder's machine, tests, the builder's tools."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from boot.package import TOOLS
from boot.places import ROOT
from services.own_version import BUILT_FROM, own_version
from tests.package.conftest import Bundle

NOT_NEEDED = {
    *("pytest", "_pytest", "hypothesis", "mypy", "ruff", "PyInstaller", "setuptools", "pip", "pyqtgraph", "babel"),
    *("shtab", "PIL", "tests", "boot", "pack", "tkinter", "ensurepip", "idlelib"),
}
"""What the environment that builds has beside the program."""
SECRETS = ("BEGIN OPENSSH PRIVATE KEY-----\nb3B", "BEGIN RSA PRIVATE KEY-----\nMI", "BEGIN PRIVATE KEY-----\nMI")
"""A key's first line and how its content begins: the line alone is what readers of keys look for."""
MOST_MB = 250


def _search(bundle: Bundle, *words: str) -> tuple[list[str], set[str]]:
    """Return where the words stand, and the top-level modules of the archive."""
    command = [str(TOOLS.python), "-m", "pack.search", str(bundle.folder), *words]
    said = subprocess.run(
        command, cwd=ROOT / "packaging", capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return said[:-1], set(said[-1].split()[1:])


def test_that_no_path_of_the_builder_no_secret_and_no_foreign_module_lies_in_the_bundle(bundle: Bundle) -> None:
    # Homes shorter than these say nothing: /root stands in many a library.
    homes = [str(Path.home())] if len(str(Path.home())) > len("/root/") else []
    found, modules = _search(bundle, str(ROOT), str(bundle.made.out), *homes, *SECRETS)
    assert found == []
    assert {"app", "services", "widgets", "resources", "keyring", "sqlalchemy"} <= modules
    assert modules & NOT_NEEDED == set()


def test_that_no_file_of_a_test_and_no_part_of_qt_that_nothing_loads_lies_in_the_bundle(bundle: Bundle) -> None:
    files = [path.relative_to(bundle.folder).as_posix().lower() for path in bundle.folder.rglob("*")]
    assert [name for name in files if re.search(r"(^|/)tests?(/|$)|conftest|test_\w+\.py", name)] == []
    assert [
        name for name in files if re.search(r"qt6?(qml|quick|pdf|sql|designer|virtualkeyboard|webengine)", name)
    ] == []
    assert any("platforms/" in name and "offscreen" in name for name in files)
    size = sum(path.stat().st_size for path in bundle.folder.rglob("*") if path.is_file() and not path.is_symlink())
    assert size < MOST_MB * 1_000_000


def test_that_paramiko_and_qt_lie_as_files_that_can_be_replaced(bundle: Bundle) -> None:
    internal = bundle.folder / "_internal"
    assert (internal / "paramiko" / "transport.py").is_file()
    assert [path for path in internal.rglob("*") if re.match(r"(lib)?Qt6?Core\b", path.name)]


def test_that_the_licences_of_everything_bundled_stand_in_one_file(bundle: Bundle) -> None:
    text = (bundle.folder / "_internal" / "licences.txt").read_text(encoding="utf-8")
    for name in ("paramiko", "PySide6_Essentials", "PyMySQL", "pymongo", "numpy", "Pilothouse", "Python "):
        assert f"\n{name}" in text
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in text.upper()
    assert "UNKNOWN" not in re.sub(r"\n(Author|URL|LicenseFile|NoticeFile|LicenseText|NoticeText)?\s*UNKNOWN", "", text)


def test_that_the_bill_of_materials_names_what_the_bundle_has(bundle: Bundle) -> None:
    bom = json.loads(bundle.made.sbom.read_text(encoding="utf-8"))
    assert bom["bomFormat"] == "CycloneDX"
    named = {one["name"].lower().replace("_", "-"): one for one in bom["components"]}
    assert {"paramiko", "pyside6-essentials", "sqlalchemy", "python"} <= set(named)
    assert named["paramiko"]["purl"].startswith("pkg:pypi/paramiko@")
    assert not {"pytest", "mypy", "pyinstaller"} & set(named)
    assert bom["metadata"]["component"]["version"] == own_version()


def test_that_the_wheel_says_that_it_wants_an_environment_of_its_own_and_holds_no_test(bundle: Bundle) -> None:
    (wheel,) = bundle.made.out.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        described = packed.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert {name.split("/")[0] for name in names} == {"app", "services", "widgets", "resources",
                                                      f"pilothouse-{own_version()}.dist-info"}  # fmt: skip
    assert f"resources/{BUILT_FROM}" in names
    assert "into an environment of its own" in described
    (source,) = bundle.made.out.glob("pilothouse-*.tar.gz")
    with tarfile.open(source) as packed_source:
        members = packed_source.getmembers()
    assert not [one.name for one in members if "/tests/" in one.name]
    assert {(one.uid, one.uname, one.mtime) for one in members} == {(0, "root", members[0].mtime)}


def test_that_the_checksums_are_those_of_the_files(bundle: Bundle) -> None:
    lines = (bundle.made.out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = dict(reversed(line.split("  ", 1)) for line in lines)  # type: ignore[arg-type]
    files = {path.name for path in bundle.made.out.iterdir() if path.is_file()} - {"SHA256SUMS"}
    assert set(sums) == files
    for name, told in sums.items():
        assert hashlib.sha256((bundle.made.out / name).read_bytes()).hexdigest() == told


@pytest.mark.parametrize("word", [socket.gethostname()])
def test_that_the_builders_host_is_named_nowhere_of_ours(bundle: Bundle, word: str) -> None:
    if len(word) < 5 or word == "localhost":
        pytest.skip("this host's name is a word that any file may hold")
    assert _search(bundle, word)[0] == []
