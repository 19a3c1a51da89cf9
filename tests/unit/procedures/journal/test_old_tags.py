"""Journals of before conditions had families still read: lines recorded by the version that wrote class names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from services.procedures.journal.codec import REGISTRY, decode, decode_all, encode
from services.procedures.journal.old_tags import OLD_TAGS
from services.procedures.plan.condition import Condition
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.waiting_words import waiting_words

_LINES = (Path(__file__).parents[1] / "recorded" / "old_tags.jsonl").read_text(encoding="utf-8").splitlines()
CONDITIONS: Any = json.loads(_LINES[0])
"""One of each kind, as a journal kept it."""
PLANNED: Any = json.loads(_LINES[1])
"""The first entry of a run of freeze-gcache on scripted hosts."""


def test_that_every_condition_of_an_old_journal_reads_with_all_its_fields() -> None:
    found = decode_all(Condition, CONDITIONS)  # type: ignore[type-abstract]
    assert {data["is"] for data in CONDITIONS} == set(OLD_TAGS)
    assert {one.tag for one in found} == set(OLD_TAGS.values()) <= set(REGISTRY)
    for old, new in zip(CONDITIONS, json.loads(json.dumps(encode(found))), strict=True):
        assert new["is"] == OLD_TAGS[old["is"]]
        assert {name: new[name] for name in _fields(old)} == _fields(old)  # a field that came later has its default


def _fields(old: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in old.items() if name != "is"}


def test_that_the_plan_of_an_old_journal_reads_and_breaks_no_rule() -> None:
    plan = decode(Plan, PLANNED["data"]["plan"])
    assert [step.step_id for step in plan.steps] == [step["step_id"] for step in PLANNED["data"]["plan"]["steps"]]
    assert plan.quorums == (tuple(PLANNED["data"]["plan"]["quorum"]),) == (("n1", "n2", "n3"),)
    assert violations(plan, begun=True) == ()
    assert "the server of n3 to be stopped" in waiting_words(plan.step("stop-n3").proof)
    assert decode(Plan, encode(plan)) == plan
