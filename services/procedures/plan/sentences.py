"""Sentences that engine, journal, terminal, window and documents say word for word alike."""

from __future__ import annotations

from services.i18n import mark

BLOCKED = mark("Blocking checks remain: nothing is run.")
APPROVAL_NEEDED = mark("Approval needed; no terminal attached.")
OUTCOME_UNKNOWN = mark("Started; outcome unknown.")
CANCELLED = mark("You cancelled this step.")
