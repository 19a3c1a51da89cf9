"""The bundle does what the environment does: every command, page, family and import, also those that are made late."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from app.__main__ import _MODULES
from app.places import DEMOS
from boot.places import ROOT
from services.workstation.own_version import own_version
from tests.architecture.sources import tree_of
from tests.package.conftest import Bundle

FOLDERS = ("app", "services", "widgets")
NOT_THERE = {"app.__main__": "what starts it is under another name there"}
ELSEWHERE = (
    {"MySQLdb", "msvcrt", "winreg", "_winapi", "nt", "ctypes.wintypes"} if sys.platform != "win32" else {"MySQLdb"}
)
"""Imported where they are there: another platform's, and a driver that is no dependency (decision record 0002)."""


def modules() -> Iterator[str]:
    """Yield the name of every module of the program."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if name not in NOT_THERE:
                yield name


def imported() -> set[str]:
    """Return every module of a library, or of Python, that an import statement names, wherever it stands."""
    found: set[str] = set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Import):
                    found.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module)
    ours = {*FOLDERS, "resources", "__future__"}
    return {name for name in found if name.partition(".")[0] not in ours} - ELSEWHERE


def test_that_every_module_of_the_program_is_imported_in_the_bundle(trying: Bundle, home: dict[str, str]) -> None:
    done = trying.run(program="pilothouse-try", told="\n".join(modules()), **home)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_that_every_library_that_any_line_imports_is_imported_in_the_bundle(
    trying: Bundle, home: dict[str, str]
) -> None:
    wanted = imported()
    assert {"paramiko", "bson", "pymysql", "sqlalchemy", "PySide6.QtSvg", "keyring"} <= wanted
    platforms = {name for name in wanted if name in sys.stdlib_module_names or _is_there(name)}
    done = trying.run(program="pilothouse-try", told="\n".join(sorted(platforms)), **home)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def _is_there(name: str) -> bool:
    return name.partition(".")[0] in packages_distributions() or name.partition(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("command", [name for name in _MODULES if name])
def test_that_every_command_tells_its_help_as_the_environment_does(
    bundle: Bundle, environment_program: str, command: str, home: dict[str, str]
) -> None:
    done = bundle.run(command, "--help", COLUMNS="100", **home)
    assert (done.returncode, done.stderr) == (0, "")
    same = subprocess.run(
        [environment_program, command, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "100"}
    )
    assert done.stdout == same.stdout


@pytest.mark.parametrize("story", DEMOS)
def test_that_every_page_of_both_demos_is_drawn(
    bundle: Bundle, story: str, tmp_path: Path, home: dict[str, str]
) -> None:
    done = bundle.run("demo", story, "--screenshots", str(tmp_path / "pages"), "--data", str(tmp_path / "data"), **home)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = {path.name for path in (tmp_path / "pages").iterdir()}
    assert {name.rsplit("-", 2)[0] for name in drawn} >= {"topology", "charts", "procedures", "settings"}
    assert all(path.stat().st_size > 5_000 for path in (tmp_path / "pages").iterdir())


def test_that_every_family_and_procedure_is_there(
    bundle: Bundle, environment_program: str, tmp_path: Path, home: dict[str, str]
) -> None:
    words = ("procedures", "--json", "--data", str(tmp_path / "data"))
    done = bundle.run(*words, **home)
    same = subprocess.run([environment_program, *words], capture_output=True, text=True, check=True, env=home)
    assert json.loads(done.stdout) == json.loads(same.stdout)
    families = [
        name for name in modules() if name.startswith("services.discovery.families.") and name.endswith(".family")
    ]
    assert len(families) >= 4


def test_that_the_version_tells_commit_and_bundle(bundle: Bundle, home: dict[str, str]) -> None:
    output = bundle.run("--version", **home).stdout
    assert output.startswith(f"pilothouse {own_version()} (")
    assert output.endswith("bundle)\n")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize("theirs", ["", "/opt/theirs/lib"])
def test_that_what_the_bundle_starts_gets_the_logins_own_environment(
    bundle: Bundle, tmp_path: Path, home: dict[str, str], theirs: str
) -> None:
    folder = Path(home["HOME"]) / ".ssh"
    folder.mkdir(mode=0o700)
    config = f"Host one\n  ProxyCommand sh -c 'env > {tmp_path}/seen; exit 1'\n"
    (folder / "config").write_text(config, encoding="utf-8")
    inventory = tmp_path / "inventory.toml"
    inventory.write_text(
        'version = 1\n[[host]]\nname = "one"\naddress = "one"\n[host.ssh]\nuser = "dba"\n', encoding="utf-8"
    )
    names = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
    given = dict.fromkeys(names, theirs) if theirs else {}
    bundle.run("check", "--inventory", str(inventory), "--data", str(tmp_path / "data"), "--wait", "5", **home, **given)
    seen = dict(
        line.split("=", 1) for line in (tmp_path / "seen").read_text(encoding="utf-8").splitlines() if "=" in line
    )
    assert [seen.get(name, "") for name in names] == [theirs] * len(names)
    assert [name for name in seen if name.startswith("_PYI") or name.endswith("_ORIG")] == []
