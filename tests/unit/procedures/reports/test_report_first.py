"""A report's first screen: outcome, what was lost or is not known, the positions that decided, one line of time."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from services.connections.command import Command
from services.procedures.conditions.galera.data.position import Position
from services.procedures.journal import entries as line
from services.procedures.plan.actions import Ask, Run
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.looks import TWO_PRIMARIES, UNEXPECTED
from services.procedures.plan.model import Breach, Risk
from services.procedures.plan.run_model import RunState, StepState, StepView, UndoView
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.report.time import Axis, axis_of, bars_of, grouped, timeline
from tests.unit.procedures.journal.test_projection import START, Writer, done_run
from tests.unit.procedures.plans import freeze, plan_of, stop
from tests.unit.procedures.reports.test_report import samples

FIRST = ("## Lost, or not known", "## Decisive positions", "## Time", "## Steps")
FOLDED = ("## What was approved", "## Checks before the run", "## Commands, evidence and output of each step",
          "## Obligations", "## Course: every entry of the journal")  # fmt: skip


def undone() -> Writer:
    """A run whose stop failed and whose freeze was taken back: 10 s between two entries."""
    writer = Writer()
    writer.step("freeze-n1", StepState.CHECKING, StepState.ACTING, StepState.PROVING)
    writer.write(line.step_state("freeze-n1", StepState.DONE, evidence=("the option is 128",)))
    writer.write(line.value_kept("freeze-n1", "position-n1", "128"), line.value_kept("freeze-n1", "answer", "yes"))
    writer.step("stop-n2", StepState.CHECKING, StepState.ACTING)
    writer.write(line.step_state("stop-n2", StepState.FAILED, error="n2: It would not stop."))
    writer.write(line.run_state(RunState.FAILED, "It failed."), line.run_state(RunState.UNDOING))
    writer.step("freeze-n1", StepState.UNDOING)
    writer.write(line.output("freeze-n1", ("undo says so",)))
    writer.write(line.step_state("freeze-n1", StepState.UNDONE, evidence=("the option is -1",)))
    return writer.write(line.run_state(RunState.UNDONE, "All changes of the run were rolled back."))


def shown(writer: Writer) -> str:
    return report_markdown(writer.view(), writer.entries(), series=samples).replace("\\", "")


def test_that_the_first_screen_comes_first_and_the_rest_is_folded_in_this_order() -> None:
    text = shown(undone())
    places = [text.index(title) for title in (*FIRST, *FOLDED)]
    assert places == sorted(places)
    html = report_html(undone().view(), undone().entries())
    before, _, folds = html.partition('<details class="fold')
    assert "SET GLOBAL" not in before
    assert "SET GLOBAL" in folds
    assert "<script" not in html


def test_that_an_undone_run_says_at_once_what_did_not_succeed_and_its_table_the_undo_and_its_time() -> None:
    text = shown(undone())
    top = text.split(FIRST[0])[0]
    assert "All changes of the run were rolled back." in top
    assert "'Stop the server on n2', did not succeed: It would not stop." in top
    row = next(r for r in text.splitlines() if r.startswith("| 1 |") and "rolled back" in r)
    assert "rolled back: Unfreeze the gcache of n1" in row
    assert "| undone |" in row
    assert "| 20 s |" in row
    full = text.split(FOLDED[2])[1]
    assert "took 20 s: Unfreeze the gcache of n1" in full
    for raw in ("the option is 128", "the option is -1", "undo says so"):
        assert raw in full


def test_that_the_positions_that_decided_are_told_with_their_host_and_other_values_are_not() -> None:
    part = shown(undone()).split(FIRST[1])[1].split(FIRST[2])[0]
    assert "| Host | stopped at |" in part
    assert "| n1 | 128 |" in part
    assert "yes" not in part
    chosen = replace(stop(), step_id="b", host="n2", serves=True, confirm="n2", proof=(Position("n2", 4711),))
    writer = Writer(plan_of(chosen)).step("b", StepState.CHECKING, StepState.ACTING, StepState.DONE)
    writer.write(line.value_kept("b", "recovered-n1", "6c1f0f9a-0000-0000-0000-000000000001:4700"))
    part = shown(writer).split(FIRST[1])[1].split(FIRST[2])[0]
    assert "| Host | recovered | chosen |" in part
    assert "| n1 | 6c1f0f9a-0000-0000-0000-000000000001:4700 |  |" in part
    assert "| n2 |  | 4711 (done) |" in part
    writer.write(line.value_kept("b", "recovered-n3", f"{writer.view().plan.cluster_id}:4711"))
    assert "| n3 | 4711 |  |" in shown(writer)


def test_that_a_run_without_positions_has_no_empty_table_of_them() -> None:
    assert FIRST[1] not in shown(done_run(plan_of(stop())))


def test_that_what_was_lost_or_is_not_known_is_told_and_nothing_only_where_nothing_is_known_of() -> None:
    view, entries = done_run(plan_of(stop())).view(), done_run(plan_of(stop())).entries()
    calm = replace(view, checks=(), overrides=())
    assert "The run knows of no data loss" in report_markdown(calm, entries)
    warned = Check("LOST-TRANSACTIONS", "Nothing is missing", Verdict.WARN, "n1 was seen 7 write sets further", "why")
    block = Check("CHOSEN-BEHIND", "No node is ahead", Verdict.BLOCK, "n3 has 5 more write sets", "why")
    noise = Check("CLIENTS", "No client", Verdict.WARN, "one client", "why")
    told = replace(view, checks=(warned, block, noise), overrides=(Override("CHOSEN-BEHIND", "n3 burnt"),))
    part = report_markdown(told, entries).replace("\\", "").split(FIRST[0])[1].split("## Time")[0]
    assert "LOST-TRANSACTIONS: n1 was seen 7 write sets further." in part
    assert "Accepted, CHOSEN-BEHIND: n3 has 5 more write sets. The reason given: n3 burnt" in part
    assert "CLIENTS" not in part
    assert "knows of no data loss" not in part


def test_that_what_a_person_gave_up_by_a_typed_word_stands_on_the_first_screen_with_its_count_and_file() -> None:
    asked = replace(
        stop("n1"), step_id="accept-n1", action=Ask("n1 has 7 more write sets.", "typed", expect="lose 7 of n1")
    )
    title = "n2 is the side that loses: 2 transactions of n2 (t.a (3 rows)), kept in /forks/n2.sql on n2"
    erased = replace(stop(), step_id="only-sst-n2", title=title, risk=Risk.IRREVERSIBLE, confirm="n2")
    writer = Writer(plan_of(asked, erased))
    before = report_markdown(writer.view(), writer.entries()).replace("\\", "")
    assert "Typed" not in before.split(FIRST[0])[1].split("## Time")[0]
    for step_id in ("accept-n1", "only-sst-n2"):
        writer.step(step_id, StepState.CHECKING, StepState.ACTING, StepState.PROVING, StepState.DONE)
    part = report_markdown(writer.view(), writer.entries()).replace("\\", "").split(FIRST[0])[1].split("## Time")[0]
    assert "Typed 'lose 7 of n1': n1 has 7 more write sets." in part
    assert f"Typed 'n2': {title}." in part


@pytest.mark.parametrize("name", [TWO_PRIMARIES, UNEXPECTED])
def test_that_a_second_primary_and_a_member_that_was_not_expected_are_told_first(name: str) -> None:
    writer = Writer()
    writer.write(line.value_kept("a", name, "n3 stands beside"))
    part = shown(writer).split(FIRST[0])[1].split("## Time")[0]
    assert "n3 stands beside" in part
    assert "knows of no data loss" not in part


def test_that_a_rule_that_broke_is_told_with_its_moment() -> None:
    writer = Writer().write(line.breach("DISK", "The disk of n1 fills.", "1 GB", Breach.PAUSE))
    assert "At 08:00:30 UTC the watch rule DISK was violated: The disk of n1 fills. (1 GB)" in shown(writer)


def test_that_steps_stand_in_their_hosts_lane_with_the_undo_hollow_and_what_failed_crossed() -> None:
    view = undone().view()
    picture = timeline(view, axis_of(view))
    assert picture is not None
    words = [t.text for t in picture.svg.iter("text")]
    assert {"n1", "n2", "1", "2", "↶1", "rolled back", "failed or interrupted"} <= set(words)
    assert ("n1", "↶1", "08:02:20", "08:02:40") in picture.words.rows
    assert len(list(picture.svg.iter("path"))) == 4  # a cross on the bar, and one in the legend
    assert timeline(Writer().view(), axis_of(Writer().view())) is None


def test_that_curves_and_steps_share_one_axis() -> None:
    html = report_html(undone().view(), undone().entries())
    svg = ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    assert svg.attrib["width"] == "960"
    axis = Axis(START, START + 3_600)
    assert len(axis.ticks()) <= 9
    assert axis.x(START - 99) >= 0
    assert Axis(START, START).ticks() in {(), (START,)}
    assert len(Axis(START, START + 40 * 86_400).ticks()) <= 9


def test_that_any_state_of_a_step_has_its_bars() -> None:
    step = replace(freeze(), action=Run(Command(("true",))), risk=Risk.NODE_DOWN)
    assert bars_of(1, StepView(step)) == ()
    for state in set(StepState) - {StepState.PENDING}:
        bars = bars_of(1, StepView(step, state, 10.0, None, undo=UndoView(20.0)))
        assert [bar.undo for bar in bars] == [False, True]
        assert all(bar.end >= bar.start for bar in bars)
    assert grouped([(0.0, "↶6"), (3.0, "↶4"), (90.0, "7")]) == [(0.0, "↶6–4"), (90.0, "7")]


@pytest.mark.parametrize(("end", "told"), [(StepState.UNDONE, False), (StepState.UNDO_FAILED, True)])
def test_that_a_server_which_the_run_stopped_and_did_not_bring_back_is_told_at_the_top(
    end: StepState, told: bool
) -> None:
    writer = Writer()
    writer.step("freeze-n1", StepState.CHECKING, StepState.ACTING, StepState.PROVING, StepState.DONE)
    writer.step("stop-n2", StepState.CHECKING, StepState.ACTING, StepState.PROVING, StepState.DONE)
    sentence = "The run stopped the server of n2, and did not see it in service again."
    assert sentence in shown(writer)
    writer.write(line.run_state(RunState.FAILED, "It failed."), line.run_state(RunState.UNDOING))
    writer.step("stop-n2", StepState.UNDOING)
    writer.write(line.step_state("stop-n2", end, error="" if end is StepState.UNDONE else "It does not start."))
    top = shown(writer).partition(FIRST[0])[0]
    assert (sentence in top) is told
