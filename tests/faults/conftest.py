"""Thousands of consoles read the same plan: reading and judging one twice gives the same, so once is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from services.procedures.journal.codec import checks_in, plan_in
from services.procedures.plan.invariants.plans import violations
from tests.unit.procedures import needs_guard, ways_guard

_REMEMBERED = 64
"""A plan takes a megabyte: those of the benches of some runs, not of a whole stage."""


@pytest.fixture(autouse=True, scope="session")
def _each_plan_is_read_once() -> Iterator[None]:
    """Remember by the identity of what is read: journals of one bench share their entries, plans their steps."""
    with pytest.MonkeyPatch.context() as patch:
        for read in (plan_in, checks_in):  # they write the whole plan out to look it up
            patch.setattr(f"services.procedures.journal.projection.{read.__name__}", _remembering(read))
        patch.setattr("services.procedures.engine.approving.violations", _remembering(violations))
        # The rest of a plan is made anew by each console: equal to what the ones before it have made.
        patch.setattr("services.procedures.engine.steps.violations", cache(violations))
        yield


@pytest.fixture(autouse=True, scope="session")
def _only_what_a_card_needs_is_looked_at() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        needs_guard.stand(patch)
        ways_guard.stand(patch)
        yield


def _remembering(pure: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[tuple[int, str], tuple[Any, Any]] = {}

    def called(*args: Any, **how: Any) -> Any:
        key = (id(args[-1]), str(how))
        if key not in known or known[key][0] is not args[-1]:
            if len(known) >= _REMEMBERED:
                known.clear()
            known[key] = (args[-1], pure(*args, **how))
        return known[key][1]

    return called
