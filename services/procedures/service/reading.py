"""What the journal tells of all runs: one that is damaged is told by itself, and hides no other and no obligation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from itertools import groupby

from services.errors import JournalDamaged
from services.procedures.journal.journal import StoredJournal
from services.procedures.journal.obligations import open_obligations, readable
from services.procedures.journal.projection import project
from services.procedures.plan.run_model import OpenObligation, RunView


def each_run(
    ids: Iterable[str], view: Callable[[str], RunView]
) -> tuple[tuple[RunView, ...], tuple[JournalDamaged, ...]]:
    """Return the runs that can be read, and what is wrong with each of the others. Raises StoreError for the store."""
    views: list[RunView] = []
    damaged: list[JournalDamaged] = []
    for run_id in ids:
        try:
            views.append(view(run_id))
        except JournalDamaged as problem:
            damaged.append(problem)
    return tuple(views), tuple(damaged)


def all_obligations(journal: StoredJournal) -> tuple[OpenObligation, ...]:
    """Return what is switched on by any run; of one that is damaged what its readable lines tell."""
    found: list[OpenObligation] = []
    for run_id, lines in groupby(journal.obligation_entries(), lambda entry: entry.run_id):
        own = open_obligations(readable(lines))
        if own:
            with contextlib.suppress(JournalDamaged):  # what may be on stays told: nothing is forgotten
                own = project(journal.entries(run_id)).obligations
        found += own
    return tuple(sorted(found, key=lambda o: (o.since, o.obligation.key)))
