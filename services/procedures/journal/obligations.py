"""Which obligations are on: from the entry before the act that takes one, to the entry after its proven release.

So one whose act never happened may be shown as open after a kill; its release is proven then like any other. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from services.errors import StoreError
from services.procedures.journal.codec import decode
from services.procedures.plan.model import Obligation
from services.procedures.plan.run_model import Entry, OpenObligation, StepState


class _Note:
    """What notes about an obligation are about (entries.py)."""

    RELEASE_FAILED, SEEN_ON, SEEN_OFF = "release-failed", "seen-on", "seen-off"


_PROVEN = frozenset({StepState.DONE.value, StepState.ALREADY.value})
"""A step that is so has shown what it took to be on."""


def open_obligations(entries: Iterable[Entry]) -> tuple[OpenObligation, ...]:
    """Return what is on, the oldest first.

    Args:
        entries: of any number of runs, each run's in order; kinds that say nothing of obligations are passed over.

    Raises StoreError for an entry of a newer Pilothouse.
    """
    found: dict[tuple[str, str], OpenObligation] = {}
    for entry in entries:
        change_obligations(found, entry)
    return tuple(sorted(found.values(), key=lambda o: (o.since, o.obligation.key)))


def readable(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries without those whose obligation can't be decoded: their run tells that it is damaged."""
    for entry in entries:
        try:
            change_obligations({}, entry)
        except StoreError:
            continue
        yield entry


def change_obligations(found: dict[tuple[str, str], OpenObligation], entry: Entry) -> None:
    """Apply one entry to what is open, by (run, key). Taken twice is on since the first time."""
    data = entry.data or {}
    if entry.kind == "obligation-taken":
        taken = decode(Obligation, data.get("obligation"))
        key = (entry.run_id, taken.key)
        since = found[key].since if key in found else entry.at
        seen = found[key].seen if key in found else None
        found[key] = OpenObligation(entry.run_id, taken, since, seen=seen, taken_by=entry.step_id)
    elif entry.kind == "step" and data.get("state") in _PROVEN:
        by = [k for k, o in found.items() if (o.run_id, o.taken_by) == (entry.run_id, entry.step_id)]
        found.update({key: replace(found[key], seen=entry.at, seen_off=None) for key in by})
    elif entry.kind == "obligation-discharged":
        found.pop((entry.run_id, str(data.get("key"))), None)
    elif entry.kind == "note" and (entry.run_id, str(data.get("key"))) in found:
        key = (entry.run_id, str(data.get("key")))
        found[key] = _noted(found[key], entry.at, data)


def _noted(one: OpenObligation, at: float, data: dict[str, object]) -> OpenObligation:
    """Return it as a note leaves it: a release that failed, or what a later look saw."""
    match data.get("about"):
        case _Note.RELEASE_FAILED:
            return replace(one, release_failed=str(data.get("text", "")))
        case _Note.SEEN_ON:
            return replace(one, seen=at, seen_off=None)
        case _Note.SEEN_OFF:
            return replace(one, seen_off=at)
    return one
