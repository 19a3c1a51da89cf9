"""Where a text stops being TOML, told with the key or character that is at fault and never with a value.

What stands there may be a piece of a password (a quote forgotten, a key pasted over several lines). So only what is
known before reading is named: a key that this format has, a character of TOML's own, tomllib's words.
"""

from __future__ import annotations

import re
import tomllib

from services.i18n import tr

_WHERE = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)
_KEYS = re.compile(r"\((?:'[A-Za-z0-9_-]{1,32}'(?:, )?)+,?\)")
_VALUES = re.compile(r"""'(?!(?:[^\w\s]|\]\]|\\[nrt]|\\x[0-9a-f]{2})').*'|\(".*+""")
_QUOTE = re.compile(r"""['("]""")
_HEADER = re.compile(r"[ \t]{0,40}(\[{1,2}[ \t]{0,8}([A-Za-z0-9_.-]{1,64})[ \t]{0,8}\]{0,3})")
"""What should be the header of a table: it holds no value, and is quoted where all its names are the format's."""
_MOST_QUOTED = 500
"""Characters of what tomllib says: it quotes keys whole, of any length."""
_MARKS = "[]{}=,.#\"'"


def trouble(problem: tomllib.TOMLDecodeError, text: str, keys: frozenset[str]) -> str:
    """Return 'line 3, column 8: Invalid value, at the key "name"'; `keys` are the words the format knows."""
    found = _WHERE.match(str(problem))
    if found is None:
        return _without_values(str(problem), keys)
    line, column = int(found[2]), int(found[3])
    there = text.split("\n")[line - 1]
    what = _without_values(found[1], keys)
    return tr("line {line}, column {column}: {what}{token}", line=line, column=column, what=what,
              token=_token(there, column, keys))  # fmt: skip


def _token(there: str, column: int, keys: frozenset[str]) -> str:
    """Return what is at fault on a line, '' where that might be a value."""
    header = _HEADER.match(there)
    if header is not None and set(header[2].split(".")) <= keys:
        return tr(', at "{text}"', text=header[1])
    key = re.match(r"[ \t\[]{0,40}([A-Za-z0-9_.-]{1,64})", there)
    if key is not None and key.end() < column and set(key[1].split(".")) <= keys:
        return tr(', at the key "{key}"', key=key[1])
    at_fault = there[column - 1 : column]
    return tr(", at the character {mark}", mark=at_fault) if at_fault and at_fault in _MARKS else ""


def _without_values(words: str, keys: frozenset[str]) -> str:
    """Take out what tomllib quotes of the file: keys of the format and single marks may stand."""

    def named(found: re.Match[str]) -> str:
        path = re.findall(r"'([^']+)'", found[0])
        return ".".join(path) if set(path) <= keys else "…"

    if len(words) > _MOST_QUOTED:
        return f"{_QUOTE.split(words, maxsplit=1)[0]}…"
    told = _KEYS.sub(named, words)
    return _VALUES.sub("…", told)
