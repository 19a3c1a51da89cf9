"""wsrep_provider_options: one long "name = value; name = value" text, different in every provider's build."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

FREEZE = "gcache.freeze_purge_at_seqno"
"""Percona's providers only: that a node can freeze its gcache is told by this option's presence, never by a version."""


def without_options(text: str, beginnings: tuple[str, ...]) -> str:
    """Return the text without the options whose names begin so."""
    kept = (part.strip() for part in text.split(";"))
    return "; ".join(part for part in kept if part and not part.startswith(beginnings))


@lru_cache(maxsize=1024)
def provider_options(text: str) -> Mapping[str, str]:
    """Return the options by name. The text hardly ever changes, so each distinct one is parsed once."""
    options: dict[str, str] = {}
    for part in text[:32768].split(";"):
        name, separator, value = part.partition("=")
        if separator and name.strip():
            options[name.strip()] = value.strip()
    return MappingProxyType(options)
