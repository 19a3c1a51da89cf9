"""No blocking check of a procedure is forgotten: each is refused for real on the lab, or it is said why that can't be.

Read from the sources: a check blocks when the function that makes it names BLOCK, or asks `verdict(blocks, warns)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
CHECKS = (ROOT / "services" / "procedures" / "catalogue",)
LABS = (ROOT / "tests" / "lab" / "procedures", ROOT / "tests" / "lab" / "mongodb")
UNIT = ROOT / "tests" / "unit" / "procedures"
NOT_ON_THE_LAB = {
    # auto.cnf and its server_uuid are MySQL's, and the lab's packages are MariaDB's.
    "SERVER-UUID",
    # A server that is neither MariaDB nor Percona XtraDB Cluster and runs Galera: Debian has no package of one.
    "PRODUCT",
    # Percona XtraDB Cluster: Debian has no package of it.
    "PXC-POSITION",
    # MongoDB of several releases, and one from 3.4 on: the only one at hand is built from the sources of 3.2.
    "SET-VERSIONS",
    "COMPATIBILITY",
    # A member that answers and lags, one with an entry of the other protocol, settings that only a mongos can't read:
    # each is over before a plan is made, or leaves the cluster without answers.
    "SET-LAG",
    "OLD-ENTRIES",
    "BALANCER",
}
"""Blocking codes that the lab can't make. Each has a unit test whose name says why its facts are recorded ones."""


def _trees(*folders: Path, pattern: str = "*.py") -> Iterator[ast.Module]:
    for folder in folders:
        for path in sorted(folder.rglob(pattern)):
            yield tree_of(path)


def _blocks(function: ast.FunctionDef) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "BLOCK")
        or (_calls(node, "verdict") and not (isinstance(node.args[0], ast.Tuple) and not node.args[0].elts))
        or (_calls(node, "checked") and any(k.arg in {"block", "must_read"} for k in node.keywords))
        for node in ast.walk(function)
    )


def _calls(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _made(function: ast.FunctionDef) -> Iterator[str]:
    """Return the codes of the checks that a function makes; of 'IST-REACH-{name}' what is the same for all names."""
    for node in ast.walk(function):
        if not _calls(node, "Check") and not _calls(node, "checked"):
            continue
        given = [k.value for k in node.keywords if k.arg == "code"] or node.args[:1]
        texts = [n.value for one in given for n in ast.walk(one) if isinstance(n, ast.Constant)]
        codes = [text.rstrip("-") for text in texts if isinstance(text, str) and text]
        assert codes, f"{function.name}: the code of a check is written where it is made"
        yield codes[0]


def _blocking() -> set[str]:
    functions = (n for tree in _trees(*CHECKS) for n in walked(tree) if isinstance(n, ast.FunctionDef))
    return {
        code for function in functions if function.name != "checked" and _blocks(function) for code in _made(function)
    }


def _words(tree: ast.Module) -> Iterator[str]:
    """Return every code-like word in the string literals that are no docstring."""
    told = {id(n.value) for n in walked(tree) if isinstance(n, ast.Expr)}
    for node in walked(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield from re.findall(r"[A-Z]+(?:-[A-Z]+)*", node.value)


def test_that_the_checks_are_found_in_the_sources() -> None:
    found = _blocking()
    assert {"HEALTH-GATE", "PORTS", "IST-REACH", "NO-CANDIDATE", "HAPROXY-LEVEL", "FREEZE-SEQNO"} <= found
    assert not {"DURABILITY", "LONG-TRANSACTIONS", "SEGMENT"} & found  # these only warn


def test_that_every_blocking_check_refuses_a_run_on_the_lab_or_is_known_not_to() -> None:
    named = {word for tree in _trees(*LABS, pattern="test_*.py") for word in _words(tree)}
    assert _blocking() - named == NOT_ON_THE_LAB


def test_that_what_the_lab_can_not_make_is_tried_on_recorded_facts_by_a_test_that_says_why() -> None:
    tried = {
        word
        for tree in _trees(UNIT, pattern="test_*.py")
        for function in walked(tree)
        if isinstance(function, ast.FunctionDef) and "because_the_lab" in function.name
        for word in _words(ast.Module([function], []))
    }
    assert tried >= NOT_ON_THE_LAB
