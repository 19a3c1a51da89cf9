"""A line of the journal read strictly: the one place where its text becomes an entry (`entries.py` has the kinds).

The store may be shared, was perhaps put back from a copy, and somebody else may have written into it. What a line's
kind promises is looked at here, so that whoever reads an entry meets no other shape: JSON of bounded numbers, one
object, each field of its type. What a field means (a plan, an obligation, a state) is decoded by `codec.py` and
`projection.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import NoReturn

from services.errors import JournalDamaged
from services.history.state.procedure_journal import ProcedureLine
from services.i18n import tr
from services.procedures.journal.seals import unsealed
from services.procedures.plan.run_model import Entry

_LAST_MOMENT = 253_402_214_400.0
"""9999-12-31 UTC: what is later is no moment that can be shown."""
_MOST_DIGITS = 30
"""A counter of a server may be 2**64 - 1 (wsrep_cluster_conf_id outside a Primary Component)."""
_DEEPEST = 100
"""Brackets within brackets: a plan has about ten."""

Test = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


_TYPES: Mapping[str, Mapping[str, Test]] = {
    "planned": {
        "plan": _is_object, "inputs": _is_object, "checks": _is_list, "overrides": _is_list, "owner": _is_text,
    },
    "approved": {"by": _is_text},
    "run": {"state": _is_text, "sentence": _is_text},
    "step": {"state": _is_text, "said": _is_text, "evidence": _is_texts, "error": _is_text},
    "obligation-taken": {"obligation": _is_object},
    "obligation-discharged": {"key": _is_text, "evidence": _is_text},
    "value": {"name": _is_text, "value": _is_text},
    "output": {"lines": _is_texts},
    "asked": {"question": _is_object},
    "answered": {"topic": _is_text, "answer": _is_text, "by": _is_text},
    "continued": {"plan": _is_object, "checks": _is_list},
    "breach": {"code": _is_text, "sentence": _is_text, "evidence": _is_text, "does": _is_text},
    "lock": {"what": _is_text, "hosts": _is_texts, "sentence": _is_text},
    "note": {"about": _is_text, "text": _is_text, "key": _is_text, "because": _is_text, "snapshot": _is_object},
}  # fmt: skip
"""Of each kind its fields and what they are, where they are there."""
_NEEDED: Mapping[str, tuple[str, ...]] = {"obligation-discharged": ("key",), "value": ("name", "value")}
"""Fields without which a line of a kind says nothing; of the others decoding tells."""


def entry_of(line: ProcedureLine) -> Entry:
    """Return the entry that a line holds; raises JournalDamaged, which names the run."""
    if not (math.isfinite(line.at) and 0 <= line.at <= _LAST_MOMENT):
        refuse(str(line.run_id), line.seq, tr("its time is not a time"))
    data = _object(line)
    types, needed = _TYPES.get(line.kind, {}), _NEEDED.get(line.kind, ())
    wrong = [name for name, fits in types.items() if (name in data or name in needed) and not fits(data.get(name))]
    if wrong:
        refuse(str(line.run_id), line.seq, tr("its '{field}' has the wrong type", field=wrong[0]))
    if line.kind == "note" and data.get("about") == "hosts" and addresses_in(str(data.get("text"))) is None:
        refuse(str(line.run_id), line.seq, tr("it contains no addresses of hosts"))
    return Entry(str(line.run_id), line.seq, line.at, line.kind, line.step_id, data)


def addresses_in(text: str) -> dict[str, tuple[str, str]] | None:
    """Return host -> (address, whose ways in) of the note about hosts, None for a text that tells none."""
    try:
        found = _parsed(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(_is_texts(place) and len(place) == 2 for place in found.values()):
        return None
    return {name: (place[0], place[1]) for name, place in found.items()}


def refuse(run_id: str, seq: int, what: str) -> NoReturn:
    """Raise JournalDamaged: entry `seq` of a run is wrong in this."""
    raise JournalDamaged(
        tr("The journal of run {run} is damaged: entry {seq}, {what}.", run=run_id, seq=seq, what=what),
        safe=tr("The journal is unchanged; nothing was done."),
        try_=(tr("Check the hosts of the run by hand, and report this with the journal."),),
    )


def _object(line: ProcedureLine) -> dict[str, object]:
    try:
        data = _parsed(unsealed(line.data)[0])
    except ValueError:
        refuse(str(line.run_id), line.seq, tr("its content is not JSON"))
    except RecursionError:
        refuse(str(line.run_id), line.seq, tr("its content is nested too deep"))
    if not isinstance(data, dict):
        refuse(str(line.run_id), line.seq, tr("its content is not an object"))
    return data


def _parsed(text: str) -> object:
    """Return what a JSON text says. Raises ValueError (a number that none of ours is, too), RecursionError."""
    found = json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_constant)
    level, left = [found], _DEEPEST
    while level := [part for one in level for part in _parts(one)]:
        left -= 1
        if not left:
            raise RecursionError
    return found


def _parts(value: object) -> list[object]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in inside if isinstance(one, dict | list)]


def _int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(text[:20])
    return int(text)


def _float(text: str) -> float:
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(text[:20])
    return found


def _constant(text: str) -> NoReturn:
    raise ValueError(text)
