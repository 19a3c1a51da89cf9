"""Outside the registry nobody asks which family a cluster is of: a trait, or the family itself, answers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.discovery.families.registry import registered
from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = "services/discovery/families"
COMMON = {"shared", "port", "making", "families", "registry"}
"""What every family may know beside its own folder."""
OWN_PLACES = (FAMILIES, "services/procedures/catalogue")
"""A family's folders: here its kind is meant by its name."""
PARTS = {"galera", "group"}
"""The parts of a server's facts that one family alone has (`NodeFacts`)."""
COMMON_WORDS = {"group"}
"""Of these only what is taken of facts is meant: a match has groups too."""
PART_TYPES = {"GaleraFacts", "GaleraMember", "GroupFacts", "GroupMember", "GroupRecovery"}
PARSERS = (
    *(f"services.facts.galera.{name}" for name in ("status", "ist", "whole")),
    "services.facts.replication.group_replication",
)
KNOW_PARTS = (*OWN_PLACES, "services/facts", "services/procedures")
"""Where parts are read and meant: the facts themselves, the families, and the procedures of a family."""
PARTS_NAMED_ELSEWHERE = {
    # Asks a server each family's reads and puts the answers together.
    "services/discovery/looks/probe_sql.py",
    "services/sampling/sql_poll.py",
    # The accessor that the Galera family's own files use.
    "services/discovery/nodes.py",
    # The store keeps positions of Galera nodes alone; what is told of two Primary Components is theirs.
    "services/history/state/rows.py",
    "services/sampling/past/console_memory.py",
    "services/sampling/hub.py",
    "app/cli/one_look.py",
    "app/cli/commands/settle.py",
    # They ask the one rule of IST, which they decided by themselves before.
    "services/sampling/donors.py",
    "services/sampling/ist_reach.py",
    # The rows of a family's own numbers beside a node.
    "app/window/charts/ist_numbers.py",
    "widgets/topology/inspector/content.py",
    "widgets/topology/wording.py",
}
"""Production files elsewhere that name a family's part. It becomes smaller, or a rule moves to its family's facts."""


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("app", "widgets", "services"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), tree_of(path)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in walked(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _compared(tree: ast.Module) -> Iterator[str]:
    """Yield the texts that are compared with something, and 'kind.code' or 'kind.words' where that is."""
    for node in walked(tree):
        if not isinstance(node, ast.Compare):
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Attribute):
                yield f"{inner.value.attr}.{inner.attr}"


def test_that_no_file_outside_the_families_names_a_kind_of_cluster() -> None:
    found = {
        path
        for path, tree in _sources()
        if not path.startswith(OWN_PLACES)
        for name in _imported(tree)
        if name.startswith("services.discovery.families.") and name.split(".")[4:5] == ["kind"]
    }
    assert found == set()


def test_that_no_file_compares_the_code_of_a_kind() -> None:
    codes = {kind.code for kind in registered().kinds} - {"UNKNOWN"}  # a word of others too
    found = {
        (path, value)
        for path, tree in _sources()
        if not path.startswith(OWN_PLACES)
        for value in _compared(tree)
        if value in {*codes, "kind.code", "kind.words"}
    }
    assert found == set()


def test_that_no_family_imports_another() -> None:
    folders = {path.name for path in (ROOT / FAMILIES).iterdir() if path.is_dir()} - {"shared", "__pycache__"}
    found = []
    for path, tree in _sources():
        own = path.removeprefix(f"{FAMILIES}/").split("/")[0]
        if not path.startswith(FAMILIES) or own not in folders:
            continue
        for name in _imported(tree):
            parts = name.split(".")
            if name.startswith("services.discovery.families.") and parts[3] not in {own, *COMMON}:
                found.append((path, name))
    assert found == []


def test_that_what_families_share_knows_none_of_them() -> None:
    folders = {path.name for path in (ROOT / FAMILIES).iterdir() if path.is_dir()} - {"shared", "__pycache__"}
    found = [
        (path, name)
        for path, tree in _sources()
        if path.startswith(f"{FAMILIES}/shared/")
        for name in _imported(tree)
        if name.startswith("services.discovery.families.") and name.split(".")[3] in folders
    ]
    assert found == []


def _parts_named(tree: ast.Module) -> Iterator[str]:
    """Yield a family's parts as they are named: facts.galera, GroupFacts, its parsers, its folder's files."""
    for node in walked(tree):
        if not isinstance(node, ast.Attribute) or node.attr not in PARTS:
            continue
        if node.attr not in COMMON_WORDS or "facts" in ast.unparse(node.value).split("."):
            yield ast.unparse(node)
    for name in _imported(tree):
        parts = name.split(".")
        own = name.startswith("services.discovery.families.") and parts[3] not in {*COMMON, "builtin"}
        if own or parts[-1] in PART_TYPES or name.startswith(PARSERS):
            yield name


def test_that_a_familys_part_is_not_named_outside_its_folders() -> None:
    found = {path for path, tree in _sources() if not path.startswith(KNOW_PARTS) for _ in _parts_named(tree)}
    assert found == PARTS_NAMED_ELSEWHERE


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("node.facts.galera.node_uuid", True),
        ("facts.group is not None", True),
        ("one.galera is None", True),
        ("from services.facts.model import GroupFacts", True),
        ("from services.facts.galera.whole import DONOR", True),
        ("from services.discovery.families.galera.transfers import ONE_TRANSFER_S", True),
        ("match.group(1)", False),
        ("block.group", False),
        ("from services.discovery.families.registry import registered", False),
    ],
)
def test_that_the_walk_finds_a_part_by_whatever_it_is_named(text: str, named: bool) -> None:
    assert bool(list(_parts_named(ast.parse(text)))) is named
