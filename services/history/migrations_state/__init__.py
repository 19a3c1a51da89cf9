"""Numbered steps from one version of the state to the next. A step that was released is never edited again."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from services.history.migrations_state import (
    m0001_first_state,
    m0002_procedure_journal,
    m0003_without_events,
    m0004_positions_and_two_primaries,
    m0005_change_marks,
)

STEPS: tuple[tuple[int, Callable[[Connection], None]], ...] = (
    (1, m0001_first_state.upgrade),
    (2, m0002_procedure_journal.upgrade),
    (3, m0003_without_events.upgrade),
    (4, m0004_positions_and_two_primaries.upgrade),
    (5, m0005_change_marks.upgrade),
)
"""(version the state has after the step, what makes it), in order."""
NEWEST = STEPS[-1][0]
