"""What a plan's data and its laws say is worked out once for each plan, and every other plan has its own answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from services.errors import StoreError
from services.procedures.journal import codec
from services.procedures.journal.codec import checks_in, encode, plan_in
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.invariants import plans as invariants
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.unit.procedures.plans import GOOD

CHECKS = (Check("DISK-FREE", "Disk", Verdict.PASS, "10 GiB"),)


def stored(value: object) -> Any:
    """Return a value as a journal gives it back: new lists and dicts each time."""
    return json.loads(json.dumps(encode(value)))


def with_limit(limit_s: float) -> Plan:
    return replace(GOOD, steps=(replace(GOOD.steps[0], limit_s=limit_s), *GOOD.steps[1:]))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Return the plans that the laws were really held against."""
    seen: list[Plan] = []

    def looks(plan: Plan) -> Iterator[str]:
        seen.append(plan)
        return iter(())

    monkeypatch.setattr(invariants, "_RULES", (*invariants._RULES, looks))
    return seen


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the kinds of values that were really read from data, with nothing remembered from before."""
    seen: list[str] = []
    real = codec._read

    def counts(hint: Any, data: object, where: str) -> object:
        seen.append(where)
        return real(hint, data, where)

    monkeypatch.setattr(codec, "_read", counts)
    codec._plan_of.cache_clear()
    codec._checks_of.cache_clear()
    yield seen
    codec._plan_of.cache_clear()
    codec._checks_of.cache_clear()


def test_that_the_laws_are_held_against_a_plan_once(judged: list[Plan]) -> None:
    plan = with_limit(0.0)
    first = violations(plan, begun=True)
    assert first == violations(plan, begun=True) != ()
    assert len(judged) == 1
    assert judged[0] is plan


def test_that_a_begun_run_and_a_new_plan_are_judged_apart(judged: list[Plan]) -> None:
    plan = with_limit(31.0)
    violations(plan, begun=True)
    violations(plan)
    assert len(judged) == 2


def test_that_another_plan_has_its_own_answer_even_where_it_is_equal(judged: list[Plan]) -> None:
    good, bad, equal = with_limit(30.0), with_limit(0.0), with_limit(0.0)
    assert violations(good, begun=True) == ()
    assert violations(bad, begun=True) == violations(equal, begun=True) != ()
    assert [id(plan) for plan in judged] == [id(good), id(bad), id(equal)]


def test_that_plans_which_come_and_go_are_never_taken_for_one_another() -> None:
    """A plan that is gone leaves its place in memory to the next: that one is judged by itself."""
    for number in range(60):
        limit_s = float(number % 2)
        assert bool(violations(with_limit(limit_s), begun=True)) == (limit_s == 0.0), number


def test_that_no_more_than_eight_plans_are_remembered() -> None:
    for number in range(40):
        plan = with_limit(number + 1.0)
        violations(plan, begun=True)
        assert plan_in(stored(plan)) == plan
    for remembered in (invariants._broken_rules, codec._plan_of, codec._checks_of):
        assert remembered.cache_info().currsize <= 8


def test_that_the_data_of_a_plan_are_read_once_however_often_a_journal_gives_them_back(read: list[str]) -> None:
    plan = plan_in(stored(GOOD))
    known = len(read)
    assert known > 0
    assert plan_in(stored(GOOD)) is plan
    assert len(read) == known
    assert plan == GOOD


def test_that_a_checklist_is_read_once_too(read: list[str]) -> None:
    assert checks_in(stored(CHECKS)) is checks_in(stored(CHECKS))
    assert read.count("Check") == 1
    assert checks_in(stored(CHECKS)) == CHECKS


def test_that_data_which_were_changed_meanwhile_are_another_plan(read: list[str]) -> None:
    data = stored(GOOD)
    first = plan_in(data)
    data["title"] = "Something else"
    assert (first.title, plan_in(data).title) == (GOOD.title, "Something else")


def test_that_numbers_which_are_equal_but_written_otherwise_are_read_apart(read: list[str]) -> None:
    whole, broken = stored(with_limit(30.0)), stored(with_limit(30.0))
    whole["steps"][0]["limit_s"] = 30
    assert [type(plan_in(data).steps[0].limit_s) for data in (broken, whole)] == [float, int]
    broken["steps"][0]["repeatable"] = 1
    with pytest.raises(StoreError, match=r"Step\.repeatable is no bool"):
        plan_in(broken)


def test_that_a_damaged_plan_is_refused_each_time_it_is_read(read: list[str]) -> None:
    for data in (None, [], {"is": "Plan"}, {"is": "Plan", "title": object()}, {1: float("nan")}):
        for _ in range(2):
            with pytest.raises(StoreError):
                plan_in(data)


def test_that_threads_which_ask_at_once_have_the_same_answer() -> None:
    plans = [with_limit(float(number % 3)) for number in range(24)]
    alone = [(plan, bool(violations(plan, begun=True))) for plan in plans]
    with ThreadPoolExecutor(8) as threads:
        told = threads.map(lambda plan: (plan_in(stored(plan)), bool(violations(plan, begun=True))), plans)
        assert list(told) == alone
