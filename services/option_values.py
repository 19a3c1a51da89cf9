"""A line of an option file, as the programs of MySQL and MariaDB read it. Pure.

Source: mysys/my_default.c, remove_end_comment() and search_default_file_with_ext() (MariaDB 10.11): a comment begins at
a '#' outside quotes, wherever that stands; quotes around the whole value go, then escapes are resolved.
"""

from __future__ import annotations

import re

_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " ", '"': '"', "'": "'"}
_ESCAPED = re.compile(r"\\([btnrs\\\"'])")
_QUOTES = ("'", '"')


def option_line(line: str) -> tuple[str, str]:
    """Return (name, value) of a line within a group: no comment, no quotes around the value, no escapes.

    ('', '') for a comment and an empty line; a flag has the value ''.
    """
    name, _, value = line[: _comment_at(line)].partition("=")
    name, value = name.strip(), value.strip()
    if not name or name.startswith(";"):
        return "", ""
    if len(value) > 1 and value[0] in _QUOTES and value[0] == value[-1]:
        value = value[1:-1]
    return name, _ESCAPED.sub(lambda found: _ESCAPES[found[1]], value)


def _comment_at(text: str) -> int:
    quote, escaped = "", False
    for place, sign in enumerate(text):
        if sign in _QUOTES and not escaped and quote in {"", sign}:
            quote = "" if quote else sign
        if sign == "#" and not quote:
            return place
        escaped = bool(quote) and sign == "\\" and not escaped
    return len(text)
