"""A plan that removes a file says what the run wrote there, or why the file goes whatever it says."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHATEVER_IT_SAYS = {
    "galera/bootstrap_after_crash/joining.py": "galera_new_cluster's own mark, which would found another cluster",
    "galera/encrypt_sst/proofs.py": "a certificate that nobody trusts, made for one trial, under /run",
    "galera/rejoin_from_binlogs/steps.py": "the replay's mark, in a folder that only root enters",
    "steps/forked.py": "the server's own state files: without them only an SST can come",
    "steps/pair_copied.py": "a certificate and its key whose names have the time of the run",
}
"""Files of the catalogue whose RemoveFile names no text, each with why."""


def removing() -> dict[str, bool]:
    """Return the files of the catalogue that remove files, and whether each removal says what the run wrote."""
    catalogue, found = ROOT / "services" / "procedures" / "catalogue", dict[str, bool]()
    for path in sorted(catalogue.rglob("*.py")):
        calls = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "RemoveFile"
        ]  # fmt: skip
        if calls:
            found[path.relative_to(catalogue).as_posix()] = all(len(one.args) + len(one.keywords) == 2 for one in calls)
    return found


def test_that_a_removal_says_what_the_run_wrote_or_is_one_of_those_that_need_not() -> None:
    found = removing()
    assert {name for name, says in found.items() if not says} == set(WHATEVER_IT_SAYS)
    assert sum(found.values()) >= 5, "none is found any more: the measure itself is broken"
