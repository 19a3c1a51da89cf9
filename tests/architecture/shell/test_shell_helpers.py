"""What programs for hosts share is the same in each: no caller takes a helper's function or variable for its own.

Programs are put together of texts (ENTER, WALK, OWN_PATH ...), whose names are those of one shell. A caller's function
`stays` once stood in the place of one of the way into a folder, and an undo put nothing back, without a word.
"""

from __future__ import annotations

import re
import sys
from functools import cache

import pytest

from tests.architecture.shell.shell_programs import Program, programs
from tests.architecture.shell.shell_words import assigned, functions

DEFINED_AGAIN = {
    ("*", "missing"): "what a program does where a folder of the path is not there, its own by ENTER's leave",
    ("LOOK_THROUGH", "die"): "says it like the program's own refusals, and ends with their code",
}
"""(program, function): why it is defined twice in one program. '*': in any."""
SET_BY_BOTH = {
    ("BINLOG_MARKS", "f"): "the helper's loop is over before the program's own begins",
    ("BINLOG_MARKS", "why"): "the helper's answer: why a file is not usable; the program says its own the same way",
    ("TRY", "bad"): "the answer of all parts, which the helper begins with 0",
    ("FOREIGN", "bad"): "the same",
    ("SURVEY", "f"): "BEGINS sets it for its callers, each of which keeps it to itself",
    ("BACKUPS", "at"): "BEGINS sets it for its callers, each of which keeps it to itself",
}
"""(program, variable): why a helper and the rest of a program may both set it."""
ALL = programs()


@cache
def shared() -> dict[str, str]:
    """Return the texts with functions of which programs are put together, each with its name."""
    texts, found = {one.text for one in ALL}, dict[str, str]()
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("services.")]
    for name, value in (pair for module in modules for pair in vars(module).items()):
        if isinstance(value, str) and re.search(r"^\w+\(\) ?[{(]", value, re.MULTILINE):
            part = value.strip()
            if any(part in text and part != text.strip() for text in texts):
                found.setdefault(part, name)
    return found


def defined_again(program: Program) -> set[str]:
    """Return the functions that a program defines twice, and not alike."""
    bodies = dict[str, set[str]]()
    for one in functions(program.text):
        bodies.setdefault(one.name, set()).add(one.body)
    return {name for name, said in bodies.items() if len(said) > 1}


def set_by_both(program: Program, helpers: dict[str, str]) -> set[str]:
    """Return the variables that a helper in a program sets, and the rest of the program too."""
    found, everything = set[str](), assigned(program.text)
    for text in helpers:
        begin = program.text.find(text)
        if begin >= 0 and text != program.text.strip():
            inside = {one.name for one in everything if begin <= one.at < begin + len(text)}
            around = {text for text in helpers if text in program.text} - {text}
            rest = {one.name for one in everything if not _within(one.at, program.text, {text, *around})}
            found |= inside & rest
            found |= inside & {name for other in around for name in _names(other, text, program, begin)}
    return found - {"_"}


def _names(other: str, text: str, program: Program, begin: int) -> set[str]:
    """Return what another helper sets that neither holds this one nor is held by it."""
    at = program.text.find(other)
    if at < begin + len(text) and begin < at + len(other):
        return set()
    return {one.name for one in assigned(program.text) if at <= one.at < at + len(other)}


def _within(at: int, text: str, parts: set[str]) -> bool:
    return any(0 <= (begin := text.find(part)) <= at < begin + len(part) for part in parts)


def _allowed(name: str, table: dict[tuple[str, str], str]) -> set[str]:
    return {what for program, what in table if program in {"*", name.rpartition(".")[2]}}


def test_that_the_helpers_are_found() -> None:
    assert {"ENTER", "WALK", "AS", "OWN_PATH", "FOLDERS", "STAYS_WITHIN", "INVENTORY", "ROOT_ONLY"} <= set(
        shared().values()
    )


@pytest.mark.parametrize("program", ALL, ids=lambda one: one.name)
def test_that_no_program_defines_a_function_of_what_it_shares_anew(program: Program) -> None:
    assert defined_again(program) - _allowed(program.name, DEFINED_AGAIN) == set()


@pytest.mark.parametrize("program", ALL, ids=lambda one: one.name)
def test_that_no_program_sets_a_variable_of_what_it_shares(program: Program) -> None:
    assert set_by_both(program, shared()) - _allowed(program.name, SET_BY_BOTH) == set()


def test_that_each_exception_is_still_met() -> None:
    again = {(one.name.rpartition(".")[2], name) for one in ALL for name in defined_again(one)}
    both = {(one.name.rpartition(".")[2], name) for one in ALL for name in set_by_both(one, shared())}
    for program, name in DEFINED_AGAIN:
        assert any(name == what and program in {"*", where} for where, what in again), (program, name)
    assert set(SET_BY_BOTH) <= both


HELPER = 'stays() { [ -n "$_rest" ]; }\ngo() { _rest=$1 file=$2; while stays; do _rest=${_rest#/}; break; done; }\n'


def test_that_a_function_of_a_helpers_name_is_found_as_it_was_once_sent() -> None:
    again = Program("sample", "bash", f"{HELPER}stays() {{ echo no; }}\ngo /srv\n")
    alike = Program("sample", "bash", f"{HELPER}{HELPER}other() {{ :; }}\n")
    assert defined_again(again) == {"stays"}
    assert defined_again(alike) == set()


@pytest.mark.parametrize(
    "said",
    [
        "file=/etc/x; go /srv a",
        'for file in a b; do go "$file"; done',
        "f() { file=1; }; go /srv",
        "IFS=: read -r file _ < /etc/passwd; go /",
        "if true; then file=x other=y; fi",
        "case $1 in a) file=1;; esac",
        "export file=1",
        "cat <<X\nit's\nX\nfile=2",
    ],
)
def test_that_a_variable_which_a_helper_sets_too_is_found(said: str) -> None:
    assert set_by_both(Program("sample", "bash", HELPER + said), {HELPER.strip(): "HELPER"}) == {"file"}


@pytest.mark.parametrize(
    "said",
    [
        "f() { local file=1 other; file=2; }; go /srv",
        "file=/etc/x cat",
        "awk 'BEGIN { file=1 }'",
        'x=$(file=1; echo "$file")',
        "# file=1\ngo /",
        "cat <<X\nfile=1\nX\n",
        "dd if=a of=b file=c",
    ],
)
def test_that_what_no_helper_sees_is_let_through(said: str) -> None:
    assert set_by_both(Program("sample", "bash", HELPER + said), {HELPER.strip(): "HELPER"}) == set()
