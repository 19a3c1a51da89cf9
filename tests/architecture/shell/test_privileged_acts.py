"""Root changes what lies in another account's folder by one helper alone (operator/folders_of_others.py).

A program that has its text enters the folder first, and names what lies in it from there (`./name`): no name above it
is asked twice. Every other word with which a file is changed is written down here with its reason.
"""

from __future__ import annotations

import ast
import re

import pytest

from services.connections.operator import files as operator_files
from services.connections.operator import folders_of_others
from services.connections.operator.files import ENTER
from services.connections.operator.folders_of_others import AS, WALK
from services.connections.operator.made_by_run import INVENTORY
from services.connections.programs.folder_programs import OWN_PATH
from tests.architecture.shell.shell_programs import ROOT, Program, programs
from tests.architecture.sources import tree_of, walked

_CHANGES = [
    "cp",
    "mv",
    "rm",
    "chown",
    "chmod",
    "mkdir",
    "ln",
    "tar",
    "install",
    "rmdir",
    "touch",
    "truncate",
    "rsync",
    "tee",
    "unlink",
]
_PARTS = re.compile(r"[;|&(){}]|\b(?:then|else|do|if|while|until)\b|-exec(?:dir)?\b|\n")
_BEFORE = re.compile(
    r"""(?:\s|!|own\b|\$as\b|as_server\b|nice\b|command\b|"\$@"|xargs(?: -\S+)*|timeout(?: -k \S+)? \S+)+"""
)
_TO = re.compile(r"(?<![0-9&<>])>[>|]?\s*([^\s;|&)]+)")
_DELETES = re.compile(r"\bfind\s+(\S+)[^;\n]*\s-delete\b")
_HERE = re.compile(
    r"""["']?(?:\./|\.$|/dev/null|/proc/self/fd/|\$(?:kept|half|left|note|mode|who|each)\b|\$\{\d:-\w)"""
)
"""What lies in the folder that was entered, by its own name or by the helper's word for it."""
_HELPERS = (AS, WALK, ENTER, INVENTORY, OWN_PATH)
_ARE_HELPERS = [one for helper in (folders_of_others, operator_files) for one in vars(helper).values()]

_OWN = "in a folder that root makes for itself under /var/lib/pilothouse, /run or by mktemp(1)"
_ON_ITS_WAY = "only on a way that is root's alone from end to end, which own_path sees in the same program"
_AS_ACCOUNT = "it is the account's own act (runuser, setpriv)"
_FROZEN: dict[str, str] = {
    "EXTRACT": _OWN,
    "KEEP_STATE": _OWN,
    "SAVE_STATE": _OWN,
    "PUT_STATE_BACK": _OWN,
    "PREPARE": _ON_ITS_WAY,
    "COPY_CHAIN": _ON_ITS_WAY,
    "PREPARE_ONCE": _ON_ITS_WAY,
    "REPLAY": f"{_OWN}; what is the account's: {_AS_ACCOUNT}",
    "POSITION": _OWN,
    "LOOK": _OWN,
    "END_PRIVATE": _OWN,
    "HOLD": _OWN,
    "RUN": _OWN,
    "TRY": _OWN,
    "_BEGIN": _OWN,
    "REMOVE": _OWN,
    "HOST": _AS_ACCOUNT,
}
"""The programs that name a path all the same, each with why that leads nowhere else."""
_FROZEN_COMMANDS = {
    "services/procedures/engine/lock.py": _OWN,
    "services/procedures/execute/detached.py": _OWN,
    "services/procedures/execute/acting_files.py": "rmdir of a folder that operator_files made, when it is empty",
    "services/procedures/catalogue/galera/encrypt_sst/proofs.py": "rmdir of an empty folder of root's own",
    "services/procedures/catalogue/steps/pair_copied.py": "rmdir of an empty folder of root's own in /etc",
    "services/procedures/catalogue/galera/rejoin_from_binlogs/steps.py": _OWN,
    "services/procedures/catalogue/galera/snapshot_node/donor_part.py": _OWN,
}
"""The files in which a command is such a word itself."""


def _joined(text: str) -> str:
    for helper in _HELPERS:
        text = text.replace(helper, "\n")
    return re.sub(r"\\\n\s*", " ", text)


def by_path(text: str) -> list[str]:
    """Return the words of a program that change what a path leads to, other than from where it stands."""
    joined = _joined(text)
    found = [to for to in (*_TO.findall(joined), *_DELETES.findall(joined)) if to[:2] in {'"$', "/v"} or to[0] == "$"]
    for part in _PARTS.split(joined):
        before = _BEFORE.match(part)
        verb, *words = part[before.end() if before else 0 :].split() or [""]
        if verb in _CHANGES:
            given = [word for word in words if not word.startswith("-")]
            given = given[1:] if verb in {"chown", "chmod"} else given
            found += [f"{verb} {word}" for word in given if word[0] in "\"'$/" and word != '"$@"']
    return [one for one in found if not _HERE.match(one.rpartition(" ")[2])]


@pytest.mark.parametrize("program", programs(), ids=lambda one: one.name)
def test_that_a_program_changes_what_is_anothers_by_the_helper_alone(program: Program) -> None:
    name = program.name.rpartition(".")[2]
    assert program.text in _ARE_HELPERS or name in _FROZEN or by_path(program.text) == []


def test_that_no_exception_is_written_down_that_nobody_needs() -> None:
    needed = {one.name.rpartition(".")[2] for one in programs() if by_path(one.text) and one.text not in _ARE_HELPERS}
    assert set(_FROZEN) - needed == set()
    assert set(_FROZEN_COMMANDS) - _commands() == set()


def _commands() -> set[str]:
    """Return the files in which a tuple or a call begins with such a word."""
    found = set()
    for path in sorted((ROOT / "services").rglob("*.py")):
        for node in walked(tree_of(path)):
            items = node.elts if isinstance(node, ast.Tuple | ast.List) else getattr(node, "args", [])
            if not isinstance(node, ast.Tuple | ast.List | ast.Call) or len(items) < 2 or not _is_word(items[0]):
                continue
            if isinstance(node, ast.Call) or (isinstance(items[1], ast.Constant) and str(items[1].value)[:1] == "-"):
                found.add(str(path.relative_to(ROOT)))
    return found


def _is_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in _CHANGES


def test_that_no_command_of_roots_is_such_a_word_but_the_few_that_are_written_down() -> None:
    assert _commands() - set(_FROZEN_COMMANDS) == set()


@pytest.mark.parametrize(
    "text",
    [
        'rm -rf --one-file-system -- "$data"',
        'cd "$1"; mkdir -m 0700 -- "$1/new"',
        'find "$data" -mindepth 1 -delete',
        'others -exec chown -R -h -- "$who" "$data" {} +',
        '[ -e x ] || chown -h -- "$account" /var/lib/mysql',
        'cat > "$1/backup-my.cnf"',
        'if true; then mv -T -- "$aside" "$data"; fi',
        'head -c 9 -- "$1" > "$2/state"',
    ],
)
def test_that_what_was_once_sent_and_its_like_is_found(text: str) -> None:
    assert by_path(text)


@pytest.mark.parametrize(
    "text",
    ['entered "$1"; rm -f -- "./$name"', "find . -mindepth 1 -delete", 'chmod "$mode" -- .', "echo x > /dev/null"],
)
def test_that_what_stays_in_the_folder_that_was_entered_is_let_through(text: str) -> None:
    assert not by_path(text)


def test_that_no_link_is_followed_by_an_option_of_roots() -> None:
    """`cp -L` and `chown -R` without -h go where the account's links lead."""
    for program in programs():
        for line in _joined(program.text).splitlines():
            assert not re.search(r"\bcp [^;|&]*-\w*L", line), (program.name, line)
            assert not re.search(r"\bchown (?![^;|&]*-h\b)[^;|&]*-R", line), (program.name, line)
