"""Names that a person typed, or a server tells, and that become words of a read, a command or an option file. Pure.

They are of plain characters, or refused.
"""

from __future__ import annotations

import re

_NAME = r"[A-Za-z_$][A-Za-z0-9_$]{0,63}"
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_DONOR = re.compile(r"\w(?:[\w.:@/()+ -]{0,62}[\w.:@/()+-])?")
_TABLE = re.compile(rf"{_NAME}\.{_NAME}", re.ASCII)
_FOLDER = re.compile(r"(?:/[A-Za-z0-9_@+-][A-Za-z0-9_.@+-]{0,100}){1,20}", re.ASCII)


def is_table(text: str) -> bool:
    """Return whether a text is schema.table, both plain identifiers as a named read takes them."""
    return _TABLE.fullmatch(text) is not None


def is_folder(text: str) -> bool:
    """Return whether a text is an absolute path below the root, of plain characters and without hidden folders."""
    return _FOLDER.fullmatch(text) is not None


def is_node_name(text: str) -> bool:
    """Return whether a text may name a node: letters, digits, dots, dashes and underscores."""
    return _NODE.fullmatch(text) is not None


def is_donor_name(text: str) -> bool:
    """Return whether a member's own name may stand in another one's option file: no line's end, quote, remark or comma.

    A server tells its name (wsrep_node_name), and may call itself two lines: the second one would be an option.
    """
    return _DONOR.fullmatch(text) is not None
