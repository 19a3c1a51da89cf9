"""Every condition has its double on the cluster in memory, and no double is without one."""

from __future__ import annotations

import pytest

from services.procedures import conditions
from services.procedures.plan.finding import BadlyNamed, conditions_of
from tests.faults.scripted import doubles
from tests.faults.scripted.double import doubles_of


def test_that_every_condition_has_one_double_and_no_double_is_without_a_condition() -> None:
    assert set(doubles_of(doubles)) == set(conditions_of(conditions))


def test_that_two_doubles_of_one_condition_are_refused_by_both_names() -> None:
    with pytest.raises(BadlyNamed, match=r"Two doubles answer for '[a-z_.-]+'"):
        doubles_of(doubles, doubles)
