"""The lock: complete, hashed, the same for everybody, and telling nothing of the machine that made it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from boot.environment import QT_DISTRIBUTIONS, without
from tests.architecture.sources import tree_of

ROOT = Path(__file__).resolve().parents[3]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;\\]+)", LOCK, flags=re.MULTILINE)
OWNERS = packages_distributions()
OPTIONAL = {"MySQLdb"}  # used when present: decision record 0002


def _declared() -> list[Requirement]:
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    return [Requirement(line) for line in (*PROJECT["dependencies"], *extras)]


def test_that_every_declared_dependency_is_locked_within_its_bounds() -> None:
    locked: dict[str, list[Version]] = {}
    for name, version in PINS:
        locked.setdefault(canonicalize_name(name), []).append(Version(version))
    for requirement in _declared():
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement} is not locked: run packaging/bootstrap.py lock"
        assert all(version in requirement.specifier for version in versions), f"{requirement}: locked {versions}"


def test_that_every_locked_package_has_hashes_and_nothing_else_stands_in_the_lock() -> None:
    entries = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PINS)
    for entry in entries:
        first, *rest = entry.strip().splitlines()
        assert first.endswith("\\")
        assert rest
        assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in rest), first


def test_that_the_lock_names_no_index_no_machine_and_no_path() -> None:
    assert not re.search(r"https?:|file:|--index|--find-links|--extra|/(home|root|tmp|opt|usr)/", LOCK)


def test_that_the_lock_without_qt_loses_qt_and_nothing_else() -> None:
    headless = without(LOCK, QT_DISTRIBUTIONS)
    names = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", headless, flags=re.MULTILINE))
    assert names == {name for name, _ in PINS} - set(QT_DISTRIBUTIONS)
    assert set(QT_DISTRIBUTIONS) <= {name for name, _ in PINS}


def test_that_every_dependency_of_the_program_has_its_line_in_the_decision_record() -> None:
    record = (ROOT / "resources" / "docs" / "adr" / "0005-dependencies.md").read_text(encoding="utf-8")
    explained = {canonicalize_name(name) for name in re.findall(r"^\| ([\w.-]+) \|", record, flags=re.MULTILINE)}
    assert {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]} <= explained


def test_that_every_library_the_program_imports_is_declared() -> None:
    declared = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    undeclared = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("app", "widgets", "services")
        for path in (ROOT / folder).rglob("*.py")
        for name in _libraries_of(path)
        if not declared & {canonicalize_name(owner) for owner in OWNERS.get(name, [])} and name not in OPTIONAL
    }
    assert undeclared == set()


def _libraries_of(path: Path) -> set[str]:
    """Return the top-level names that a file imports at run time, less the standard library and our own packages."""
    names: set[str] = set()
    nodes: list[ast.AST] = [tree_of(path)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            nodes.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        nodes.extend(ast.iter_child_nodes(node))
    ours = {"app", "widgets", "services", "resources"}
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - ours
