"""JSON for machines is made in one place, so that it is valid on every stream whatever bytes a name had."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
MAKERS = {"dump", "dumps", "JSONEncoder", "encode", "Encoder", "format"}
KEPT = {
    "services/json_text.py": "the place itself",
    "services/facts/yaml_files/edit.py": "a scalar of YAML, in ASCII",
    "services/history/state/host_keys.py": "a setting of our own, in ASCII",
    "services/history/state/split_log.py": "names of sides, in ASCII",
    "services/workstation/preferences.py": "settings, in ASCII; read before the first paint",
    "services/connections/mongo/change.py": "words of a shell, shown and never read",
    "services/procedures/conditions/galera/data/at_rest.py": "a mark, in ASCII",
    "services/procedures/journal/codec.py": "by which words a plan is remembered",
    "services/procedures/journal/seals.py": "what a seal is made over: its bytes never change",
    "services/procedures/journal/journal.py": "what a seal is made over: its bytes never change",
    "services/procedures/looking/marks.py": "what a digest is made of",
    "services/procedures/engine/lock.py": "a file on a host, in ASCII",
    "services/procedures/service/service.py": "an entry of the journal, in ASCII",
}
"""Who else makes JSON, none of which is printed, and why it may."""


def made(tree: ast.AST) -> Iterator[str]:
    """Yield each call by which JSON is made: of `json`, `msgspec` and `msgspec.json`, however they are imported."""
    names = {"json", "msgspec.json"}
    for node in walked(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {"json", "msgspec.json", "orjson"}:
            yield from (one.name for one in node.names if one.name in MAKERS)
        elif isinstance(node, ast.Import):
            names |= {one.asname for one in node.names if one.name in {"json", "msgspec.json"} and one.asname}
    for node in walked(tree):
        if isinstance(node, ast.Attribute) and node.attr in MAKERS and ast.unparse(node.value) in names:
            yield ast.unparse(node)


def files() -> list[Path]:
    return [file for folder in ("app", "widgets", "services") for file in sorted((ROOT / folder).rglob("*.py"))]


def test_that_nobody_else_makes_json() -> None:
    found = {str(file.relative_to(ROOT)) for file in files() if any(made(tree_of(file)))}
    assert found - set(KEPT) == set()
    assert set(KEPT) - found == set(), "no more of these: take them from the table"


def test_that_what_commands_print_is_made_by_one_function() -> None:
    """`json_line` is called by `print_json` alone, which writes a line."""
    callers = {
        str(file.relative_to(ROOT))
        for file in files()
        if any(isinstance(node, ast.Name) and node.id == "json_line" for node in walked(tree_of(file)))
    }
    assert callers == {"app/cli/machine.py"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("import json\njson.dumps(1)", True),
        ("import json as j\nj.dumps(1)", True),
        ("from json import dumps\ndumps(1)", True),
        ("import msgspec\nmsgspec.json.encode(1)", True),
        ("import msgspec\nmsgspec.json.Encoder()", True),
        ("import json\njson.loads('1')", False),
        ("'x'.encode()", False),
    ],
)
def test_that_each_way_to_make_json_is_seen(text: str, seen: bool) -> None:
    assert any(made(ast.parse(text))) is seen
