"""wsrep_provider_options: one long "name = value; name = value" text, different in every provider's build.

Numbers stand there as Galera prints them (gu_config.cpp, Config::set_longlong): a multiple of 1024 with K, M, G or T.
What a person wrote is kept as it was written until its component reads it, octal and hexadecimal ones too (gu_str2ll).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from services.facts.reading import MOST, SUFFIXES, flag, may_be_cut, sized

FREEZE = "gcache.freeze_purge_at_seqno"
"""Percona's providers only: that a node can freeze its gcache is told by this option's presence, never by a version."""

_OF_C = re.compile(r"([+-]?)(0x[0-9a-f]+|0[0-7]*)([kmgt]?)", re.IGNORECASE)


def option_number(text: str) -> int | None:
    """Return a whole number of an option as the provider reads it: 1K, 0x400 and 02000 are 1024; None: no number.

    Galera source, gu_utils.c, gu_str2ll(): C's strtoll with base 0. What was written in an option file is shown as it
    was written until the provider sets it anew.
    """
    found = _OF_C.fullmatch(text.strip())
    if found is None:
        return sized(text)
    sign, digits, suffix = found.groups()
    number = int(digits, 16 if digits[:2] in {"0x", "0X"} else 8) << 10 * (SUFFIXES.find(suffix.upper() or "-") + 1)
    return None if number > MOST else -number if sign == "-" else number


def option_flag(text: str) -> bool | None:
    """Return a switch of the provider's, which takes y and n too (gu_utils.c, gu_str2bool()); None: no switch."""
    return {"Y": True, "N": False}.get(text.strip().upper(), flag(text))


def without_options(text: str, beginnings: tuple[str, ...]) -> str:
    """Return the text without the options whose names begin so."""
    kept = (part.strip() for part in text.split(";"))
    return "; ".join(part for part in kept if part and not part.startswith(beginnings))


@lru_cache(maxsize=1024)
def provider_options(text: str) -> Mapping[str, str]:
    """Return the options by name, those that stand there whole. A text hardly ever changes: each is parsed once."""
    options: dict[str, str] = {}
    parts = text[:32768].split(";")
    for part in parts[:-1] if may_be_cut(text) else parts:
        name, separator, value = part.partition("=")
        if separator and name.strip():
            options[name.strip()] = value.strip()
    return MappingProxyType(options)


def is_cut(text: str) -> bool:
    """Return whether options are missing in this text: it is as long as servers cut it, or ends inside a name."""
    return may_be_cut(text) or bool((last := text.rpartition(";")[2].strip()) and "=" not in last)
