"""Every parser of what a server or a host says lives in services/facts: procedures and sampling ask it there.

What procedures and sampling search by themselves is the console's own: its journal, its inputs, its plans.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("services/procedures", "services/sampling")
NO_SERVERS = {
    "services/procedures/catalogue/galera/encrypt_sst/checks.py": "what socat would read as its own in our own words",
    "services/procedures/catalogue/steps/restored/start_hold.py": "makes the pattern of its own line",
    "services/procedures/catalogue/galera/rolling_restart/procedure.py": "a person's input: the name of an option",
    "services/procedures/conditions/machine/files.py": "the plan's own pattern, which it shows and a person approved",
    "services/procedures/engine/lock.py": "makes the lock's file name out of a cluster's id",
    "services/procedures/execute/kept_files.py": "makes a kept file's name out of a run's id",
    "services/procedures/execute/acting_output.py": "the plan's own pattern, which it shows and a person approved",
    "services/procedures/execute/detached.py": "makes a unit's name out of a run's id",
    "services/procedures/execute/option_edit.py": "edits an option file's text: it keeps all that it does not change",
    "services/procedures/journal/heads.py": "the journal's own heads",
    "services/procedures/journal/seal_key.py": "the journal's own key",
    "services/procedures/journal/seals.py": "the journal's own seals",
    "services/procedures/plan/forms/inputs.py": "a person's inputs",
    "services/procedures/plan/invariants/plans.py": "tries whether a plan's patterns are patterns",
    "services/procedures/plan/inside.py": "the plan's own commands",
    "services/procedures/report/first.py": "the run's own kept values",
    "services/procedures/report/markdown.py": "what Markdown would read as its own signs",
    "services/procedures/verify/roads.py": "the name of a variable, before it is asked for",
    "services/sampling/past/own_past.py": "the cluster's id of an event of our own history",
}
"""Where regular expressions stand that read nothing of a server, and what they read."""
LOG_WORDS = ("WSREP:", "[ERROR]", "[Note]", "[Warning]", "State transfer", "requested state transfer")


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), tree_of(path)


def _uses_patterns(tree: ast.Module) -> bool:
    imports = (node for node in walked(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return any(
        node.module == "re" if isinstance(node, ast.ImportFrom) else any(name.name == "re" for name in node.names)
        for node in imports
    )


def _texts(tree: ast.Module) -> Iterator[str]:
    """Yield every text of the code itself: no docstrings, no sentence that a docstring-like statement holds."""
    told = {id(node.value) for node in walked(tree) if isinstance(node, ast.Expr)}
    for node in walked(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_that_no_pattern_of_procedures_or_sampling_reads_what_a_server_says() -> None:
    searching = {path for path, tree in _modules() if _uses_patterns(tree)}
    assert searching - set(NO_SERVERS) == set(), "its parser belongs to services/facts"
    assert set(NO_SERVERS) - searching == set(), "it searches nothing any more: take it out of the list"


def test_that_no_text_of_a_servers_log_stands_in_procedures_or_sampling() -> None:
    found = {path: word for path, tree in _modules() for text in _texts(tree) for word in LOG_WORDS if word in text}
    assert found == {}


def test_that_the_looking_for_patterns_finds_both_ways_to_import_them() -> None:
    for source in ("import re", "from re import compile", "def late():\n    import re"):
        assert _uses_patterns(ast.parse(source))
    assert not _uses_patterns(ast.parse("import resource\nfrom services.report import re"))
