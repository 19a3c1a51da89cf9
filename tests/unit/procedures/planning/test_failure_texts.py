"""What is kept and told of an act that failed: its output, the cause and not the last line, and of a read no doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.procedure_text import run_lines, step_line
from services.clock import ManualClock
from services.connections.command import Command
from services.connections.ports import Output
from services.errors import Unreachable
from services.facts.logs.causes import cause, cause_or_last, telling
from services.procedures.engine.parts import failure
from services.procedures.engine.ports import ActFailed
from services.procedures.execute.acting import RealActor
from services.procedures.execute.acting_output import Masks, judged
from services.procedures.journal.entries import run_state, step_state
from services.procedures.journal.projection import project
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.model import Risk, Step
from services.procedures.plan.run_model import RunState, StepState, StepView
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from tests.unit.procedures.engine_world import Bench, is_, plan_of, switch
from tests.unit.procedures.journal.test_projection import Writer

MARIADB = (
    "2026-11-22  6:20:41 0 [Note] InnoDB: Buffer pool(s) load",
    "2026-11-22  6:20:42 0 [ERROR] InnoDB: Corrupted page [page id: space=0, page number=7]",
    "2026-11-22  6:20:42 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.",
    "2026-11-22  6:20:42 0 [ERROR] Unknown/unsupported storage engine: InnoDB",
    "2026-11-22  6:20:42 0 [ERROR] Aborting",
)
MYSQL = (
    "2026-11-22T06:20:42.136154Z 0 [Warning] [MY-010918] [Server] deprecated",
    "2026-11-22T06:20:42.136154Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x=1'.",
    "2026-11-22T06:20:42.136155Z 0 [ERROR] [MY-010119] [Server] Aborting",
)
PRINTED = ("reading the files", "[ERROR] mariadbd: unknown variable 'x=1'", "[ERROR] Aborting")


def refused(*lines: str) -> ActFailed:
    return ActFailed("It ended with exit code 7", host="n1", safe="What it may have changed on n1 is not known.",
                     output=lines)  # fmt: skip


def reading() -> Step:
    """A step that runs a command and only reads."""
    act = Run(Command(("set", "seen", "ON")))
    return Step("look-n1", "n1", "Look at n1", act, risk=Risk.READS, repeatable=True)


def failed_run(step: Step, *problems: Exception, also: tuple[Step, ...] = ()) -> Bench:
    bench = Bench(plan_of(*also, step))
    bench.world.fails[step.step_id] = list(problems)  # type: ignore[arg-type]
    bench.run()
    return bench


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (MARIADB, "[ERROR] InnoDB: Corrupted page [page id: space=0, page number=7]"),
        (MYSQL, "[ERROR] [MY-000067] [Server] unknown variable 'x=1'."),
        (("Nov 22 06:20:41 s1 mariadbd[9]: 2026-11-22  6:20:41 0 [ERROR] WSREP: no",), "[ERROR] WSREP: no"),
        (("a", "[ERROR] Aborting"), "[ERROR] Aborting"),
        (("cp: no such file",), ""),
        ((), ""),
    ],
)
def test_that_the_first_error_is_the_cause_and_aborting_only_where_nothing_else_is_known(
    lines: tuple[str, ...], why: str
) -> None:
    assert cause(lines) == why
    assert cause_or_last(lines) == (why or (lines[-1] if lines else ""))


def test_that_few_lines_are_shown_whole_and_of_many_the_first_errors_and_the_last_lines() -> None:
    assert telling(MARIADB) == MARIADB
    many = (*MARIADB, *(f"line {n}" for n in range(100)))
    shown = telling(many)
    assert shown == (*MARIADB[1:], "line 96", "line 97", "line 98", "line 99")
    assert telling(many[5:]) == tuple(f"line {n}" for n in range(88, 100))


def test_that_a_cause_before_the_last_lines_leads_the_output_of_a_failed_act_and_its_sentence() -> None:
    masks = Masks()
    masks.learn("Abc#12")
    text = "\n".join((*MARIADB[:2], "Abc#12", *map(str, range(100))))
    with pytest.raises(ActFailed) as raised:
        judged("mariadbd", (1, text, ""), host="n1", ok=(0,), keep="", pattern="", masks=masks)
    assert "exit code 1: [ERROR] InnoDB: Corrupted page" in str(raised.value)
    assert raised.value.output[0] == MARIADB[1]
    assert len(raised.value.output) == 40
    assert "Abc#12" not in str(masks.failed_lines(f"[ERROR] Abc#12\n{text}"))


def test_that_the_output_of_a_failed_act_is_in_journal_terminal_and_report() -> None:
    bench = failed_run(switch("n1", "a"), refused(*PRINTED))
    assert next(e["lines"] for e in bench.lines("output")) == list(PRINTED)
    bench = failed_run(switch("n1", "a", undo=None, why="It stays."), refused(*PRINTED))
    view = project(bench.journal.entries(bench.run_id))
    assert view.steps[0].output == PRINTED
    assert view.steps[0].broken == PRINTED
    assert f"          | {PRINTED[1]}" in list(run_lines(view))
    for report in (report_html, report_markdown):
        text = report(view, bench.journal.entries(bench.run_id)).replace("\\", "")
        assert PRINTED[0] in text


def test_that_what_a_step_that_only_reads_may_have_changed_is_known_nothing() -> None:
    for problem in (refused(), Unreachable("The connection broke.", host="n1")):
        bench = failed_run(reading(), *([problem] * 200))
        words = " ".join(str(e) for e in bench.lines("step"))
        assert "not known" not in words
        assert "outcome unknown" not in words
        assert "It only reads: nothing was changed." in words
    bench = failed_run(switch("n1", "a"), refused())
    assert "is not known" in " ".join(str(e) for e in bench.lines("step"))


def test_that_a_part_that_failed_is_told_by_what_it_is_and_not_by_the_words_it_is_told_in() -> None:
    parts = Several((Run(Command(("true",))), Run(Command(("false",)))))
    assert failure(parts, Unreachable("Gone.", host="n1")).endswith("Earlier parts of it may be done.")
    unsure = Unreachable("Gone.", host="n1")
    unsure.safe = "Nothing was changed."  # told by the road to the host, which then knows what became of the act
    assert not unsure.nothing_changed
    assert failure(parts, unsure) == "n1: Gone. Nothing was changed."
    assert failure(Run(Command(("true",))), Unreachable("Gone.", host="n1")) == "n1: Gone. Nothing was changed."


def test_that_a_reading_that_a_killed_console_left_is_no_doubt_and_not_one_when_the_run_is_taken_back() -> None:
    writer = Writer(plan_of(reading()))
    writer.step("look-n1", StepState.CHECKING, StepState.ACTING)
    assert writer.view().steps[0].said == "Started; it only reads."
    bench = Bench(plan_of(reading()))
    bench.journal.append(bench.run_id, *run_state(RunState.RUNNING))
    for state in (StepState.CHECKING, StepState.ACTING):
        bench.journal.append(bench.run_id, *step_state("look-n1", state))
    bench.engine().undo()
    assert bench.states()["look-n1"] == "cancelled"


def test_that_a_step_that_is_taken_back_is_told_by_its_undo_and_the_undo_s_own_time() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b", proof=(is_("n2", "never"),))))
    bench.world.after["undo:a-n1"] = lambda: bench.clock.advance(7.0)
    assert bench.run() is RunState.UNDONE
    seen = next(s for v in bench.views for s in v.steps if s.state is StepState.UNDOING and s.step.step_id == "a-n1")
    assert seen.title == "Switch a of n1 off"
    first, second = project(bench.journal.entries(bench.run_id)).steps
    assert first.undo is not None
    assert first.undo.output == ("a is OFF",)
    assert first.output == ("a is ON",)
    begun, ended = first.span
    assert begun is not None
    assert ended is not None
    assert ended - begun == pytest.approx(7.0, abs=1.0)
    assert first.ended is not None
    assert first.ended <= begun
    assert second.failed.startswith("Not within")
    assert "undo: Switch a of n1 off  [undone]  7.0 s" in step_line(first, 1)


def test_that_an_undo_that_fails_keeps_its_own_output_beside_the_step_s() -> None:
    bench = Bench(plan_of(switch("n1", "a"), switch("n2", "b", proof=(is_("n2", "never"),))))
    bench.world.fails["undo:a-n1"] = [refused(*PRINTED), refused(*PRINTED)]
    assert bench.run() is RunState.UNDO_FAILED
    first = project(bench.journal.entries(bench.run_id)).steps[0]
    assert first.undo is not None
    assert first.undo.output == PRINTED
    assert first.output == ("a is ON",)
    assert first.broken == PRINTED
    assert "[ERROR] Aborting" in step_line(first, 1)


def test_that_an_old_journal_without_the_undos_times_still_is_shown() -> None:
    view = StepView(replace(switch("n1", "a"), undo=None), StepState.UNDONE, 1.0, 2.0)
    assert (view.title, view.span) == ("Switch a of n1 on", (1.0, 2.0))


class _Failing:
    """Every host: a session on which each command ends with exit code 1 and says why."""

    def operator(self, host: str) -> _Failing:
        del host
        return self

    def run(self, command: Command, *, limit_s: float) -> Output:
        del command, limit_s
        return Output(1, b"", b"Error: failed to apply ledger.ibd.delta\n")


def test_that_a_program_which_failed_is_told_by_its_first_words_and_why_it_ended() -> None:
    """Seen in a random night: three thousand characters of shell stood before the sentence that mattered."""
    program = "export LC_ALL=C\n" + "echo one more line\n" * 200
    actor = RealActor(_Failing(), "47", ManualClock())  # type: ignore[arg-type]
    with pytest.raises(ActFailed) as failed:
        actor.perform("x", "n1", Run(Command(("bash", "-c", program, "pilothouse"), sudo=True)), {}, limit_s=5.0)
    told = str(failed.value)
    assert "ended with exit code 1: Error: failed to apply ledger.ibd.delta" in told
    assert "one more line" not in told
    assert len(told) < 300
