"""Reading one value out of a server's text: numbers, words, lists. Nothing here raises; what makes no sense is None.

Servers answer with '' for "not known", with 2**64-1 for "no number" (an unsigned -1) and, after a crash or with a
foreign library loaded, with anything at all.
"""

from __future__ import annotations

import ipaddress
import math
import re
import unicodedata
from collections.abc import Mapping

from services.addresses import is_ip
from services.visible import visible

NO_NUMBER = (2**64 - 1, 2**63 - 1)
"""How servers print "none" in an unsigned column (wsrep_local_index, wsrep_cluster_conf_id while disconnected)."""

MOST = 2**63 - 1
"""No seqno, size or count is larger: both MySQL and Galera keep them in signed 64 bits."""

CUTS = frozenset({1024, 2048, 4096})
"""Characters, or bytes, after which servers cut a text without a word (services/facts/server/cut_texts.py)."""

BLANKS = " \t\r\n"
"""What may stand around a value, and is no part of it."""

_MOST_DIGITS = 20
_REAL = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]{1,4})?", re.IGNORECASE | re.ASCII)
SUFFIXES = "KMGTPE"
_LAST_NUMBER = re.compile(r"(?:(?<!\d)|(?=-))-?\d+[KMGTPE]?$")
_SUFFIXED = re.compile(r"([+-]?[0-9]+)([KMGTPE])", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?", re.ASCII)
_PERIOD = re.compile(
    r"P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?"
    r"T?(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,2})?)S)?(?:S0)?",
    re.ASCII,
)
_PERIODS = (360 * 86400.0, 30 * 86400.0, 86400.0, 3600.0, 60.0, 1.0)


def whole_number(value: object) -> int | None:
    """Return a whole number, also a negative one; None for NULL, text, fractions, "no number", impossible sizes."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        if not math.isfinite(value) or value != int(value):
            return None
        value = int(value)
    if not isinstance(value, int):
        text = str(value).strip(BLANKS)
        digits = text[1:] if text[:1] in {"-", "+"} else text
        if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS:
            return None
        value = int(text)
    if value in NO_NUMBER or abs(value) > MOST:
        return None
    return value


def count(value: object) -> int | None:
    """Return a number that can't be negative (a size, a queue, a seqno), else None."""
    number = whole_number(value)
    return number if number is not None and number >= 0 else None


def absent(value: object) -> bool:
    """Return whether a server told nothing at all: no such variable or column, NULL, or an empty text.

    Only then a product's documented default may stand for a value: one that can't be read is not known.
    """
    return value is None or (isinstance(value, str) and not value.strip(BLANKS)) or value == b""


def port_of(value: object, port: int = 3306) -> int | None:
    """Return a TCP port; `port`, the product's default, where none was told; None where it is none.

    MySQL's server tells 0 while it listens to no network (MySQL source, mysqld.cc: skip_networking).
    """
    if absent(value):
        return port
    found = count(value)
    return found if found is not None and 0 < found < 65536 else None


def real(value: object) -> float | None:
    """Return a finite number; None for NULL, text, nan and infinities."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        text = "" if isinstance(value, (int, float)) else str(value).strip(BLANKS)
        if text and _REAL.fullmatch(text) is None:
            return None
        number = float(value if isinstance(value, (int, float)) else text or "nan")
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def amount(value: object) -> float | None:
    """Return a finite number that can't be negative, else None."""
    number = real(value)
    return number if number is not None and number >= 0 else None


def flag(value: object) -> bool | None:
    """Return ON/YES/1/TRUE as True, OFF/NO/0/FALSE as False, everything else as None."""
    word = str(value).strip(BLANKS) if value is not None else ""
    word = word.upper() if word.isascii() else ""
    if word in {"ON", "YES", "1", "TRUE"}:
        return True
    return False if word in {"OFF", "NO", "0", "FALSE"} else None


def words(value: object, most: int = 400) -> str:
    """Return text for people: NULL is '', a line's end or tab is a space, at most `most` characters.

    Only blanks around it go. Any other sign that can't be seen is shown, so that no word becomes another one: with a
    backspace before it 'full' is no 'full'. What has a width and no shape (Hangul fillers) is shown too.
    """
    if value is None:
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    clean = visible("".join(map(_seen, text[: most + 1].strip(BLANKS))))
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def _seen(sign: str) -> str:
    """Return a sign, a blank for any kind of blank."""
    return " " if sign in BLANKS or unicodedata.category(sign) == "Zs" else sign


def may_be_cut(value: str) -> bool:
    """Return whether a text is exactly as long as one that a server has cut: then what it says is not known."""
    return len(value) in CUTS or (not value.isascii() and len(value.encode("utf-8", "replace")) in CUTS)


def first(values: Mapping[str, str], *names: str) -> str:
    """Return the first of these names that has a value: for variables that were renamed."""
    for name in names:
        value = values.get(name)
        if value:
            return value
    return ""


def size(value: str) -> int | None:
    """Return bytes of "128M", "1G", "10240", see `sized`; None for a negative number."""
    number = sized(value)
    return number if number is not None and number >= 0 else None


def sized(value: object) -> int | None:
    """Return a whole number that may be written with a suffix: "70K" is 71680, "-1" is -1, "-1K" is -1024.

    The one reader of such numbers. Suffixes are powers of 1024, in either case (MySQL manual, "Using Options to Set
    Program Variables"; P and E since MySQL 8.0.14). Galera prints every whole number of its options so where it is a
    multiple of 1024, a limit, a weight and a seqno too (Galera source, gu_config.cpp, set_longlong()).
    """
    number = whole_number(value)
    if number is not None or not isinstance(value, str):
        return number
    found = _SUFFIXED.fullmatch(value.strip(BLANKS))
    number = whole_number(found[1]) if found is not None else None
    factor = 2 ** (10 * (SUFFIXES.index(found[2].upper()) + 1)) if found is not None else 1
    return None if number is None or abs(number) * factor > MOST else number * factor


def seconds(value: object) -> float | None:
    """Return a period in seconds: "PT5S" is 5.0, "PT1M30S" 90.0, "P1D" 86400.0, a bare "7.5" 7.5; None: no period.

    Galera source, gu_datetime.cpp, Period: a month has 30 days, a year 12 such months; the T may be left out where
    hours, minutes or seconds follow nothing else. It prints whole minutes as "PT1MS0", and nothing as "PS0".
    """
    text = str(value).strip() if value is not None else ""
    if (bare := _NUMBER.fullmatch(text)) is not None:
        return amount(bare[0])
    found = _PERIOD.fullmatch(text)
    if found is None or not text.strip("PT"):
        return None
    given = zip(found.groups(), _PERIODS, strict=True)
    told = sum(float(part) * unit for part, unit in given if part)
    return told if math.isfinite(told) else None


def last_number(text: str) -> int | None:
    """Return the number that a text ends in, see `sized`: 71680 of 'gcache.freeze_purge_at_seqno = 70K'; else None."""
    found = _LAST_NUMBER.search(text.strip())
    return sized(found.group()) if found is not None else None


def without_port(address: str) -> str:
    """Return an address without its port and brackets: 'db1' of 'db1:4567', '::1' of '[::1]:4567' and of '::1'."""
    return _parted(address)[0]


def host_port(value: str, port: int = 3306) -> tuple[str, int]:
    """Split "host:port", "[::1]:port" or "host"; port 0 (Galera's "not known") becomes `port`.

    An IPv6 address stands in its shortest form, one that maps an IPv4 address as that.
    """
    host, rest = _parted(value.strip())
    found = count(rest)
    return one_form(host.strip().rstrip(".").lower()), found if found and found < 65536 else port


def client_host(value: str) -> str:
    """Return the host of a client as a process list prints it: "db2:41058", "2001:db8::5:41058", "localhost".

    Over TCP the port is always there, and an IPv6 address has no brackets (seen on MySQL 9.7.4: "::1:41058").
    """
    text = value.strip()
    head, _, tail = text.rpartition(":")
    ported = count(tail) is not None and not text.startswith("[") and (":" not in head or is_ip(head))
    return one_form(head.lower()) if head and ported else host_port(text)[0]


def one_form(host: str) -> str:
    """Return an IPv6 address in its shortest form, one that maps an IPv4 address as that; anything else as it is."""
    if ":" not in host:
        return host
    bare, sign, zone = host.partition("%")
    try:
        address = ipaddress.IPv6Address(bare)
    except ValueError:
        return host
    return str(address.ipv4_mapped or address.compressed) + sign + zone


def _parted(text: str) -> tuple[str, str]:
    """Return (host, what stands in the port's place): an IPv6 address may stand without brackets before a port too."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.lstrip(":")
    head, _, tail = text.rpartition(":")
    if ":" not in head:
        return (head, tail) if head else (text, "")
    return (head, tail) if count(tail) is not None and not is_ip(text) and is_ip(head) else (text, "")
