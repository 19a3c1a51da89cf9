"""A rule is one pure function that everybody asks (resources/docs/architecture.md, "A rule, one place").

Who reads what a rule judges is listed here with why: somebody new in the list asks the rule, or is listed by a person
who saw that it judges something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("services", "app", "widgets")
CACHE_READ = {
    "services/facts/galera/ist.py": "the rule",
    "services/facts/galera/status.py": "reads it into the facts",
    "services/discovery/families/galera/reported.py": "passes it to the sampling, which stores since when it is kept",
    "services/procedures/conditions/galera/transfer/ist_from.py": "the joiner's own cache shows that IST left no hole",
    "services/procedures/catalogue/galera/shared/estimate.py": "the words, and the order of donors that serve alike",
    "services/procedures/catalogue/galera/rejoin_from_incrementals/forecast.py": "the words",
    "services/procedures/catalogue/galera/rejoin_from_binlogs/procedure.py": "the members' order in a form",
    "services/procedures/catalogue/galera/shared/cache_arithmetic.py": "which seqno to freeze at",
    "services/procedures/catalogue/galera/freeze_gcache/steps.py": "keeps it for the report",
    "services/procedures/catalogue/galera/shared/positions.py": "the deeper cache breaks a tie",
    "services/procedures/catalogue/galera/shared/order.py": "the deepest cache is named as the donor",
    "app/window/charts/ist_numbers.py": "whether there is a cache at all",
    "widgets/topology/inspector/content.py": "shows it",
}
GAP_READ = {
    "services/facts/galera/ist.py": "the rule",
    "services/procedures/catalogue/galera/shared/cache_arithmetic.py": "freezes at a seqno twice the gap below",
}


def cache_reads(tree: ast.AST) -> Iterator[str]:
    """Yield each place that takes where a write-set cache begins out of facts or a status."""
    for node in walked(tree):
        by_fact = isinstance(node, ast.Attribute) and node.attr == "cached_downto"
        by_name = isinstance(node, ast.Constant) and node.value == "wsrep_local_cached_downto"
        if by_fact or by_name:
            yield ast.unparse(node)


def gap_reads(tree: ast.AST) -> Iterator[str]:
    """Yield each use of the donor selection's safety gap."""
    for node in walked(tree):
        name = node.id if isinstance(node, ast.Name) else node.name if isinstance(node, ast.alias) else ""
        if name in {"GAP_SHARE", "GAP_MOST", "safe_gap"}:
            yield name


def _found(reads: object) -> set[str]:
    assert callable(reads)
    files = (file for floor in FLOORS for file in sorted((ROOT / floor).rglob("*.py")))
    return {file.relative_to(ROOT).as_posix() for file in files if any(True for _ in reads(tree_of(file)))}


@pytest.mark.parametrize(("reads", "allowed"), [(cache_reads, CACHE_READ), (gap_reads, GAP_READ)])
def test_that_nobody_judges_a_cache_beside_the_rule(reads: object, allowed: dict[str, str]) -> None:
    found = _found(reads)
    assert found - set(allowed) == set(), "ask services.facts.galera.ist, or say here what else is judged"
    assert set(allowed) - found == set(), "an allowance nobody needs any more"


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        (cache_reads, "able = galera.cached_downto <= seqno + 1"),
        (cache_reads, "first = count(status.get('wsrep_local_cached_downto', ''))"),
        (gap_reads, "from services.facts.galera.ist import safe_gap"),
        (gap_reads, "gap = (last - low) // GAP_SHARE"),
    ],
)
def test_that_the_walk_finds_who_judges_a_cache(reads: object, text: str) -> None:
    assert callable(reads)
    assert list(reads(ast.parse(text)))
