"""A guard for tests: every check that blocks opens a way, in each state that any test makes.

The ways themselves are walked in tests/faults/walking/test_walk.py; here no state, of the many in which something
can't be read, ends with a refusal that says nothing of what to do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from services.procedures.catalogue import all_procedures
from services.procedures.plan.checks import Check, Verdict


def stand(patch: pytest.MonkeyPatch) -> None:
    """Watch the checklists of every procedure until the patch is undone."""
    for procedure in all_procedures():
        kind = type(procedure)
        patch.setattr(kind, "preflight", _watched(kind.preflight, lambda checks: checks))
        patch.setattr(kind, "continued", _watched(kind.continued, lambda answered: answered[0]))


def _watched(make: Callable[..., Any], checks_of: Callable[[Any], Iterable[Check]]) -> Callable[..., Any]:
    @functools.wraps(make)
    def made(*args: Any) -> Any:
        answered = make(*args)
        for check in checks_of(answered):
            opens = check.try_ or check.answers or check.commands
            assert opens or check.verdict is not Verdict.BLOCK, f"{check.code} opens no way: {check.evidence}"
        return answered

    return made
