"""Reading one value out of a server's text: numbers, words, lists. Nothing here raises; what makes no sense is None.

Servers answer with '' for "not known", with 2**64-1 for "no number" (an unsigned -1) and, after a crash or with a
foreign library loaded, with anything at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from services.visible import visible

NO_NUMBER = (2**64 - 1, 2**63 - 1)
"""How servers print "none" in an unsigned column (wsrep_local_index, wsrep_cluster_conf_id while disconnected)."""

MOST = 2**63 - 1
"""No seqno, size or count is larger: both MySQL and Galera keep them in signed 64 bits."""

_MOST_DIGITS = 20
_LAST_NUMBER = re.compile(r"(?:(?<!\d)|(?=-))-?\d+[KMGT]?$")


def whole(value: object) -> int | None:
    """Return a whole number, also a negative one; None for NULL, text, fractions, "no number", impossible sizes."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        if not math.isfinite(value) or value != int(value):
            return None
        value = int(value)
    if not isinstance(value, int):
        text = str(value).strip()
        digits = text[1:] if text[:1] in {"-", "+"} else text
        if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
            return None
        value = int(text)
    if value in NO_NUMBER or abs(value) > MOST:
        return None
    return value


def count(value: object) -> int | None:
    """Return a number that can't be negative (a size, a queue, a seqno), else None."""
    number = whole(value)
    return number if number is not None and number >= 0 else None


def real(value: object) -> float | None:
    """Return a finite number; None for NULL, text, nan and infinities."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value) if isinstance(value, (int, float)) else float(str(value).strip())
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def amount(value: object) -> float | None:
    """Return a finite number that can't be negative, else None."""
    number = real(value)
    return number if number is not None and number >= 0 else None


def flag(value: object) -> bool | None:
    """Return ON/YES/1/TRUE as True, OFF/NO/0/FALSE as False, everything else as None."""
    word = str(value).strip().upper() if value is not None else ""
    if word in {"ON", "YES", "1", "TRUE"}:
        return True
    return False if word in {"OFF", "NO", "0", "FALSE"} else None


def words(value: object, most: int = 400) -> str:
    """Return text for people: NULL is '', control characters become spaces, at most `most` characters.

    What has a width and no shape (Hangul fillers) is shown too.
    """
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    clean = visible("".join(c if c.isprintable() else " " for c in text[: most + 1]).strip())
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def first(values: Mapping[str, str], *names: str) -> str:
    """Return the first of these names that has a value: for variables that were renamed."""
    for name in names:
        value = values.get(name)
        if value:
            return value
    return ""


def size(value: str) -> int | None:
    """Return bytes of "128M", "1G", "10240": suffixes are powers of 1024 (Galera manual, "Galera parameters")."""
    text = value.strip().upper()
    factor = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}.get(text[-1:], 1)
    number = count(text[:-1] if factor > 1 else text)
    return None if number is None or number * factor > MOST else number * factor


def sized(value: object) -> int | None:
    """Return a number that may be written with a suffix, also a negative one: "70K" is 71680, "-1" is -1.

    Galera prints every whole number of its options so where it is a multiple of 1024, a seqno too (Galera source,
    gu_config.cpp: "70K" for gcache.freeze_purge_at_seqno=71680).
    """
    number = whole(value)
    return number if number is not None or not isinstance(value, str) else size(value)


def last_number(text: str) -> int | None:
    """Return the number that a text ends in, see `sized`: 71680 of 'gcache.freeze_purge_at_seqno = 70K'; else None."""
    found = _LAST_NUMBER.search(text.strip())
    return sized(found.group()) if found is not None else None


def without_port(address: str) -> str:
    """Return an address without its port and brackets: 'db1' of 'db1:4567', '::1' of '[::1]:4567' and of '::1'."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address


def host_port(value: str, port: int = 3306) -> tuple[str, int]:
    """Split "host:port", "[::1]:port" or "host"; port 0 (Galera's "not known") becomes `port`."""
    text = value.strip()
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        found = count(rest.lstrip(":"))
    elif text.count(":") == 1:
        host, _, rest = text.partition(":")
        found = count(rest)
    else:
        host, found = text, None
    return host.strip().rstrip(".").lower(), found if found and found < 65536 else port
