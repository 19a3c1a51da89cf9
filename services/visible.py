"""Text that is seen as what it is, whatever a server, a log, a file or a name holds.

A control character moves a terminal's cursor, clears or renames its window, answers in a person's name; one that turns
the direction of text shows another order than what is there (Unicode Annex 9; Unicode Technical Report 36,
"Bidirectional Text Spoofing"); one that no font draws makes two names look alike. Each is shown as U+FFFD. Only line
ends and tabs pass. `facts.reading.words`, which reads names and values, lets none of them in.
"""

from __future__ import annotations

import re
from functools import cache

SHOWN_AS = "\ufffd"
_HALF = "[\ud800-\udfff]"
"""Compiled when it is first needed: the window is painted before that."""


@cache
def _table() -> dict[int, str]:
    """Return what each is shown as; made when it is first needed, for the window is painted before that.

    Source of `unseen`: Unicode Character Database, DerivedCoreProperties.txt: Default_Ignorable_Code_Point, the
    directions among them.
    """
    controls = (
        *range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0x2028, 0x2029, *range(0xFFF9, 0xFFFC), 0xFFFF,
    )  # fmt: skip
    unseen = (
        0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
        *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
        *range(0xFFF0, 0xFFF9), 0xFFFE, *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
    )  # fmt: skip
    return {code: SHOWN_AS for code in (*controls, *unseen) if chr(code) not in "\n\t"}


def as_line(text: str, most: int) -> str:
    """Return what somebody else says as one line of at most `most` characters, to stand within a sentence of ours."""
    line = " ".join(visible(text[: 4 * most]).split())
    if line == text:
        return text  # a translated sentence knows its English
    return line if len(line) <= most else f"{line[:most]}…"


def valid_utf8(text: str) -> str:
    """Return text that UTF-8 has: a byte of a name or an argument that was no UTF-8 (PEP 383) is U+FFFD."""
    return text if text.isascii() else re.sub(_HALF, SHOWN_AS, text)


def visible(text: str) -> str:
    """Return text whose every character is seen as what it is; the same object where nothing is to be shown."""
    if text.isprintable() and text.isascii():
        return text
    shown = text.translate(_table())
    return text if shown == text else shown
