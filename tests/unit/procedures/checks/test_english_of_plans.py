"""How much of the English of plans and checks passes the catalogue of sentences: what decision 0012 says is counted."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "services" / "procedures" / "catalogue"
RECORD = ROOT / "resources" / "docs" / "adr" / "0012-translations.md"
CATALOGUED = frozenset({"tr", "tr_n", "tr_context", "mark"})
_SENTENCE = re.compile(r"[A-Za-z]{2,}[ ,][^=<>|]*\b[a-z]{2,} [^=<>|]*\b[a-z]{2,}")


def sentences() -> tuple[int, int]:
    """Return how many texts of three words and more pass the catalogue, and how many do not."""
    passed = others = 0
    for path in sorted(FOLDER.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {id(part) for call in ast.walk(tree) if _is_catalogued(call) for part in ast.walk(call)}
        unsaid = _unsaid(tree)
        for node in ast.walk(tree):
            if id(node) in unsaid or not _SENTENCE.search(_text(node)):
                continue
            if id(node) in inside:
                passed += 1
            else:
                others += 1
    return passed, others


def _is_catalogued(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CATALOGUED


def _unsaid(tree: ast.AST) -> set[int]:
    """Return what stands alone (documentation), and the pieces of texts that are looked at whole."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    whole = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    pieces = {id(part) for node in whole for part in ast.walk(node) if part is not node}
    return alone | pieces


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values)
    return ""


def test_that_the_record_of_translations_says_how_much_of_plans_and_checks_is_translated() -> None:
    passed, others = sentences()
    match = re.search(r"(\d+) of (\d+) sentences of plans and checks", RECORD.read_text(encoding="utf-8"))
    assert match is not None
    assert int(match[1]) == passed
    assert abs(int(match[2]) - passed - others) < 50  # a new step needs no new record
