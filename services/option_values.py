"""An option file, as the programs of MySQL and MariaDB read it. Pure.

Source: mysys/my_default.c (MariaDB 10.11, 11.8) and my_default.cc (MySQL 9.7), search_default_file_with_ext() and
remove_end_comment(); held against my_print_defaults of these three (tests/unit/option_files_generated.py):
- they read bytes: white space is a byte of latin-1's, 0xA0 too, and nothing of Unicode's;
- '#' and ';' begin a comment at the begin of a line, '#' outside quotes anywhere; within quotes a backslash guards one;
- a group's name is not trimmed in front, and what stands behind its ']' is nothing;
- quotes around the whole value go, then escapes are resolved; an unknown one stays as it is;
- the order of the lines is the order of the options, a file's that is included in the place of the line; a folder's
  files are those that end in .cnf, hidden ones too, in the order of their bytes.
Where the programs differ or go wrong the text is refused: MariaDB's begin a new line behind 4,094 bytes and end one at
a NUL; with an option without a name all copy what is none. One difference is left: behind a path MySQL's take '#' for a
comment, MariaDB's for a part of it, and find no such file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SPACE = "\t\n\v\f\r \xa0"
"""White space as the programs see it, a sign a byte."""
_MOST_BYTES = 4093
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " ", '"': '"', "'": "'"}
_ESCAPED = re.compile(r"\\([btnrs\\\"'])|\\[^\\]", re.DOTALL)
_QUOTES = ("'", '"')
Kind = Literal["group", "option", "include", "includedir", "ignored", "broken"]


@dataclass(frozen=True, slots=True)
class OptionLine:
    """A line that is no comment.

    Attributes:
        name: of a group, of an option as it is written, or the path of an inclusion.
        value: None of an option without a '='. group: the one that an option stands in.
        kind: "ignored" is a line after '!' that is no inclusion, "broken" one at which the program refuses the file.
    """

    number: int
    kind: Kind
    name: str = ""
    value: str | None = None
    group: str = ""


def option_lines(text: str) -> Iterator[OptionLine]:
    """Return what a file's text says, line by line, up to the first that its program refuses."""
    group: str | None = None
    for number, line in enumerate(bytes_of(text).split("\n"), start=1):
        odd = len(line) > _MOST_BYTES or "\0" in line
        found = OptionLine(number, "broken") if odd else _line(line.lstrip(SPACE), number, group)
        if found is None:
            continue
        yield found
        if found.kind == "broken":
            return
        group = found.name if found.kind == "group" else group


def is_read_in_folder(name: str) -> bool:
    """Return whether the programs read a file of this name in a folder of `!includedir`; '.cnf' itself is one."""
    return name.endswith(".cnf")


def plain_name(name: str) -> str:
    """Return an option's name as programs compare it: '-' for '_', without loose-, which only says to bear with it."""
    return name.lower().replace("_", "-").removeprefix("loose-")


def _line(bare: str, number: int, group: str | None) -> OptionLine | None:
    if not bare or bare[0] in "#;":
        return None
    if bare[0] == "!":
        return _inclusion(bare[1:].lstrip(SPACE), number)
    if bare[0] == "[":
        name, closed, _ = bare[1:].partition("]")
        return OptionLine(number, "group" if closed else "broken", text_of(name.rstrip(SPACE)))
    if group is None:
        return OptionLine(number, "broken", text_of(bare.rstrip(SPACE)))
    name, given, value = bare[: comment_at(bare)].partition("=")
    name = text_of(name.rstrip(SPACE))
    if not name:
        return OptionLine(number, "broken")
    return OptionLine(number, "option", name, text_of(value_of(value.strip(SPACE))) if given else None, group)


def _inclusion(bare: str, number: int) -> OptionLine:
    """Return what a line after '!' is; one that is no inclusion is passed over."""
    kinds: tuple[Kind, ...] = ("includedir", "include")
    for kind in kinds:
        if bare == kind or (bare.startswith(kind) and bare[len(kind)] in SPACE):
            path = bare[len(kind) :].partition("#")[0].strip(SPACE)
            return OptionLine(number, kind if path else "broken", text_of(path))
    return OptionLine(number, "ignored", text_of(bare.rstrip(SPACE)))


def value_of(value: str) -> str:
    """Return what a value means: without the quotes around it, its escapes resolved."""
    if len(value) > 1 and value[0] in _QUOTES and value[0] == value[-1]:
        value = value[1:-1]
    return _ESCAPED.sub(lambda found: _ESCAPES[found[1]] if found[1] else found[0], value)


def comment_at(text: str) -> int:
    """Return where the comment behind an option begins, the text's length without one."""
    quote, escaped = "", False
    for place, sign in enumerate(text):
        if sign in _QUOTES and not escaped and quote in {"", sign}:
            quote = "" if quote else sign
        if sign == "#" and not quote:
            return place
        escaped = bool(quote) and sign == "\\" and not escaped
    return len(text)


def bytes_of(text: str) -> str:
    """Return a sign a byte: the text as the program sees it."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    except UnicodeEncodeError:  # half a sign, which no file's bytes can make
        return text.encode("utf-8", "replace").decode("latin-1")


def text_of(signs: str) -> str:
    """Return the text of what has a sign a byte."""
    return signs.encode("latin-1").decode("utf-8", "surrogateescape")
