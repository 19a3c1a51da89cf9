"""The page resources/docs/faults.md has two writers; each replaces its own section and leaves the other's alone."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "resources" / "docs" / "faults.md"
_TITLE = "# Faults and procedures\n"


def write_section(heading: str, section: str, page: Path = PAGE) -> None:
    """Replace the section that `heading` ('## ...') begins, up to the next one, or append it where there is none."""
    text = page.read_text(encoding="utf-8") if page.exists() else _TITLE
    page.write_text(replaced(text, heading, section), encoding="utf-8")


def replaced(text: str, heading: str, section: str) -> str:
    """Return the page's text with that section replaced."""
    pattern = re.compile(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found, section = pattern.search(text), section.strip() + "\n"
    if found is None:
        return f"{text.rstrip()}\n\n{section}"
    rest = text[found.end() :]
    return text[: found.start()] + section + (f"\n{rest}" if rest else "")
