"""Which columns of a table are generated, as SHOW COLUMNS of MariaDB 10.11.18 and MySQL 8.0 write it."""

from __future__ import annotations

from services.connections.ports import Rows
from services.facts.server.table_columns import generated_columns

_NAMES = ("Field", "Type", "Null", "Key", "Default", "Extra")


def test_that_generated_columns_are_told_from_plain_ones_in_the_words_of_both_products() -> None:
    rows = Rows(
        _NAMES,
        (
            ("id", "int(11)", "NO", "PRI", None, "auto_increment"),
            ("stored_at", "timestamp", "NO", "", "current_timestamp()", "on update current_timestamp()"),
            ("total", "int(11)", "YES", "", None, "STORED GENERATED"),
            ("half", "int(11)", "YES", "", None, "VIRTUAL GENERATED"),
        ),
    )
    assert generated_columns(rows) == ("total", "half")


def test_that_an_answer_without_columns_has_none() -> None:
    assert generated_columns(Rows(_NAMES, ())) == ()
