"""Lines as the programs read them that a file or an output is meant for: they end at a line feed, nowhere else.

`str.splitlines` also ends them at a vertical tab, a form feed, a lone carriage return, U+0085, U+2028 and others: what
OpenSSH, MariaDB and a person's editor take for one comment would be a comment and a setting here (ProxyCommand, a key).
"""

from __future__ import annotations

import codecs

_MARKS = {codecs.BOM_UTF8: "UTF-8 with a byte order mark", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends: a line feed, or a carriage return and a line feed."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def marked_encoding(data: bytes) -> str:
    """Return the encoding that a file's first bytes announce (a byte order mark), '' where it has none.

    Editors and shells of Windows write such files; OpenSSH takes the mark for a part of the first word.
    """
    return next((name for mark, name in _MARKS.items() if data.startswith(mark)), "")
