"""A toy fact: what a host's flag file says. A pure parser."""

from __future__ import annotations


def parse_flag(text: str) -> str:
    """Return the colour of the flag, '' where the file tells none."""
    name, _, colour = text.strip().partition("=")
    return colour.strip() if name.strip() == "flag" else ""
