"""Every file that the program writes is made by workstation/files.py: an AST walk finds whoever opens one to write."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of, walked

ROOT = Path(__file__).resolve().parents[2]
_WRITES = {"write_text", "write_bytes", "mkdir", "makedirs", "touch", "mkstemp", "NamedTemporaryFile", "copyfile"}
_WRITES |= {"QSaveFile", "QFile", "setFileName", "FileHandler", "RotatingFileHandler", "copy2", "copytree"}
ALLOWED = {
    "services/workstation/files.py": "the helper itself",
    "services/connections/ssh/host_keys.py": "known_hosts: ssh's own file, 0600 and its folder 0700 by explicit mode",
    "services/history/file.py": "the lock: private_file made it the line before",
    "services/history/writer.py": "the WAL of its own database, opened to be synced",
    "services/history/state/procedure_journal.py": "a lock, 0600 by explicit mode",
}


def writing(tree: ast.AST) -> Iterator[str]:
    """Yield each call that may make a file or folder with the mode of the person's umask."""
    for node in walked(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in _WRITES | {"open", "save"}:
            continue
        text = ast.unparse(node)
        modes = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Constant)]
        opens = name == "open" and any(isinstance(m, str) and set(m) & set("wax+") and len(m) <= 3 for m in modes)
        saves = name == "save" and bool(node.args) and ("str(" in text or "path" in text) and "self.save" not in text
        flags = name == "open" and "O_CREAT" in text
        if name in _WRITES or opens or saves or flags:
            yield text


def found() -> dict[str, list[str]]:
    here: dict[str, list[str]] = {}
    for folder in ("app", "services", "widgets"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            calls = list(writing(tree_of(file)))
            if calls:
                here[file.relative_to(ROOT).as_posix()] = calls
    return here


def test_that_only_the_helper_makes_files() -> None:
    calls = found()
    assert {file: texts for file, texts in calls.items() if file not in ALLOWED} == {}
    assert set(ALLOWED) == set(calls), "an allowance nobody needs any more"


@pytest.mark.parametrize(
    "text",
    ["path.write_text('x')", "open(p, 'w')", "path.open('ab')", "path.mkdir(parents=True)", "image.save(str(path))",
     "os.open(p, os.O_CREAT, 0o644)", "QSaveFile(p)"],
)  # fmt: skip
def test_that_the_walk_finds_what_it_looks_for(text: str) -> None:
    assert list(writing(ast.parse(text)))
    assert not list(writing(ast.parse("path.open('rb'); painter.save(); os.open(p, os.O_RDONLY)")))
