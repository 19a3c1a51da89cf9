"""Plans as data: what goes into the journal comes out as it was, and nothing else does."""

from __future__ import annotations

import copy
import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import services.procedures.plan.actions
import services.procedures.plan.checks
import services.procedures.plan.condition
import services.procedures.plan.model
from services.clock import ManualClock
from services.connections.command import Command
from services.connections.sql.statement import Keyword, set_global
from services.errors import StoreError
from services.i18n import PSEUDO, install, tr
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.journal.codec import REGISTRY, decode, decode_all, encode
from services.procedures.plan.actions import WHERE_SET, Run, Sql
from services.procedures.plan.checks import Check, Override
from services.procedures.plan.condition import Condition, Declared
from services.procedures.plan.model import Later, Plan, Risk, Step
from services.procedures.plan.run_model import Question
from services.secrets import Secret
from tests.examples import examples
from tests.unit.procedures.any_values import any_value

STEP = Step("desync", "n1", "Desync n1", Sql(set_global("wsrep_desync", Keyword("ON"))), risk=Risk.CHANGES)
PLAN = Plan("x", "t", "s", "uuid", "name", ("n1",), (("n1",),), (("a", "b"),), (STEP,))


def through_json(value: object) -> Any:
    return json.loads(json.dumps(encode(value), allow_nan=False))


@given(any_value(Plan))
@settings(max_examples=examples(150))
def test_that_any_plan_comes_back_from_json_as_it_was(plan: Plan) -> None:
    assert decode(Plan, through_json(plan)) == plan


@given(any_value(Question), any_value(Check), any_value(Override))
@settings(max_examples=examples(50))
def test_that_questions_checks_and_overrides_come_back_as_they_were(
    question: Question, check: Check, override: Override
) -> None:
    assert decode(Question, through_json(question)) == question
    assert decode_all(Check, through_json((check,))) == (check,)
    assert decode_all(Override, through_json((override,))) == (override,)


def test_that_every_class_of_the_contracts_has_its_place_in_the_registry() -> None:
    for module in (
        services.procedures.plan.actions,
        services.procedures.plan.checks,
        services.procedures.plan.condition,
        services.procedures.plan.model,
    ):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__:
                assert REGISTRY.get(name) is kind or kind is Declared or issubclass(kind, Condition)


def test_that_tuples_and_enumerations_come_back_as_themselves() -> None:
    back = decode(Plan, through_json(PLAN))
    assert back.steps[0].risk is Risk.CHANGES
    assert isinstance(back.hosts, tuple)
    assert back.inputs == (("a", "b"),)
    assert str(back.steps[0].action.statement) == "SET GLOBAL wsrep_desync=ON"  # type: ignore[union-attr]


def test_that_every_field_is_written_out_so_that_a_later_default_changes_nothing() -> None:
    assert set(through_json(STEP)) == {"is", *(field.name for field in fields(Step) if WHERE_SET not in field.metadata)}
    later = {field.name for field in fields(Step) if WHERE_SET in field.metadata}
    set_ = {
        "goes_with": "a",
        "no_return": True,
        "later": Later("b", (), "c serves"),
        "interrupts": "d",
        "resumes": "e",
        "beside": (VariableIs("n1", "a", "b"),),
        "final": True,
        "relies_on": (VariableIs("n1", "a", "b"),),
    }
    told = through_json(replace(STEP, **set_))  # type: ignore[arg-type]
    assert set(told) - set(through_json(STEP)) == later == set(set_)


def test_that_a_secret_on_standard_input_is_refused() -> None:
    action = Run(Command(("mariadb",), stdin=Secret("hunter2")))
    with pytest.raises(StoreError, match="no secret") as caught:
        encode(action)
    assert "hunter2" not in caught.value.as_text()
    data = through_json(Run(Command(("mariadb",))))
    data["command"]["stdin"] = "hunter2"
    with pytest.raises(StoreError, match="damaged"):
        decode(Run, data)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_that_a_number_that_json_lacks_is_refused(number: float) -> None:
    with pytest.raises(StoreError, match="cannot store the number"):
        encode(StatusIs("n1", "a", "=", "1", for_s=number))


def test_that_classes_outside_the_registry_are_refused() -> None:
    with pytest.raises(TypeError, match="ManualClock"):
        encode(ManualClock())


def change(data: Any, path: tuple[str | int, ...], value: object) -> Any:
    changed = copy.deepcopy(data)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("steps", 0, "action", "is"), "Teleport", "newer Pilothouse.*Teleport"),
        (("steps", 0, "risk"), "philosophical", "newer Pilothouse.*philosophical"),
        (("steps", 0, "mood"), "good", "newer Pilothouse.*'mood' of Step"),
        (("steps", 0, "limit_s"), "long", "damaged.*Step.limit_s is no float"),
        (("steps", 0, "repeatable"), 1, "damaged.*Step.repeatable is no bool"),
        (("steps", 0, "action"), None, "damaged.*Step.action holds a NoneType"),
        (("steps", 0, "action"), {"is": "Kept", "name": "x"}, "damaged.*cannot be a Kept"),
        (("steps", 0), "desync", "damaged.*is no Step"),
        (("steps",), {}, "damaged.*is not a list"),
        (("inputs",), [["a"]], "damaged.*1 parts instead of 2"),
        (("steps", 0, "action", "statement", "bits", 0, "text"), "drop", "damaged.*not SQL keywords"),
        (("is",), "Step", "damaged.*is no Plan"),
        (("is",), 7, "damaged.*has no tag"),
    ],
)
def test_that_data_of_a_newer_version_and_damage_are_told_apart(
    path: tuple[str | int, ...], value: object, words: str
) -> None:
    with pytest.raises(StoreError, match=words):
        decode(Plan, change(through_json(PLAN), path, value))


def test_that_an_older_versions_missing_field_gets_its_default_and_a_needed_one_is_damage() -> None:
    data = through_json(PLAN)
    del data["steps"][0]["confirm"]
    assert decode(Plan, data) == PLAN
    del data["steps"][0]["title"]
    with pytest.raises(StoreError, match=r"Step\.title is missing"):
        decode(Plan, data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5) | st.just("is"), inner),
    )
)
def test_that_any_other_json_is_an_error_of_the_store_and_no_crash(data: object) -> None:
    with pytest.raises(StoreError):
        decode(Plan, data)


def test_that_a_translated_sentence_is_stored_in_english() -> None:
    install(PSEUDO)
    try:
        title = tr("Desync {host}", host="n1")
        assert title != "Desync n1"
        assert through_json(Step("a", "n1", title, STEP.action))["title"] == "Desync n1"
    finally:
        install("en")
