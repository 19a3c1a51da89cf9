"""JSON as it leaves this program: for machines that read what a command prints, and for the stores.

Names of files, arguments and what programs say are bytes; those that are no UTF-8 are lone surrogates here (PEP 383).
JSON is UTF-8 (RFC 8259, 8.1), and knows no number that is none. What is printed is ASCII, so that it says the same on
every stream: such a byte is its escape (`\\udcff`), and a number that is none is null.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Literal

from services.i18n import english, stored
from services.visible import valid_utf8

if TYPE_CHECKING:
    Order = Literal["deterministic", "sorted"] | None


def json_line(document: object) -> str:
    """Return a document as one line of ASCII JSON: plain values, or what the stores keep; sentences in English."""
    return json.dumps(_plain(document, "deterministic"), allow_nan=False)


def stored_json(value: object, order: Order = None) -> bytes:
    """Return what a store keeps, as UTF-8; a byte that was no UTF-8 is U+FFFD, as every reader shows it."""
    import msgspec  # late: the first paint waits for this module

    try:
        return msgspec.json.encode(value, enc_hook=stored, order=order)
    except UnicodeEncodeError:
        return msgspec.json.encode(_whole(_plain(value, order)), order=order)


def _plain(value: object, order: Order = None) -> object:
    if isinstance(value, str):
        return str.__str__(english(value))
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_name(name): _plain(one, order) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, order) for one in value]
    import msgspec

    return _plain(msgspec.to_builtins(value, enc_hook=stored, order=order, str_keys=True), order)


def _name(name: object) -> object:
    return str.__str__(english(name)) if isinstance(name, str) else name


def _whole(value: object) -> object:
    if isinstance(value, str):
        return valid_utf8(value)
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value
