"""The settings of a running server in a plan's facts: compared whole, shown short."""

from __future__ import annotations

from typing import cast

import pytest

from services.procedures.plan.part import Reading
from services.procedures.plan.parts.server.log_filters import filters_of
from services.procedures.plan.parts.server.variables import Variables
from tests.unit.procedures.host_of import host_of


class Answers:
    """A server with these variables."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values

    def shared_variables(self, part: str) -> dict[str, str]:
        del part
        return self._values


def read(**values: str) -> Variables:
    found = Variables.read(host_of("n1"), cast("Reading", Answers(values)))
    assert found is not None
    return found


@pytest.mark.parametrize("end", ["on", "off", "\x08", " "])
def test_that_a_long_value_is_compared_whole_and_shown_as_shortened(end: str) -> None:
    whole = "x" * 2000 + end
    found = read(optimizer_switch=whole)
    assert found.value("optimizer_switch") == whole
    shown = found.shown("optimizer_switch")
    assert shown is not None
    assert shown.endswith("…")
    assert len(shown) == 500
    assert found.shown("none_such") is None


def test_that_a_value_is_what_came_and_only_what_is_shown_is_cleaned() -> None:
    found = read(binlog_row_image="\x08full")
    assert found.value("binlog_row_image") == "\x08full"
    assert found.shown("binlog_row_image") == "\ufffdfull"


def test_that_a_filter_that_is_too_long_to_be_kept_is_not_taken_for_none() -> None:
    found = read(replicate_ignore_table="shop.items," * 8000, log_bin="ON")
    assert found.value("replicate_ignore_table") is None
    host = host_of("n1").with_part(found)
    assert filters_of(host) == ("n1: its server's replicate_ignore_table is too long to be read",)
