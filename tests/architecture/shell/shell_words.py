"""A program for a shell as words: which functions it defines, and which variables its text assigns, and where.

No more of the grammar than that needs (POSIX.1-2017, 2.10): what stands in quotes or in a command substitution is one
word, as nothing that is assigned there outlives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SET = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=")
_HERE = re.compile(r"<<-?['\"]?(\w+)['\"]?")
_ENDS = ";&|()\n"
_BEGIN = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time", "esac", "fi", "done", "}"})
"""Words behind which a command begins."""
_NAMING = frozenset({"export", "readonly", "declare", "typeset", "local"})
_READING = frozenset({"read", "mapfile", "readarray", "getopts"})


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its body as it is written, from its brace to the end, and where its definition begins."""

    name: str
    body: str
    at: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable that the text sets; `at`: where."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    at: int


def functions(text: str) -> tuple[Function, ...]:
    """Return the functions that a program defines, those in a function too."""
    words, found = tuple(_words(text)), list[Function]()
    for index, word in enumerate(words):
        said = [one.text for one in words[index + 1 : index + 3]]
        if _NAME.fullmatch(word.text) and said == ["(", ")"]:
            end = _end(words, index + 3)
            found.append(Function(word.text, text[words[index + 3].at : end], word.at))
    return tuple(found)


@cache
def assigned(text: str) -> tuple[Assigned, ...]:
    """Return what a program sets and does not keep to a function of its own."""
    words = tuple(_words(text))
    local = tuple(_local(text, words))
    return tuple(
        one for one in _assigned(words) if not any(b <= one.at < e and one.name == name for name, b, e in local)
    )


def _local(text: str, words: tuple[_Word, ...]) -> Iterator[tuple[str, int, int]]:
    """Yield each variable that a function keeps to itself, and from where to where."""
    for function in functions(text):
        begin = text.index(function.body, function.at)
        end = begin + len(function.body)
        inside = [word for word in words if begin <= word.at < end]
        for index, word in enumerate(inside):
            if word.text == "local":
                for named in _until_end(inside[index + 1 :]):
                    yield named.text.partition("=")[0], begin, end


def _assigned(words: tuple[_Word, ...]) -> Iterator[Assigned]:
    starts, prefix = True, list[Assigned]()
    for index, word in enumerate(words):
        setting = _SET.match(word.text)
        if word.text in _ENDS:
            yield from prefix
            starts, prefix = True, []
        elif starts and setting:
            prefix.append(Assigned(setting[1], word.at))
        elif starts:
            starts, prefix = word.text in _BEGIN, []  # what stands before a command is set for that command alone
            yield from _by(word, words[index + 1 :])
    yield from prefix


def _by(command: _Word, behind: tuple[_Word, ...]) -> Iterator[Assigned]:
    """Yield what a command of the shell's own sets."""
    words = list(_until_end(behind))
    if command.text == "for" and words:
        yield Assigned(words[0].text, words[0].at)
    elif command.text in _READING:
        yield from (Assigned(one.text, one.at) for one in words if _NAME.fullmatch(one.text))
    elif command.text in _NAMING - {"local"}:
        yield from (Assigned(one.text.partition("=")[0], one.at) for one in words if _SET.match(one.text))


def _until_end(words: list[_Word] | tuple[_Word, ...]) -> Iterator[_Word]:
    for word in words:
        if word.text in _ENDS:
            return
        yield word


def _end(words: tuple[_Word, ...], index: int) -> int:
    """Return where the group ends that begins there: a brace's, or a subshell's."""
    opens, closes = ("(", ")") if words[index].text == "(" else ("{", "}")
    depth = 0
    for word in words[index:]:
        depth += (word.text == opens) - (word.text == closes)
        if not depth:
            return word.at + 1
    message = f"a function without an end, at {words[index].at}"
    raise ValueError(message)


def _words(text: str) -> Iterator[_Word]:
    at, here = 0, list[str]()
    while at < len(text):
        if text[at] in _ENDS:
            yield _Word(text[at], at)
            at += 1
            if text[at - 1] == "\n":
                for mark in here:
                    at = text.index(f"\n{mark}\n", at - 1) + len(mark) + 2
                here = []
        elif document := _HERE.match(text, at):
            here.append(document[1])
            at = document.end()
        elif text[at] in " \t" or text.startswith("\\\n", at):
            at += 1 + text.startswith("\\\n", at)
        elif text[at] == "#":
            at = _line_end(text, at)
        else:
            end = _word_end(text, at)
            yield _Word(text[at:end], at)
            at = end


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found if found >= 0 else len(text)


def _word_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in " \t\n;&|()":
        at = _piece_end(text, at)
        if at < len(text) and text[at] == "(" and text[at - 1] == "=":  # a list of bash's
            at = _group_end(text, at + 1)
    return at


def _piece_end(text: str, at: int) -> int:
    """Return the end of one piece of a word: a quoted text, an expansion, a substitution, or a character."""
    if text[at] == "\\":
        return at + 2
    if text[at] == "'":
        return text.index("'", at + 1) + 1
    if text[at] == '"':
        return _quoted_end(text, at + 1)
    if text.startswith("$(", at):
        return _group_end(text, at + 2)
    if text.startswith("${", at):
        at += 2
        while text[at] != "}":
            at = _piece_end(text, at)
        return at + 1
    return at + 1


def _quoted_end(text: str, at: int) -> int:
    while text[at] != '"':
        at = at + 1 if text[at] == "'" else _piece_end(text, at)
    return at + 1


def _group_end(text: str, at: int) -> int:
    """Return where the parentheses end; those behind a pattern of `case` close none."""
    cases = depth = 0
    while True:
        if text[at] == "#" and text[at - 1] in " \t\n;":
            at = _line_end(text, at)
        elif text[at] == "(":
            depth, at = depth + 1, at + 1
        elif text[at] == ")":
            if not depth and not cases:
                return at + 1
            depth, at = max(0, depth - 1), at + 1
        elif word := re.compile(r"\b(case|esac)\b").match(text, at):
            cases, at = cases + (1 if word[1] == "case" else -1), word.end()
        else:
            at = _piece_end(text, at)
