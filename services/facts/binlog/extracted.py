"""What the extraction of one side's transactions from its binary log counted (catalogue/steps/extraction.py). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNTED = re.compile(r"(\d{1,19}) transactions, (\d{1,19}) statements, tables: (.*)")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The numbers as the program printed them; `tables`: each with its rows."""

    transactions: str
    statements: str
    tables: str


def parse_extracted(text: str) -> Extracted | None:
    """Return what EXTRACT printed at its end, None where it printed no count."""
    found = _COUNTED.search(text)
    return Extracted(*found.groups()) if found is not None else None
