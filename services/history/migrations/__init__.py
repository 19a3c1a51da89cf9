"""Numbered steps from one version of a history file to the next. A step that was released is never edited again."""

from __future__ import annotations

from services.history.migrations import m0001_columnar_store

STEPS: tuple[tuple[int, tuple[str, ...]], ...] = ((1, m0001_columnar_store.STATEMENTS),)
"""(version a file has after the step, its statements), in order."""
NEWEST = STEPS[-1][0]
