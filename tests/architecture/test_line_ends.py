"""A line ends where the program ends it that the text is meant for: services/lines.py, and nobody splits otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = {
    "services/facts/server/option_files.py": "masks secrets: what any program might take for a line is masked",
    "services/facts/galera/state_files.py": "grastate.dat: a line that has no end was cut off",
}


def splitting(tree: ast.AST) -> Iterator[str]:
    """Yield each call that ends lines at more than a line feed."""
    for node in walked(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"splitlines", "readlines"}:
            yield ast.unparse(node)


def test_that_no_service_ends_a_line_where_other_programs_do_not() -> None:
    found = {
        file.relative_to(ROOT).as_posix(): calls
        for file in sorted((ROOT / "services").rglob("*.py"))
        if (calls := list(splitting(tree_of(file))))
    }
    assert {file: calls for file, calls in found.items() if file not in ALLOWED} == {}
    assert set(ALLOWED) == set(found), "an allowance nobody needs any more"


@pytest.mark.parametrize("text", ["text.splitlines()", "a.b().splitlines(keepends=True)", "file.readlines()"])
def test_that_the_walk_finds_what_ends_lines(text: str) -> None:
    assert list(splitting(ast.parse(text)))
