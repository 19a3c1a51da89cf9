"""The shape of the house: what stands at the top, how long a file and a function may be, how tests are named."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci",
    ".github",
    ".gitignore",
    "LICENSE",
    "README.md",
    "app",
    "packaging",
    "pyproject.toml",
    "requirements.lock",
    "resources",
    "services",
    "tests",
    "widgets",
}
SOURCE_FOLDERS = ("app", "widgets", "services", "packaging", "tests")
# "About 400" and "about 40": the room above is for the one file that reads better whole.
MOST_LINES_OF_A_FILE = 440
MOST_LINES_OF_A_FUNCTION = 60
EMPTY_WORDS = re.compile(r"_(works?|correctly|handled|properly)(_|$)")


def _sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    tree = tree_of(path)
    yield from (node for node in walked(tree) if isinstance(node, ast.FunctionDef))


def test_that_nothing_but_the_agreed_names_stands_at_the_top() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: what is committed cannot be told")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.partition("/")[0] for line in listing.splitlines()} <= TOP_LEVEL


def test_that_packaging_does_not_hide_the_library_of_the_same_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_that_every_file_holds_one_idea_of_about_400_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in _sources(*SOURCE_FOLDERS)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES_OF_A_FILE
    }
    assert long == {}


def test_that_every_function_of_the_program_has_about_40_lines() -> None:
    long = {
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}": lines
        for path in _sources("app", "widgets", "services", "packaging")
        for function in _functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


def test_that_the_name_of_every_test_is_a_sentence_which_says_something() -> None:
    vague = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in _sources("tests")
        if path.name.startswith("test_")
        for function in _functions(path)
        if function.name.startswith("test_")
        and (EMPTY_WORDS.search(function.name) or len(function.name.split("_")) < 4)
    ]
    assert vague == []


def test_that_the_program_never_imports_its_tests() -> None:
    importing = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in _sources("app", "widgets", "services")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(from|import) tests\b", line)
    ]
    assert importing == []


def test_that_decision_records_are_numbered_without_gaps_and_say_what_follows() -> None:
    records = sorted((ROOT / "resources" / "docs" / "adr").glob("[0-9]*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(len(records)))  # 0000 is the template
    for record in records:
        text = record.read_text(encoding="utf-8")
        for heading in ("## Context", "## Decision", "## Consequences"):
            assert heading in text, f"{record.name} has no {heading!r}"
