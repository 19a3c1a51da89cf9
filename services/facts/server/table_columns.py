"""What SHOW COLUMNS says of a table. Pure.

Source: MariaDB KB and MySQL manual, "SHOW COLUMNS" (the last column, Extra, names a generated one).
"""

from __future__ import annotations

import re

from services.connections.ports import Rows, text

_GENERATED = re.compile(r"\b(VIRTUAL|STORED|PERSISTENT)\b")


def generated_columns(rows: Rows) -> tuple[str, ...]:
    """Return the names of the generated columns, in their order."""
    return tuple(text(row[0]) for row in rows.rows if row and _GENERATED.search(text(row[-1]).upper()))
