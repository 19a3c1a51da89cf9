"""How many files of production code have to be EDITED to add something, measured: `python -m tests.architecture.edits`.

A file that names at least three quarters of the things of a kind by hand, and is none of them, is a register of that
kind: who adds one has to edit it. What finds its things by itself names none of them. A name is an import of the
thing's module, its class, or the word it is kept under; a file that uses some of them (a plan its conditions) is none.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.sources import tree_of

ROOT = Path(__file__).resolve().parents[2]
PROCEDURES = ROOT / "services" / "procedures"
PRODUCTION = ("app", "widgets", "services")
FROZEN = frozenset({"services/procedures/journal/old_tags.py"})
"""A table of the past: what is new has no line there."""
OWN_FILE = "plan/parts/FAMILY/PART.py"


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be added: the folder or file that is its own, and the names by which others may call it."""

    own: Path
    names: tuple[str, ...]


def procedures() -> tuple[Thing, ...]:
    """Return the procedures for Galera: a folder each."""
    found = []
    for file in sorted(PROCEDURES.glob("catalogue/galera/*/procedure.py")):
        text = file.read_text(encoding="utf-8")
        word = re.search(r'ABOUT = About\(\s*(?:name=)?"([a-z-]+)"', text)
        assert word is not None, file
        found.append(Thing(file.parent, (word[1], *_classes(file))))
    return tuple(found)


def conditions() -> tuple[Thing, ...]:
    """Return the files of conditions."""
    found = []
    for file in sorted(PROCEDURES.glob("conditions/*/**/*.py")):
        tags = re.findall(r'^@condition\(\s*"([a-z_.-]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
        if tags:
            found.append(Thing(file, (*tags, *_classes(file))))
    return tuple(found)


def parts() -> tuple[Thing, ...]:
    """Return the files of the parts of a host's facts."""
    found = []
    for file in sorted(PROCEDURES.glob("plan/parts/*/*.py")):
        names = tuple(node.name for node in _parts_in(file))
        found += [Thing(file, names)] if names else []
    return tuple(found)


def fields_of_parts() -> tuple[Thing, ...]:
    """Return the facts: the fields of the parts. Each is written down in its part's own file, and nowhere else."""
    found = []
    for thing in parts():
        for node in _parts_in(thing.own):
            declared = (one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name))
            names = (ast.unparse(one.target) for one in declared if "ClassVar" not in ast.unparse(one.annotation))
            found += [Thing(thing.own, (name,)) for name in names]
    return tuple(found)


def _parts_in(file: Path) -> list[ast.ClassDef]:
    tree = tree_of(file)
    kinds = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return [node for node in kinds if any(isinstance(base, ast.Name) and base.id == "Part" for base in node.bases)]


def registers(things: tuple[Thing, ...], sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that name three quarters of the things by hand, and are none of them. Frozen ones don't count.

    Args:
        sources: path of a file of production -> its text.
    """
    found = []
    for path, text in sources.items():
        words = frozenset((*re.findall(r"[A-Za-z][\w.-]*", text), *re.findall(r"\w+", text)))
        foreign = [thing for thing in things if not (ROOT / path).is_relative_to(thing.own)]
        named = [thing for thing in foreign if words.intersection(thing.names) or _module(thing.own) in text]
        if path not in FROZEN and 4 * len(named) >= 3 * len(things):
            found.append(path)
    return tuple(found)


def production() -> dict[str, str]:
    """Return the text of every file of production code, by its path."""
    files = (file for folder in PRODUCTION for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in sorted(files)}


def table() -> str:
    """Return the table for architecture.md."""
    sources = production()
    rows = [
        ("a Galera procedure", registers(procedures(), sources)),
        ("a condition", registers(conditions(), sources)),
        ("a fact that a look reads by a known read", ()),
        ("a part of the facts that a plan is made from", parts_edited(sources)),
        ("a fact in a part that is there", facts_edited(sources)),
    ]
    head = "| to add | edited | which |\n| --- | --- | --- |\n"
    return head + "".join(f"| {what} | {len(files)} | {', '.join(files)} |\n" for what, files in rows)


def parts_edited(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files to edit for a part. A procedure that wants it names it: whoever asks is no register."""
    return registers(parts(), _not_asking(sources))


def facts_edited(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files to edit for a fact: its part's own, which has the reading too, and who lists facts besides."""
    return (OWN_FILE, *registers(fields_of_parts(), _not_asking(sources)))


def _not_asking(sources: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in sources.items() if "/catalogue/" not in path}


def _classes(file: Path) -> tuple[str, ...]:
    tree = tree_of(file)
    return tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def _module(own: Path) -> str:
    return ".".join(own.relative_to(ROOT).with_suffix("").parts)


if __name__ == "__main__":
    sys.stdout.write(table())
