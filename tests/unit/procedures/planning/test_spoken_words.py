"""No sentence that a person reads shows the key of an input, and four sentences stand word for word everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli.approval_text import again_lines
from app.cli.procedure_text import card_lines, check_lines, plan_lines
from services.errors import BadInput
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.engine.parts import Policy
from services.procedures.plan import sentences
from services.procedures.plan.actions import Action, Ask, Checkpoint, Continue, Detached, Run, Several, WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.fields import Fault, Field, Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.model import Plan, Step
from services.procedures.plan.procedure import Procedure
from services.procedures.plan.run_model import RunState, RunView, StepState, StepView
from services.procedures.report.markdown import report_markdown
from services.procedures.report.spoken_inputs import spoken_answers, spoken_inputs
from tests.examples import examples
from tests.faults.cases import CASES, Case
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.random_facts import estates, typed
from tests.unit.procedures.engine_world import Bench, plan_of, work

EMPTY = Facts(0.0, "", "")
KEYS = frozenset(field.name for p in all_procedures() for field in p.fields(EMPTY, {})) | {"drained"}
RAW = re.compile(
    rf"\b(?:{'|'.join(sorted(key for key in KEYS if '_' in key))})\b|(?<![\w.-])(?:{'|'.join(sorted(KEYS))})="
)
EXAMPLES = settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
DOCUMENT = Path(__file__).parents[4] / "resources" / "docs" / "procedures.md"


def raw(texts: Iterable[str]) -> set[str]:
    """Return the sentences that show an input's key."""
    return {text for text in texts if RAW.search(text)}


def spoken(lines: Iterable[str], plan: Plan) -> Iterator[str]:
    """Leave out the lines of the programs that the plan's commands hand over: a shell's variable is no input's key."""
    undone = [step.undo.action for step in plan.steps if step.undo is not None]
    acts = [*(step.action for step in plan.steps), *undone]
    acts += [inner for act in acts if isinstance(act, Several) for inner in act.actions]
    shown = "\n".join(str(act.command) for act in acts if isinstance(act, Run | Detached))
    for line in (line for text in lines for line in text.splitlines()):
        plain = line.partition("   # detached")[0].strip()
        if plain not in shown and (not plain.startswith("$ ") or plain.partition(": ")[2] not in shown):
            yield line


def of_fields(fields: tuple[Field, ...], faults: tuple[Fault, ...]) -> Iterator[str]:
    for field in fields:
        yield from (field.title, field.help, *(meaning for _, meaning in field.choices))
    yield from (fault.sentence for fault in faults)


def of_checks(checks: tuple[Check, ...]) -> Iterator[str]:
    for check in checks:
        yield from (check.title, check.each, check.evidence, check.why, *check.try_)
        yield from (answer.advice for answer in check.answers)


def of_action(action: Action) -> Iterator[str]:
    if isinstance(action, Ask):
        yield from (action.question, *(meaning for _, meaning in action.choices))
    if isinstance(action, WaitFor | Continue):
        yield action.reason
    if isinstance(action, Checkpoint):
        yield action.sentence


def of_step(step: Step) -> Iterator[str]:
    yield from (step.title, step.done, step.why, *of_action(step.action))
    if step.takes is not None:
        yield from (step.takes.sentence, step.takes.danger)
    if step.undo is not None:
        yield step.undo.title
        yield from (step.undo.consent.question,) if step.undo.consent is not None else ()


def of_plan(plan: Plan) -> Iterator[str]:
    yield from (plan.title, plan.summary, *plan.expects, *spoken_answers(plan))
    for step in plan.steps:
        yield from of_step(step)
    yield from (rule.sentence for rule in plan.watches)
    yield from (text for chart in plan.charts for text in (chart.title, chart.limit_text))


def everything(procedure: Procedure, facts: Facts, inputs: Inputs) -> tuple[set[str], tuple[Check, ...]]:
    """Return all that a person may read of a procedure, and its checks: none where an input is at fault."""
    about, faults = procedure.about, procedure.faults(facts, inputs)
    texts = {about.title, about.need, about.what, about.takes, about.can_break}
    texts.update(of_fields(procedure.fields(facts, inputs), faults))
    if faults:
        return texts, ()
    checks = procedure.preflight(facts, inputs)
    texts.update((*of_checks(checks), *of_plan(procedure.plan(facts, inputs))))
    return texts, checks


# -- keys ------------------------------------------------------------------------------------------------------------
def test_that_the_search_finds_a_key_where_one_stands() -> None:
    assert raw(["Wait no longer than drain_limit.", "Or go without: guard=no.", "wsrep_node_name of n1"]) == {
        "Wait no longer than drain_limit.",
        "Or go without: guard=no.",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_that_no_sentence_of_a_procedure_shows_the_key_of_an_input(case: Case) -> None:
    facts = facts_of(case.bench().cluster)
    texts, _ = everything(procedure_named(case.name), facts, dict(case.inputs))
    assert raw(texts) == set()


@pytest.mark.parametrize("procedure", all_procedures(), ids=lambda p: p.about.name)
@given(data=st.data())
@EXAMPLES
def test_that_no_sentence_shows_one_and_nothing_unknown_passes_whatever_the_facts_and_inputs(
    procedure: Procedure, data: st.DataObject
) -> None:
    """Both are looked for in the same estate: it takes long to draw one."""
    facts = data.draw(estates())
    inputs = data.draw(typed(procedure, facts))
    texts, checks = everything(procedure, facts, inputs)
    assert [check.code for check in checks if check.not_known and check.verdict is Verdict.PASS] == []
    assert raw(texts) == set()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_that_neither_the_report_nor_a_new_approval_nor_the_terminals_plan_shows_one(case: Case) -> None:
    procedure, facts = procedure_named(case.name), facts_of(case.bench().cluster)
    inputs = dict(case.inputs)
    plan, checks = procedure.plan(facts, inputs), procedure.preflight(facts, inputs)
    steps = tuple(StepView(step, StepState.DONE) for step in plan.steps)
    view = RunView("7", plan, RunState.DONE, steps, checks, sentence="It is done.", started=1.0, ended=2.0)
    assert raw(spoken(report_markdown(view, ()).splitlines(), plan)) == set()
    told_lines = (*again_lines(view, {}), *plan_lines(plan, {}), *card_lines(procedure.about))
    assert raw(spoken(told_lines, plan)) == set()
    words = "\n".join(line for line in check_lines(checks) if "--input" not in line)
    assert raw(words.splitlines()) == set()


def test_that_every_input_of_every_plan_is_called_by_its_questions_words() -> None:
    for case in CASES:
        procedure, facts = procedure_named(case.name), facts_of(case.bench().cluster)
        plan, inputs = procedure.plan(facts, dict(case.inputs)), dict(case.inputs)
        titles = {field.name: field.title for field in procedure.fields(facts, inputs)} | {
            "drained": "Clients that were refused before"
        }
        assert spoken_inputs(plan) == {name: titles[name] for name, _ in plan.inputs}


def test_that_an_input_of_a_procedure_that_is_no_more_is_read_without_its_underscores() -> None:
    case = CASES[0]
    plan = procedure_named(case.name).plan(facts_of(case.bench().cluster), dict(case.inputs))
    old = type(plan)(**{**{f: getattr(plan, f) for f in plan.__slots__}, "procedure": "gone",
                        "inputs": (("drain_limit", "2 min"), ("reason", ""))})  # fmt: skip
    assert spoken_answers(old) == ("drain limit: 2 min",)


# -- what is not known -----------------------------------------------------------------------------------------------
def test_that_what_could_not_be_read_is_told_as_not_known_and_never_as_a_pass() -> None:
    dark = Check("CLOCKS", "The clocks agree", Verdict.WARN, "not read: n1", not_known=True)
    block = Check("DISK-FREE", "Free disk", Verdict.BLOCK, "not read", not_known=True)
    assert (dark.result, block.result) == ("not known", "block")
    assert list(check_lines((dark,))) == ["  ?     CLOCKS  The clocks agree: not read: n1"]
    case = CASES[0]
    plan = procedure_named(case.name).plan(facts_of(case.bench().cluster), dict(case.inputs))
    report = report_markdown(RunView("7", plan, RunState.DONE, (), (dark, block)), ())
    assert "1 block, 1 not known" in report


# -- a check on several hosts ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_that_what_is_looked_at_host_by_host_can_be_said_once_for_all(case: Case) -> None:
    checks = procedure_named(case.name).preflight(facts_of(case.bench().cluster), dict(case.inputs))
    by_kind: dict[str, set[str]] = {}
    for check in checks:
        if check.host:
            by_kind.setdefault(check.code.removesuffix(f"-{check.host.upper()}"), set()).add(check.each)
    on_several = {
        kind: said
        for kind, said in by_kind.items()
        if sum(c.host != "" and c.code.removesuffix(f"-{c.host.upper()}") == kind for c in checks) > 1
    }
    assert on_several or len({c.host for c in checks if c.host}) == 1  # of one set its primary speaks
    assert {kind: said for kind, said in on_several.items() if len(said) != 1 or "" in said} == {}


# -- four sentences --------------------------------------------------------------------------------------------------
def test_that_the_documents_have_the_sentences_word_for_word() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    said = (sentences.BLOCKED, sentences.APPROVAL_NEEDED, sentences.OUTCOME_UNKNOWN, sentences.CANCELLED)
    assert said == (
        "Blocking checks remain: nothing is run.",
        "Approval needed; no terminal attached.",
        "Started; outcome unknown.",
        "You cancelled this step.",
    )
    assert [sentence for sentence in said if sentence not in text] == []


def test_that_a_run_with_a_standing_block_says_that_blocking_checks_remain() -> None:
    block = Check("DISK-FREE", "Free disk", Verdict.BLOCK, "2 GB on n1")
    with pytest.raises(BadInput, match=r"^Blocking checks remain: nothing is run\.$"):
        Bench(plan_of(work("n1", "data")), checks=(block,)).run()


def test_that_a_step_that_a_person_broke_off_says_so() -> None:
    bench = Bench(plan_of(work("n1", "data")), policy=Policy("ask", by="ann"))
    engine = bench.engine()
    bench.world.after["work-n1"] = bench.control.cancel
    bench.world.fails["late work-n1"] = [BadInput("The work was stopped.", host="n1")]
    bench.person.answers = {"failed": ["leave"]}
    assert engine.run() is RunState.LEFT
    assert bench.view.steps[0].error == "You cancelled this step."
    assert any("You cancelled this step." in view.sentence for view in bench.views)
