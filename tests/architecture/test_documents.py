"""What the documents tell a person to type is understood, and where they lead there is something."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.arguments import build_parser
from boot import cli
from services.inventory.toml_file import parse_inventory
from services.procedures.catalogue import all_procedures

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "resources" / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"(?<![\w/.-])((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:py|toml|md))(?![\w/])")
"""A path of the project, whole or from any of its folders on."""
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> Iterator[str]:
    for found, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if found == language:
            yield text


def commands(page: Path, *programs: str) -> Iterator[list[str]]:
    """Yield the words behind the program's name, of each line of a shell block that begins with one of `programs`."""
    for block in blocks(page, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "python3":
                del words[0]
            if words and words[0] in programs:
                yield words[1:]


def shell_lines() -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for words in commands(page, "pilothouse", ".venv/bin/pilothouse"):
            yield named(page), words


@pytest.mark.parametrize(
    ("page", "words"), tuple(shell_lines()), ids=lambda v: " ".join(v) if isinstance(v, list) else v
)
def test_that_each_command_of_the_documents_is_one_the_program_knows(page: str, words: list[str]) -> None:
    options = build_parser().parse_args(words)
    if options.command in {"plan", "run"}:
        assert options.name in {procedure.about.name for procedure in all_procedures()}


def test_that_the_readme_shows_every_way_of_the_command_line_that_it_speaks_of() -> None:
    shown = {
        next((w for w in words if not w.startswith("-")), "") for page, words in shell_lines() if page == "README.md"
    }
    assert {"topology", "check", "sample", "record", "replay", "inventory", "procedures", "plan", "run"} <= shown


def test_that_each_verb_of_the_bootstrap_in_the_documents_is_one_of_its_own() -> None:
    verbs = set(re.findall(r"^  ([a-z]+)", cli.VERBS, re.MULTILINE))
    asked = {words[0] for page in PAGES for words in commands(page, "packaging/bootstrap.py")}
    assert {"demo", "test"} <= asked <= verbs


def test_that_every_inventory_in_the_documents_can_be_read() -> None:
    read = [
        parse_inventory(block, named(page))
        for page in PAGES
        for block in blocks(page, "toml")
        if "version = 1" in block
    ]
    assert len(read) >= 2
    assert all(inventory.hosts for inventory in read)


def test_that_every_link_and_picture_of_the_documents_leads_to_something() -> None:
    astray = [
        f"{named(page)}: {target}"
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not _is_there(page, target)
    ]
    assert astray == []


def test_that_every_file_that_the_documents_name_is_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    ends = {path[at:] for path in listed.stdout.splitlines() for at in _beginnings(path)}
    astray = [
        f"{named(page)}: {path}"
        for page in PAGES
        for path in FILE.findall(page.read_text(encoding="utf-8"))
        if path not in ends
    ]
    assert astray == []


def _beginnings(path: str) -> list[int]:
    return [0, *(at + 1 for at, letter in enumerate(path) if letter == "/")]


def _is_there(page: Path, target: str) -> bool:
    path, _, heading = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    if not there.exists():
        return False
    return not heading or heading in {_anchor(words) for words in HEADING.findall(there.read_text(encoding="utf-8"))}


def _anchor(heading: str) -> str:
    """Return a heading's anchor as GitHub makes it: lower case, words and hyphens alone."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
