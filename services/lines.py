"""Lines as the programs read them that a file or an output is meant for: they end at a line feed, nowhere else.

`str.splitlines` also ends them at a vertical tab, a form feed, a lone carriage return, U+0085, U+2028 and others: what
OpenSSH, MariaDB and a person's editor take for one comment would be a comment and a setting here (ProxyCommand, a key).
"""

from __future__ import annotations


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends: a line feed, or a carriage return and a line feed."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
