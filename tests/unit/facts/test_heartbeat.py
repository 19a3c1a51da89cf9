"""Lag by a pt-heartbeat row."""

from __future__ import annotations

import pytest

from services.connections.allowlist import check_statement
from services.connections.ports import Rows
from services.connections.reads.registry import statement_of
from services.facts.heartbeat import heartbeat_lag, heartbeat_statement


def _rows(beat: object, now: object) -> Rows:
    return Rows(("ts", "now"), ((beat, now),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("beat", "now", "lag"),
    [
        ("2026-11-21T10:00:00.001230", "2026-11-21 10:00:01.501230", 1.5),
        ("2026-11-21T10:00:05", "2026-11-21 10:00:01.000000", 0.0),
        (b"2026-11-21T10:00:00.5", "2026-11-21 10:00:01.000000", 0.5),
    ],
)
def test_that_the_lag_is_the_replicas_now_less_the_newest_beat(beat: object, now: object, lag: float) -> None:
    assert heartbeat_lag(_rows(beat, now)) == pytest.approx(lag)


@pytest.mark.parametrize("rows", [None, Rows((), ()), _rows(None, "2026-11-21 10:00:01"), _rows("garbage", "x")])
def test_that_no_beat_is_no_lag_and_never_zero(rows: Rows | None) -> None:
    assert heartbeat_lag(rows) is None


def test_that_only_the_table_of_the_inventory_may_be_read() -> None:
    statement = statement_of(heartbeat_statement("percona.heartbeat"))
    check_statement(statement, heartbeat_table="percona.heartbeat")
    with pytest.raises(Exception, match="heartbeat"):
        check_statement(statement)
