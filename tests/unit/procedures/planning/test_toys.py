"""A condition, its fact and a procedure from a folder of the tests: nothing of production is edited for them.

They are found as production's own are, and planned, rehearsed, run, killed and resumed with the same engine.
"""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.procedures import catalogue, conditions
from services.procedures.engine.rehearsal import rehearse
from services.procedures.journal import codec
from services.procedures.journal.codec import decode, encode
from services.procedures.plan.condition import Condition
from services.procedures.plan.finding import BadlyNamed, conditions_of, procedures_of
from services.procedures.plan.invariants.plans import kept_by, touched, violations
from services.procedures.plan.model import Plan
from services.procedures.plan.run_model import RunState
from services.procedures.plan.waiting_words import waiting_words
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.double import doubles_of
from tests.faults.scripted.proving import DOUBLES, ScriptedProver
from tests.faults.scripted.running import Bench
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts
from tests.unit.procedures.toys import catalogue as toy_catalogue
from tests.unit.procedures.toys import conditions as toy_conditions
from tests.unit.procedures.toys import doubles as toy_doubles
from tests.unit.procedures.toys import strayed, twice
from tests.unit.procedures.toys.conditions.toy.flag import FlagFlies

NAMES = ("n1", "n2", "n3")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A cluster of three and the toy procedure; the toys are known while the test lasts, and no longer."""
    for tag, kind in conditions_of(toy_conditions).items():
        monkeypatch.setitem(codec.REGISTRY, tag, kind)
    for tag, answers in doubles_of(toy_doubles).items():
        monkeypatch.setitem(DOUBLES, tag, answers)
    monkeypatch.setattr(catalogue, "_ALL", procedures_of(catalogue, toy_catalogue))
    return Bench(whole(*NAMES), "hoist-flag", {"colour": "red"})


def test_that_a_toy_is_found_by_its_folder_and_production_has_none() -> None:
    assert conditions_of(toy_conditions) == {"toy.flag-flies": FlagFlies}
    assert [one.about.name for one in procedures_of(toy_catalogue)] == ["hoist-flag", "raise-ceiling"]
    assert not any(tag.startswith("toy.") for tag in conditions_of(conditions))


def test_that_two_files_with_one_tag_are_refused_by_both_names() -> None:
    with pytest.raises(BadlyNamed, match=r"Two conditions are tagged 'toy\.same'.*One.*Other"):
        conditions_of(twice)


def test_that_a_condition_outside_the_folder_of_its_family_is_refused() -> None:
    with pytest.raises(BadlyNamed, match=r"Strayed is tagged 'toy\.same', and is in 'other'"):
        conditions_of(strayed)


def test_that_two_procedures_of_one_name_are_refused() -> None:
    with pytest.raises(BadlyNamed, match="Two procedures are called 'hoist-flag'"):
        procedures_of(toy_catalogue, toy_catalogue)


def test_that_a_toy_is_planned_kept_and_said_without_an_edit_of_production(bench: Bench) -> None:
    checks, plan = bench.plan()
    assert [check.code for check in checks] == ["TOY-MEMBERS"]
    assert violations(plan) == ()
    assert touched(plan.steps) == set(NAMES)
    assert kept_by(plan.steps) == {f"flag-{name}" for name in NAMES}
    assert waiting_words(plan.steps[0].proof) == "the flag of n1 to fly"
    data = json.loads(json.dumps(encode(plan)))
    assert data["steps"][0]["already"][0] == {"is": "toy.flag-flies", "host": "n1", "colour": "red", "keep": ""}
    assert decode(Plan, data) == plan


def test_that_a_toy_is_rehearsed_on_scripted_hosts(bench: Bench) -> None:
    rehearsal = rehearse(bench.plan()[1], ScriptedProver(bench.cluster))
    assert [step.would for step in rehearsal.steps] == ["act", "act", "act"]
    assert rehearsal.unread == ()


def test_that_a_toy_runs_and_goes_back_after_a_kill_at_any_entry_on_scripted_hosts(bench: Bench) -> None:
    untouched = bench.cluster.state()
    bench.begin()
    moments = bench.moments(bench.run)
    assert bench.engine().view.state is RunState.DONE
    assert dict(bench.engine().view.kept)["flag-n3"] == "red"
    wanted = bench.cluster.state()
    for moment in moments:
        resumed = bench.after_kill(moment)
        assert resumed.run() is RunState.DONE, moment.name
        assert resumed.cluster.state() == wanted, moment.name
    for moment in moments[:-1]:
        back = bench.after_kill(moment)
        if back.engine().view.state in {RunState.DONE, RunState.NOT_STARTED}:
            continue
        assert back.engine().undo() is RunState.UNDONE, moment.name
        assert back.cluster.state() == untouched, moment.name


@pytest.mark.parametrize(("text", "holds"), [("flag = red\n", True), ("flag = blue\n", False), ("", False)])
def test_that_the_look_of_a_toy_reads_over_scripted_sessions(text: str, holds: bool) -> None:
    hosts = ScriptedHosts("n1")
    hosts.sessions["n1"].programs["cat"] = Output(0, text.encode(), b"")
    answer = Attempt(hosts, ManualClock()).look(FlagFlies("n1", "red", keep="flag"), NOTHING)
    assert answer.holds is holds
    assert dict(answer.kept)["flag"] == text.strip().removeprefix("flag = ")


def test_that_every_condition_of_production_stands_whole_in_one_file() -> None:
    for tag, kind in conditions_of(conditions).items():
        assert kind.tag == tag
        assert kind.look is not Condition.look
        assert all(field.name not in {"tag", "words"} for field in fields(kind))
