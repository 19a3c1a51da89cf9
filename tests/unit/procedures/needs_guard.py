"""A guard for tests: what a procedure asks of a host's facts must be what its card says that it needs.

In production a part that was not asked for is 'not known', which could hide a check that forgot to ask for it. While
the guard stands, each question, check and plan of every test fails that looks at a part which the card does not name,
and each look at a condition that takes from the plan's facts more than is read for every run.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from services.procedures import conditions
from services.procedures.catalogue import all_procedures
from services.procedures.plan.finding import conditions_of
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.looks import LOOKED_AT
from services.procedures.plan.part import Part
from services.procedures.plan.parts.galera.data_size import DataSize
from services.procedures.plan.parts.galera.gcache import Gcache
from services.procedures.plan.procedure import About, Procedure

ANSWERS = ("fields", "faults", "preflight", "plan", "continued")
FOR_PROGRESS = frozenset({DataSize, Gcache})
"""Of these a look takes what is there, to tell how far an SST has come; without them it tells no progress."""
_ANSWERING: ContextVar[About | None] = ContextVar("_ANSWERING", default=None)
asked: dict[str, set[type[Part]]] = defaultdict(set)
"""Name of a procedure -> the parts that it has looked at, in all tests of this process so far."""


_looked_on: list[frozenset[int]] = []
"""The hosts of the plan's facts (by identity) of the looks that are under way, on whatever thread."""


class NotNeeded(AssertionError):  # noqa: N818 - it says what is wrong
    """A procedure looked at a part of the facts that its card does not name."""


def stand(patch: pytest.MonkeyPatch, *procedures: Procedure) -> None:
    """Watch these procedures, else every one of the catalogue, until the patch is undone."""
    real = HostFacts.__getitem__

    def watched(host: HostFacts, kind: type[Part]) -> Part:
        card = _ANSWERING.get()
        if card is not None:
            asked[card.name].add(kind)
            if kind not in card.needs:
                raise NotNeeded(f"{card.name} looks at {kind.__name__}, which its card does not name under `needs`")
        if kind not in LOOKED_AT | FOR_PROGRESS and any(id(host) in planned for planned in _looked_on):
            raise NotNeeded(f"a look takes {kind.__name__} from the plan's facts, which is not read for every run")
        return real(host, kind)

    patch.setattr(HostFacts, "__getitem__", watched)
    for procedure in procedures or all_procedures():
        for name in ANSWERS:
            patch.setattr(type(procedure), name, _answering(getattr(type(procedure), name)))
    for condition in conditions_of(conditions).values():
        if "look" in vars(condition):
            patch.setattr(condition, "look", _looking(condition.look))


def _answering(answer: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(answer)
    def answered(procedure: Procedure, *args: Any) -> Any:
        before = _ANSWERING.set(procedure.about)
        try:
            return answer(procedure, *args)
        finally:
            _ANSWERING.reset(before)

    return answered


def _looking(look: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(look)
    def looked(condition: object, asking: Any) -> Any:
        facts = asking.facts
        _looked_on.append(frozenset(map(id, facts.hosts)) if facts is not None else frozenset())
        try:
            return look(condition, asking)
        finally:
            _looked_on.pop()

    return looked
