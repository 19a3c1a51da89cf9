"""Replication lag by a heartbeat row: the one measure that a stopped IO thread or a dead network cannot fool.

Source: Percona Toolkit, pt-heartbeat (table with a column `ts`, an ISO 8601 moment; run it with --utc, so that no time
zone or summer time comes between). Lag = the replica's UTC_TIMESTAMP(6) - MAX(ts); a negative lag (clocks) counts 0.
"""

from __future__ import annotations

from datetime import UTC, datetime

from services.connections.ports import Rows, text
from services.connections.reads import statements
from services.connections.reads.read import SqlRead


def heartbeat_statement(table: str) -> SqlRead:
    """Return the read for a heartbeat table "schema.table" (the inventory lets plain identifiers through only)."""
    schema, _, name = table.partition(".")
    return statements.HEARTBEAT.read(schema, name)


def heartbeat_lag(rows: Rows | None) -> float | None:
    """Return the lag in seconds, None without a heartbeat or when its moment can't be read."""
    if rows is None or not rows.rows or len(rows.rows[0]) < 2:
        return None
    beat, now = (_moment(text(value)) for value in rows.rows[0][:2])
    if beat is None or now is None:
        return None
    return max(0.0, (now - beat).total_seconds())


def _moment(value: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value.strip().replace(" ", "T"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
