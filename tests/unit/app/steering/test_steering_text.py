"""Procedures as text, and the person at the terminal: pure, on synthetic values."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.commands.plan import _refuse_faults
from app.cli.procedure_text import (
    WIDTH,
    card_lines,
    check_lines,
    fault_lines,
    field_lines,
    obligation_lines,
    place_of,
    plan_lines,
    problem_lines,
    run_lines,
    step_line,
)
from app.cli.run_document import run_document
from app.cli.steering import Terminal, fitting, interruptible
from services.discovery.words import clock, moment
from services.errors import BadInput
from services.facts.model import Problem
from services.procedures.catalogue import all_procedures, procedure_named
from services.procedures.engine.control import Control
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Check, Override, Remedy, Verdict
from services.procedures.plan.forms.fields import Fault, Field
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.model import Breach
from services.procedures.plan.run_model import Broken, OpenObligation, Question, RunState, RunView, StepState, StepView
from services.procedures.service.service import Draft
from tests.unit.procedures.facts_of_three import facts as facts_of_three
from tests.unit.procedures.facts_of_three import host
from tests.unit.procedures.plans import FREEZE, GOOD, edit, freeze, plan_of, wipe

YES_NO = Question(Ask("Is it done?"), "ask")
TYPED = Question(Ask("Its data is deleted.", "typed", expect="n2"), "wipe-n2")
FAILED = Question(Ask("It failed.", "choice", choices=(("again", "once more"), ("undo", "back"))), "x", "failed")
BREACH = Question(Ask("A rule broke.", "choice", choices=(("go on", "all the same"),)), "x", "breach")
CONTINUED = Question(Ask("The plan goes on."), "", "continued")


def _terminal_of(view: RunView, capsys: pytest.CaptureFixture[str]) -> tuple[Terminal, str]:
    terminal = Terminal(machine=False, attended=True)
    terminal.run_changed(view)
    return terminal, capsys.readouterr().out


def test_that_a_breach_is_printed_at_once_though_a_question_stands_and_an_old_one_is_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Broken(1.0, "OLD", "Old news.", "", Breach.PAUSE)
    view = RunView("1", GOOD, RunState.WAITING, (), question=YES_NO, broken=(old,))
    terminal, said = _terminal_of(view, capsys)
    assert said == ""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    new = Broken(2.0, "OTHERS-STAY", "n1 is no full member any more.", "only 1 of 2 answer", Breach.PAUSE)
    terminal.run_changed(replace(view, broken=(old, new)))
    said = capsys.readouterr().out
    assert said.startswith("\a\n  ▲ ")
    assert "OTHERS-STAY: n1 is no full member any more. (only 1 of 2 answer)" in said
    assert "Nothing was changed because of it; the run asks you before its next action." in said
    assert "try: Check the host now" in said
    terminal.run_changed(replace(view, broken=(old, new)))
    assert capsys.readouterr().out == ""
    terminal.run_changed(replace(view, broken=(old, replace(new, over=60.0, holds="2 of 2 answer"))))
    assert f"It has held again for 10 s, as of {clock(60.0)}. (2 of 2 answer)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("live", "unknown", "word"),
    [
        (True, False, "[running]"),
        (False, False, "[interrupted while running]"),
        (False, True, "[running, or interrupted: not known here]"),
    ],
)
def test_that_a_run_that_nobody_drives_is_not_said_to_run(live: bool, unknown: bool, word: str) -> None:
    view = RunView("1", GOOD, RunState.RUNNING, (), live=live, driver_unknown=unknown)
    assert next(run_lines(view)).endswith(word)


def test_that_an_obligation_says_when_it_was_last_seen_on() -> None:
    never = OpenObligation("1", FREEZE, 1.0)
    assert "never seen on: it was announced 1970" in next(obligation_lines((never,)))
    assert "last seen on 2020" in next(obligation_lines((replace(never, seen=1_600_000_000.0),)))
    off = replace(never, seen=1_600_000_000.0, seen_off=1_640_000_000.0)
    assert f"last seen on {moment(1.6e9)}, no longer at {moment(1.64e9)}" in next(obligation_lines((off,)))


def test_that_every_card_fits_the_width_and_says_what_can_break() -> None:
    for procedure in all_procedures():
        lines = list(card_lines(procedure.about))
        assert lines[0] == f"{procedure.about.name}  -  {procedure.about.title}"
        assert [line[:12] for line in lines[1:] if line[2:3].strip()] == [
            "  does      ",
            "  takes     ",
            "  can break ",
        ]
        assert max(len(line) for line in lines) <= WIDTH


def test_that_questions_are_shown_as_they_are_given() -> None:
    fields = (
        Field("node", "Node", "host", "n2", (("n1", "Synced"), ("n2", "a replica"))),
        Field("option", "Option", "text", required=False),
    )
    assert list(field_lines(fields)) == [
        "  --input node=n2   Node",
        "        n1: Synced",
        "        n2: a replica",
        "  --input option=…   Option",
    ]


def test_that_a_fault_of_the_whole_form_is_named_so() -> None:
    assert list(fault_lines((Fault("node", "Node is needed."), Fault("", "They contradict.")))) == [
        "  --input node: Node is needed.",
        "  They contradict.",
    ]


def test_that_what_could_not_be_read_is_told_once_with_its_host() -> None:
    problem = Problem("sql", "No answer.")
    facts = Facts(1.0, "", "", hosts=(HostFacts("n1", problems=(problem, problem)), HostFacts("n2")),
                  problems=(Problem("cluster", "Nobody answers."),))  # fmt: skip
    assert list(problem_lines(facts)) == ["Nobody answers.", "n1: No answer."]
    assert list(problem_lines(facts, frozenset({"n2"}))) == ["Nobody answers."]


@pytest.mark.parametrize(
    ("name", "inputs", "told"),
    [
        ("rolling-restart", {"option": "max_connections"}, False),
        ("rolling-restart", {"option": "max_connections", "nodes": "n1, spare"}, True),
        ("add-node", {"joiner": "nobody"}, True),
    ],
)
def test_that_a_refused_input_tells_of_an_unread_host_only_where_the_plan_may_be_about_it(
    name: str, inputs: dict[str, str], told: bool
) -> None:
    """The spare's tunnel is refused: that is no advice for a restart of the members."""
    lost = HostFacts("spare", problems=(Problem("sql", "The host refused a tunnel."),))
    seen = facts_of_three(host("n1"), host("n2"), host("n3"))
    seen = replace(seen, candidates=("spare",), hosts=(*seen.hosts, lost))
    procedure = procedure_named(name)
    fields, faults = procedure.fields(seen, inputs), procedure.faults(seen, inputs)
    assert faults
    draft = Draft(procedure.about, seen, fields, filled(fields, inputs), faults)
    with pytest.raises(BadInput) as refused:
        _refuse_faults(draft, ())
    assert ("spare: The host refused a tunnel." in refused.value.try_) is told


CHECKS = (
    Check("CLOCKS", "The clocks agree", Verdict.PASS, "0.1 s apart", "Certificates.", ("Start chrony.",)),
    Check("DISK-FREE", "There is room", Verdict.BLOCK, "1 GB", "It fills.", ("Make room.",)),
    Check("FOREIGN-DATA", "It is ours", Verdict.BLOCK, "another uuid", absolute=True),
    Check("BALANCER", "The balancer is told", Verdict.WARN, "haproxy on n1"),
)


def test_that_what_passed_takes_one_line_and_what_did_not_says_why_and_what_to_try() -> None:
    assert list(check_lines(CHECKS)) == [
        "  ok    CLOCKS  The clocks agree: 0.1 s apart",
        "  BLOCK DISK-FREE  There is room: 1 GB",
        "          It fills.",
        "          try: Make room.",
        "  BLOCK FOREIGN-DATA  It is ours: another uuid",
        "          This block can not be overridden.",
        "  warn  BALANCER  The balancer is told: haproxy on n1",
    ]


def test_that_an_answer_that_would_do_is_told_as_input_takes_it_and_a_command_as_it_is_typed() -> None:
    answers = (Remedy("Choose the side to keep", "bootstrap", ("s1", "s3")), Remedy("Take s2 out", "gone"))
    check = Check("HISTORY", "One past", Verdict.BLOCK, "forked", answers=answers, commands=("pilothouse settle",))
    assert list(check_lines((check,)))[1:] == [
        "          try: Choose the side to keep: --input bootstrap=s1 or --input bootstrap=s3",
        "          try: Take s2 out: --input gone=…",
        "          try: pilothouse settle",
    ]


def test_that_an_override_is_shown_at_its_block_and_never_at_an_absolute_one() -> None:
    lines = list(check_lines(CHECKS, (Override("DISK-FREE", "it shrinks"), Override("FOREIGN-DATA", "I know"))))
    assert "          overridden: it shrinks" in lines
    assert not any("I know" in line for line in lines)


def test_that_a_plan_shows_each_step_with_its_exact_text_risk_undo_and_obligation() -> None:
    plan = plan_of(freeze(), edit("n2"), wipe("n2"))
    assert list(plan_lines(plan, {"n1": "10.0.0.1", "n2": "n2", "n9": "10.0.0.9"})) == [
        "Take n2 down without SST",
        "  n1 keeps its gcache while n2 is away.",
        "  3 steps, about 1 s",
        "  on n1 (10.0.0.1), n2, n3",
        "   1. n1       Freeze the gcache of n1   [changes, 1 s]",
        "        $ n1: SET GLOBAL wsrep_provider_options='gcache.freeze_purge_at_seqno=now';",
        "        obligation: gcache frozen on n1",
        "        undo: Unfreeze the gcache of n1",
        "   2. n2       Name n2's donor   [changes]",
        "        $ n2: edit /etc/my.cnf [mysqld]",
        "        $ n2: + wsrep_sst_donor = n1,",
        "        $ n2: + wsrep_sst_auth = ******** (copied from n1: [mysqld] a)",
        "        undo: Put the option file back",
        "   3. n2       Delete the data of n2   [cannot be undone]",
        "        $ n2: sudo rm -r /var/lib/mysql/x",
        "        to be confirmed with --confirm n2",
    ]


def test_that_a_plan_without_steps_says_that_nothing_is_to_be_done() -> None:
    assert list(plan_lines(plan_of(), {}))[-1] == (
        "  Nothing to do: the cluster is already as this procedure would leave it."
    )


def test_that_a_step_is_told_in_the_past_when_it_is_done_and_with_its_error_when_it_failed() -> None:
    done = StepView(freeze(), StepState.DONE, 10.0, 13.0, said="nothing of interest")
    assert step_line(done, 1) == "●  1. n1       The gcache of n1 is frozen  [done]  3.0 s"
    failed = StepView(freeze(), StepState.FAILED, 10.0, 13.0, error="No answer.")
    assert step_line(failed, 12) == "■ 12. n1       Freeze the gcache of n1  [failed]  3.0 s\n        No answer."


OPEN = OpenObligation("1", FREEZE, 5.0, "n1 does not answer.", seen=7.0)
VIEW = RunView(
    "1", GOOD, RunState.WAITING, tuple(StepView(step) for step in GOOD.steps), sentence="It waits.", question=YES_NO,
    obligations=(OPEN,), broken=(Broken(6.0, "DISK", "disk: it fills", "", Breach.PAUSE),),
)  # fmt: skip


def test_that_a_run_tells_its_state_steps_breaches_obligations_and_question() -> None:
    lines = list(run_lines(VIEW))
    assert lines[:2] == [f"run 1: Take n2 down without SST  ({GOOD.cluster_name})  [waiting for you]", "  It waits."]
    assert lines[2] == "  ○  1. n1       Freeze the gcache of n1  [pending]"
    assert lines[-5:] == [
        f"  ▲ {clock(6.0)} disk: it fills",
        f"  ! gcache frozen on n1 (the disk of n1 fills); last seen on {moment(7.0)}",
        "      n1 does not answer.",
        "  waits for you: Is it done?",
        "    in a script: --answer yes",
    ]


def test_that_an_obligation_without_a_danger_has_no_empty_brackets() -> None:
    one = replace(OPEN, obligation=replace(FREEZE, danger=""), release_failed="")
    assert list(obligation_lines((one,))) == [f"  ! gcache frozen on n1; last seen on {moment(7.0)}"]


def test_that_what_is_on_in_one_of_several_clusters_is_told_with_cluster_and_address() -> None:
    one = replace(OPEN, obligation=replace(FREEZE, danger=""), release_failed="")
    place = place_of(one, VIEW, {FREEZE.host: "10.0.0.5"})
    assert place == f"{GOOD.cluster_name}, {FREEZE.host} (10.0.0.5)"
    (line,) = obligation_lines((one,), {(one.run_id, FREEZE.key): place})
    assert line.startswith(f"  ! {place}: gcache frozen on n1; ")
    document = run_document(replace(VIEW, obligations=(one,)), {FREEZE.host: "10.0.0.5"})
    assert (document["cluster_name"], document["title"]) == (GOOD.cluster_name, GOOD.title)
    (told,) = document["obligations"]
    assert (told["cluster_name"], told["address"]) == (GOOD.cluster_name, "10.0.0.5")


# --- the person at the terminal -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (YES_NO, "yes", "yes"),
        (YES_NO, " Done \n", "yes"),
        (YES_NO, "no", "stop"),
        (YES_NO, "stop", "stop"),
        (YES_NO, "not yet", None),
        (YES_NO, "approve", None),
        (YES_NO, "", None),
        (TYPED, "n2", "n2"),
        (TYPED, "N2", None),
        (TYPED, "yes", None),
        (TYPED, "stop", "stop"),
        (FAILED, "undo", "undo"),
        (FAILED, "stop", None),
        (BREACH, "go on", "go on"),
        (BREACH, "stop", "stop"),
        (CONTINUED, "approve", "approve"),
        (CONTINUED, "yes", None),
        (CONTINUED, "no", "stop"),
    ],
)
def test_that_only_an_answer_to_the_question_is_one(question: Question, text: str, answer: str | None) -> None:
    assert fitting(question, text) == answer


def test_that_a_given_answer_is_no_answer_to_the_question_of_another_step(capsys: pytest.CaptureFixture[str]) -> None:
    gone: list[bool] = []
    terminal = Terminal(
        machine=True, attended=False, given="yes", given_for="d2:replace", gone=lambda: gone.append(True)
    )
    other = Question(Ask("Is d3 replaced?"), "d3:replace")
    assert terminal.answer("1", other) is None
    assert gone == [True]
    assert "this is another question" in capsys.readouterr().err
    meant = Terminal(machine=True, attended=False, given="yes", given_for="d3:replace")
    assert meant.answer("1", other) == "yes"


def test_that_a_given_answer_is_for_the_first_question_only() -> None:
    gone: list[bool] = []
    terminal = Terminal(machine=True, attended=False, given="yes", gone=lambda: gone.append(True))
    assert terminal.answer("1", YES_NO) == "yes"
    assert gone == []
    assert terminal.answer("1", YES_NO) is None
    assert gone == [True]


def test_that_yes_answers_what_the_plan_allows_and_nothing_else() -> None:
    terminal = Terminal(machine=True, attended=False, yes=True)
    allowed = replace(YES_NO, ask=replace(YES_NO.ask, unattended="done"))
    assert terminal.answer("1", allowed) == "done"
    assert terminal.answer("1", YES_NO) is None
    assert terminal.answer("1", replace(allowed, topic="doubt")) is None


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal's input, to be written to."""
    read, write = os.pipe()
    with os.fdopen(read) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield write
    os.close(write)


def test_that_nothing_typed_yet_is_no_answer_and_is_asked_once(
    keyboard: int, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal(machine=False, attended=True)
    assert terminal.answer("1", TYPED) is None
    assert terminal.answer("1", TYPED) is None
    assert capsys.readouterr().out == "\nIts data is deleted.\nType n2 to confirm, or stop.\n> "
    os.write(keyboard, b"n2\n")
    assert terminal.answer("1", TYPED) == "n2"


def test_that_what_is_no_answer_is_asked_for_again(keyboard: int, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(machine=False, attended=True)
    os.write(keyboard, b"n3\n")
    assert terminal.answer("1", TYPED) is None
    os.write(keyboard, b"stop\n")
    assert terminal.answer("1", TYPED) == "stop"
    assert capsys.readouterr().out.count("Type n2 to confirm") == 2


def test_that_the_choices_are_shown_with_what_they_mean(keyboard: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert keyboard
    Terminal(machine=False, attended=True).answer("1", FAILED)
    assert capsys.readouterr().out == "\nIt failed.\n  again: once more\n  undo: back\n> "


def test_that_the_end_of_the_input_hangs_up_and_answers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").write_text("")
    gone: list[bool] = []
    with (tmp_path / "empty").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert Terminal(machine=True, attended=True, gone=lambda: gone.append(True)).answer("1", FAILED) is None
    assert gone == [True]


def test_that_a_step_is_printed_when_its_state_changes_and_when_it_says_something_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("time.time", lambda: 60.0)
    terminal = Terminal(machine=False, attended=False)
    step = freeze()
    for view in (
        StepView(step),
        StepView(step, StepState.CHECKING, said="looks"),
        StepView(step, StepState.ACTING),
        StepView(step, StepState.ACTING, said="half"),
        StepView(step, StepState.ACTING, said="half"),
        StepView(step, StepState.DONE),
        StepView(step, StepState.DONE),
    ):
        terminal.run_changed(replace(VIEW, steps=(view,)))
    assert out.getvalue().splitlines() == [
        "◐  1. n1       Freeze the gcache of n1  [acting]",
        f"        {clock(60.0)} half",
        "●  1. n1       The gcache of n1 is frozen  [done]",
    ]


def test_that_nothing_is_printed_between_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(machine=True, attended=False)
    terminal.run_changed(replace(VIEW, steps=(StepView(freeze(), StepState.DONE),)))
    assert capsys.readouterr().out == ""


def test_that_ctrl_c_suspends_the_run_and_is_itself_again_afterwards() -> None:
    before, control = signal.getsignal(signal.SIGINT), Control()
    with interruptible(control):
        assert not control.closing.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert control.closing.is_set()
    assert signal.getsignal(signal.SIGINT) is before
    assert not control.undoing


def test_that_the_checks_of_the_second_part_are_printed_where_nobody_is_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, longer = plan_of(freeze()), plan_of(freeze(), edit("n2"))
    behind = Check("CHOSEN-BEHIND", "The chosen node is the newest", Verdict.WARN, "n2 has 3 more write sets")
    for attended, told in ((False, True), (True, False)):
        terminal = Terminal(machine=False, attended=attended, yes=True)
        terminal.run_changed(RunView("7", first, RunState.RUNNING, ()))
        terminal.run_changed(RunView("7", longer, RunState.RUNNING, (), fresh_checks=(behind,)))
        terminal.run_changed(RunView("7", longer, RunState.RUNNING, (), fresh_checks=(behind,)))
        assert capsys.readouterr().out.count("warn  CHOSEN-BEHIND") == int(told)
    assert run_document(RunView("7", longer, RunState.RUNNING, (), checks=(behind,)))["checks"]
