"""What lies in the packages, and what must not: secrets, paths of the builder's machine, tests, the builder's tools."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from boot import environment
from boot.package import TOOLS, package
from boot.places import ROOT
from pack.bundle import elves
from services.workstation.own_version import BUILT_FROM, own_version
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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF is Linux's")
def test_that_no_library_searches_a_folder_outside_the_bundle_and_none_is_a_program(bundle: Bundle) -> None:
    found = []
    for path in elves(bundle.folder / "_internal"):
        output = subprocess.run(["readelf", "--dynamic", path], capture_output=True, text=True, check=True).stdout
        for places in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", output):
            found += [(path.name, place) for place in places.split(":") if not place.startswith("$ORIGIN")]
        assert path.stat().st_mode & 0o777 == 0o644
    assert found == []


def test_that_nothing_in_the_bundle_hangs_on_the_folder_that_it_was_built_in(bundle: Bundle) -> None:
    assert list(bundle.folder.rglob("*.dist-info/RECORD")) == []


def test_that_no_library_under_the_gpl_alone_lies_in_the_bundle(bundle: Bundle) -> None:
    names = [path.name for path in bundle.folder.rglob("*")]
    assert [name for name in names if name.startswith(("libreadline", "readline", "libgdbm", "_gdbm"))] == []


def test_that_the_licences_of_everything_bundled_stand_in_one_file(bundle: Bundle) -> None:
    text = (bundle.folder / "_internal" / "licences.txt").read_text(encoding="utf-8")
    for name in ("paramiko", "PySide6_Essentials", "PyMySQL", "pymongo", "numpy", "Pilothouse", "Python "):
        assert f"\n{name}" in text
    for version in ("2.1, February 1999", "3, 29 June 2007"):
        assert re.search(rf"GNU LESSER GENERAL PUBLIC LICENSE\s+Version {version}", text)
    assert re.search(r"\n\s*GNU GENERAL PUBLIC LICENSE\s+Version 3, 29 June 2007", text)
    for name in ("HarfBuzz", "libjpeg-turbo", "ICU", "libsodium", "Bootloader Exception"):
        assert name in text
    for path in re.findall(r"/usr/share/common-licenses/[A-Z]+-[\d.]*\d", text):
        assert f"\n{path}\n---" in text
    assert "UNKNOWN" not in re.sub(r"\n(Author|URL|LicenseFile|NoticeFile|LicenseText|NoticeText)?\s*UNKNOWN", "", text)


def test_that_the_bill_of_materials_names_what_the_bundle_has(bundle: Bundle) -> None:
    bom = json.loads(bundle.made.sbom.read_text(encoding="utf-8"))
    assert bom["bomFormat"] == "CycloneDX"
    named = {one["name"].lower().replace("_", "-"): one for one in bom["components"]}
    assert {"paramiko", "pyside6-essentials", "sqlalchemy", "python"} <= set(named)
    assert named["paramiko"]["purl"].startswith("pkg:pypi/paramiko@")
    assert not {"pytest", "mypy", "pyinstaller"} & set(named)
    assert bom["metadata"]["component"]["version"] == own_version()
    assert len(named) == len(bom["components"])  # the lock has two versions of some, for two Pythons


def test_that_the_bill_of_materials_is_valid_and_has_the_hash_of_every_library(bundle: Bundle) -> None:
    words = (
        "from cyclonedx.validation.json import *; from cyclonedx.schema import *; import sys; told = sys.stdin.read()"
    )
    checked = f"{words}; print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(told))"
    text = bundle.made.sbom.read_text(encoding="utf-8")
    said = subprocess.run([TOOLS.python, "-c", checked], input=text, capture_output=True, text=True, check=True)
    assert said.stdout == "None\n"
    bom = json.loads(text)
    told = {
        one["name"]: one["hashes"][0]["content"]
        for owner in bom["components"]
        for one in owner.get("components", ())
        if one["type"] == "file"
    }
    folder = bundle.folder / "_internal"
    there = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in elves(folder)
    }
    assert {name: told.get(name) for name in there} == there
    assert "hashes" not in json.dumps([one["externalReferences"] for one in bom["components"] if "pypi/" in one["purl"]
                                       and "externalReferences" in one])  # fmt: skip
    cryptography = next(one for one in bom["components"] if one["name"] == "cryptography")
    assert "openssl" in {part["name"] for part in cryptography["components"]}
    refs = {one["bom-ref"] for one in bom["components"]} | {"root-component"}
    assert {one for edge in bom["dependencies"] for one in (edge["ref"], *edge.get("dependsOn", ()))} <= refs


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="dpkg is Debian's")
def test_that_a_library_of_a_wheel_and_of_this_python_is_not_told_as_the_systems(bundle: Bundle) -> None:
    bom = json.loads(bundle.made.sbom.read_text(encoding="utf-8"))
    systems = [one for one in bom["components"] if one["bom-ref"].startswith("deb:")]
    assert not {"python3-cffi-backend", "libpython3.11"} & {one["name"] for one in systems} or sys.base_prefix == "/usr"
    system = platform.freedesktop_os_release()["ID"]
    assert {one["purl"].split("/")[1] for one in systems} == {system}
    assert "libssl.so.3" in {part["name"] for one in systems for part in one["components"]}


def test_that_the_deb_has_sums_a_changelog_and_the_keyboards_it_reads(bundle: Bundle, tmp_path: Path) -> None:
    found = list(bundle.made.out.glob("*.deb"))
    if not found:
        pytest.skip("no .deb was made: the bundle alone was asked for")
    subprocess.run(["dpkg-deb", "--raw-extract", found[0], tmp_path / "deb"], check=True)
    control = tmp_path / "deb" / "DEBIAN"
    assert "xkb-data" in (control / "control").read_text(encoding="utf-8")
    subprocess.run(["md5sum", "--check", "--quiet", control / "md5sums"], cwd=tmp_path / "deb", check=True)
    assert (tmp_path / "deb" / "usr/share/doc/pilothouse/changelog.gz").is_file()


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


def test_that_a_login_whose_files_are_everybodys_makes_the_same_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    class ReachedError(Exception):
        pass

    def ensure(_environment: object) -> None:
        raise ReachedError

    monkeypatch.setattr(environment, "ensure", ensure)
    before = os.umask(0)
    try:
        with pytest.raises(ReachedError):
            package([])
    finally:
        told = os.umask(before)
    assert told == 0o022


@pytest.mark.parametrize("word", [socket.gethostname()])
def test_that_the_builders_host_is_named_nowhere_of_ours(bundle: Bundle, word: str) -> None:
    if len(word) < 5 or word == "localhost":
        pytest.skip("this host's name is a word that any file may hold")
    assert _search(bundle, word)[0] == []
