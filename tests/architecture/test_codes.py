"""Codes are compared, never sentences: what is written for a person may be worded anew, or in another language.

Found as far as a syntax tree tells: a state, a sentence, a reason held against text or marked words, and any comparison
with a translated sentence. A code is lower-case letters with hyphens between them, a server's own is in capitals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
FOR_PEOPLE = frozenset({"state", "sentence", "reason", "evidence", "told", "why", "would"})
CODED = frozenset({"state", "would"})
"""Attributes that hold a code in some types: text that has a code's form may be compared with them."""
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)*|[A-Z][A-Z_]+")
_ASKING = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split", "find", "index"})
ALLOWED = {
    "services/errors.py": "joins a host's name to a sentence that does not begin with it",
}


def marked_names(tree: ast.AST) -> frozenset[str]:
    """Return the names of a module that are made of marked or translated words."""
    names = set()
    for node in walked(tree):
        if isinstance(node, ast.Assign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
            for target, value in zip(targets, values, strict=False):
                if isinstance(target, ast.Name) and _is_words(value):
                    names.add(target.id)
    return frozenset(names)


def _is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"mark", "tr", "tr_n"}


def _attribute(node: ast.AST) -> str:
    """Return the attribute that is compared, through str.lower() and the like; '' for none."""
    if isinstance(node, ast.Call):
        inner = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else node
        is_english = isinstance(node.func, ast.Name) and node.func.id in {"english", "str"}
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in {"lower", "casefold", "strip", "rstrip"}
        return _attribute(inner) if is_english or is_method else ""
    return node.attr if isinstance(node, ast.Attribute) and node.attr in FOR_PEOPLE else ""


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "A part"
    elif isinstance(node, ast.Tuple | ast.Set | ast.List):
        for part in node.elts:
            yield from _texts(part)


def _against_words(attribute: str, other: ast.AST, marked: frozenset[str]) -> bool:
    """Return whether this attribute is held against words for people."""
    if isinstance(other, ast.Name) and other.id in marked:
        return True
    return any(text and not (attribute in CODED and _CODE.fullmatch(text)) for text in _texts(other))


def comparing(tree: ast.AST) -> Iterator[str]:
    """Yield each comparison with a sentence or a word for people."""
    marked = marked_names(tree)
    for node in walked(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            held = [(a, b) for a in sides for b in sides if a is not b]
            if any(_is_words(side) for side in sides) or any(
                (name := _attribute(a)) and _against_words(name, b, marked) for a, b in held
            ):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKING:
            name = _attribute(node.func.value)
            if name and any(_against_words("", given, marked) for given in node.args):
                yield ast.unparse(node)


def test_that_no_sentence_and_no_word_for_people_decides_anything() -> None:
    found = {
        file.relative_to(ROOT).as_posix(): calls
        for floor in ("services", "widgets", "app")
        for file in sorted((ROOT / floor).rglob("*.py"))
        if (calls := list(comparing(tree_of(file))))
    }
    assert {file: calls for file, calls in found.items() if file not in ALLOWED} == {}
    assert set(ALLOWED) == set(found), "an allowance nobody needs any more"


@pytest.mark.parametrize(
    "text",
    [
        "node.state == 'Synced'",
        "node.state in {'not running', 'refused'}",
        "old.state.startswith('Joining: receiving')",
        "english(view.state).endswith('disk full')",
        "any('kept aside' in p.sentence for p in problems)",
        "found.would.startswith('stop')",
        "text == tr('Undo…')",
        "STARTED = mark('started')\nold.state == STARTED",
        "A, B = mark('one'), mark('two')\nB != node.state",
    ],
)
def test_that_the_walk_finds_a_comparison_with_words(text: str) -> None:
    assert list(comparing(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "node.code == 'synced'",
        "found.state == 'ended'",
        "row.state == 'ONLINE'",
        "old.state != new.state",
        "a.reason == ''",
    ],
)
def test_that_the_walk_leaves_codes_alone(text: str) -> None:
    assert list(comparing(ast.parse(text))) == []
