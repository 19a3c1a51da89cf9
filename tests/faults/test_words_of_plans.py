"""What a person reads of the plans of all procedures: no name of a class of the program stands in it."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from app.cli.procedure_text import check_lines, plan_lines
from services.procedures import conditions
from services.procedures.plan.actions import Action
from services.procedures.plan.finding import conditions_of
from services.procedures.plan.waiting_words import waiting_words
from tests.faults.cases import CASES, Case

_KINDS = [*conditions_of(conditions).values(), *get_args(Action)]
CLASSES = frozenset(kind.__name__ for kind in _KINDS if re.search(r"[a-z][A-Z]", kind.__name__))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.title))
def test_that_no_class_is_named_in_a_plan_its_checks_or_what_it_waits_for(case: Case) -> None:
    checks, plan = case.bench().plan()
    text = "\n".join((*plan_lines(plan, {}), *check_lines(checks)))
    text += "\n".join(waiting_words((*step.before, *step.proof, *step.already)) for step in plan.steps)
    assert len(CLASSES) > 20
    assert CLASSES & set(re.findall(r"[A-Za-z]+", text)) == set()
