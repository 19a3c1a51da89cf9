"""A plan that removes a file says what the run wrote there, or why the file goes whatever it says.

All removers: RemoveFile, RestoreFile that puts back whatever stands there, and programs that remove with rm or find.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).parents[2]
WHATEVER_IT_SAYS = {
    "galera/bootstrap_after_crash/joining.py": "galera_new_cluster's own mark, which would found another cluster",
    "galera/rejoin_from_binlogs/steps.py": "the replay's mark, in a folder that only root enters",
    "steps/forked.py": "the server's own state files: without them only an SST can come",
}
"""Files of the catalogue whose RemoveFile names no text, each with why."""
PUT_BACK_WHATEVER_STANDS = {
    "galera/bootstrap_after_crash/joining.py": "grastate.dat, which the server itself writes",
}
"""Files whose RestoreFile is `whole`."""
BY_A_PROGRAM = {
    "services/connections/operator/as_nobody.py": "files of its own tool's number, where everybody may write",
    "services/connections/operator/folders_of_others.py": "the note of what a run left, where only root enters; "
    "an inner folder of its own copy",
    "services/connections/operator/made_by_run.py": "what stands in the run's own inventory, as it stands there",
    "services/connections/operator/files.py": "removes what acts name: guarded by the others of this test",
    "services/procedures/catalogue/galera/encrypt_sst/programs.py": "mktemp's file",
    "services/procedures/catalogue/galera/shared/private_programs.py": "the replay's notes, sockets and "
    "logs in folders that it made itself, for root or as the account",
    "services/procedures/catalogue/galera/rejoin_from_binlogs/restore_programs.py": "the run's copy of a backup, in a "
    "folder that it made",
    "services/procedures/catalogue/galera/rejoin_from_incrementals/programs.py": "the run's copy, by the mark in it",
    "services/procedures/catalogue/galera/snapshot_node/donor_part.py": "the run's mark, where only root enters",
    "services/procedures/catalogue/galera/snapshot_node/hold.py": "the run's marks, where only root enters, and its "
    "list in the donor's data folder, by the account",
    "services/procedures/catalogue/galera/snapshot_node/look_through.py": "the donor's files in a copy of its data",
    "services/procedures/catalogue/galera/sst_tuning/programs.py": "a probe that was made an instant before",
    "services/procedures/catalogue/steps/extraction.py": "its own unfinished output",
    "services/procedures/catalogue/steps/restored/restoring_programs.py": "options in the run's own copy",
    "services/procedures/catalogue/steps/restored/state_kept.py": "mktemp's files and copies that it made",
    "services/procedures/engine/lock.py": "the run's lock, by what it says",
    "services/procedures/execute/detached.py": "the folder and output of the run's own work",
}
"""Files whose programs or commands remove files, each with which."""
_REMOVES = re.compile(r"""(?:^|[\s"'(;&|{])(?:rm (?:-|"|\$|\.)|unlink )|\s-delete\b""")


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def removing() -> dict[str, bool]:
    """Return the files of the catalogue that remove files, and whether each removal says what the run wrote."""
    catalogue, found = ROOT / "services" / "procedures" / "catalogue", dict[str, bool]()
    for path in sorted(catalogue.rglob("*.py")):
        calls = [
            node for node in walked(tree_of(path))
            if isinstance(node, ast.Call) and _name(node.func) == "RemoveFile"
        ]  # fmt: skip
        if calls:
            found[path.relative_to(catalogue).as_posix()] = all(len(one.args) + len(one.keywords) == 2 for one in calls)
    return found


def test_that_a_removal_says_what_the_run_wrote_or_is_one_of_those_that_need_not() -> None:
    found = removing()
    assert {name for name, says in found.items() if not says} == set(WHATEVER_IT_SAYS)
    assert sum(found.values()) >= 5, "none is found any more: the measure itself is broken"


def test_that_nothing_is_put_back_over_what_somebody_else_wrote_but_what_a_server_itself_writes() -> None:
    catalogue = ROOT / "services" / "procedures" / "catalogue"
    found = {
        path.relative_to(catalogue).as_posix()
        for path in catalogue.rglob("*.py")
        for node in walked(tree_of(path))
        if isinstance(node, ast.Call) and _name(node.func) == "RestoreFile" and "whole" in ast.unparse(node)
    }
    assert found == set(PUT_BACK_WHATEVER_STANDS)


def test_that_each_program_that_removes_files_is_known_with_what_it_removes() -> None:
    found = set[str]()
    for folder in ("connections", "procedures"):
        for path in sorted((ROOT / "services" / folder).rglob("*.py")):
            texts = (
                node.value
                for node in walked(tree_of(path))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            )
            if any(text == "rm" or _REMOVES.search(text) for text in texts):
                found.add(path.relative_to(ROOT).as_posix())
    assert found == set(BY_A_PROGRAM)
