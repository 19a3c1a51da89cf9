"""The report: everything the journal knows, as safe HTML and Markdown, and nothing secret."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, Component, NodeView, ReplicationEdge, TransferEdge
from services.errors import StoreError
from services.facts.model import NodeFacts
from services.procedures.journal import entries as line
from services.procedures.plan.actions import Ask
from services.procedures.plan.model import Breach, Chart, Plan
from services.procedures.plan.run_model import Question, RunState, StepState
from services.procedures.report.blocks import clean, moment
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from services.procedures.report.plot import plot_picture, said
from services.procedures.report.time import Axis
from services.procedures.report.topology import topology_picture
from services.series import Series
from services.types import Flavour, Health
from tests.examples import examples
from tests.unit.procedures.any_values import any_value
from tests.unit.procedures.journal.test_projection import START, Writer, done_run
from tests.unit.procedures.plans import FREEZE, GOOD, edit, plan_of, stop

CHART = Chart("disk.free", "n1", "Free disk on n1", 2e9, "released below this")
NODES = (
    NodeView("a", "n1", "n1", state="Synced", health=Health.GOOD, role="writer", facts=NodeFacts("n1", START)),
    NodeView("b", "n2", "n2", state="Joiner", health=Health.TRANSFER),
    NodeView("c", "n3", "n3", state="no answer", health=Health.BAD, reason="n3 does not answer"),
    NodeView("d", "far", "far", state="replica running", health=Health.WARN),
    NodeView("e", "old", "old", health=Health.UNKNOWN),
)
SNAPSHOT = ClusterSnapshot(
    "uuid",
    GALERA,
    "prod-eu",
    START,
    Flavour.MARIADB,
    nodes=NODES,
    components=(
        Component("p", True, ("a", "b"), votes=2, votes_known=3),
        Component("i", False, ("c",)),
    ),
    replication=(ReplicationEdge("a", "d", "eu", Health.GOOD), ReplicationEdge("a", "gone")),
    transfers=(TransferEdge("a", "b", "IST"), TransferEdge("a", "c", "SST", active=False)),
)


def samples(metric: str, host: str, begin: float, end: float) -> Series:
    t = np.arange(begin, end)
    value = np.linspace(1e9, 5e9, len(t))
    value[10:20] = np.nan
    return Series(metric, t, value)


def full_run() -> Writer:
    """A run with something of everything in it."""
    plan = replace(GOOD, charts=(CHART,))
    writer = Writer(plan)
    writer.write(line.lock("taken", ("n1", "n2"), "Locked by ana@desk."), line.topology("before", SNAPSHOT))
    writer.step("freeze-n1", StepState.CHECKING).write(line.obligation_taken("freeze-n1", FREEZE))
    writer.step("freeze-n1", StepState.ACTING).write(line.output("freeze-n1", ("Query OK",)))
    writer.write(line.step_state("freeze-n1", StepState.PROVING), line.value_kept("freeze-n1", "frozen-n1", "128"))
    writer.write(line.step_state("freeze-n1", StepState.DONE, evidence=("the option is 128",)))
    question = Question(Ask("Is the work on n2 done?"), "ask-work")
    writer.write(line.asked(question), line.run_state(RunState.WAITING, "It waits."))
    writer.write(line.breach("disk", "The disk of n1 fills.", "n1: 1 GB", Breach.RELEASE, "ask-work"))
    writer.write(line.release_failed("freeze-n1", FREEZE.key, "n1 did not answer"))
    writer.write(line.obligation_discharged("freeze-n1", FREEZE.key, "the option is -1"))
    writer.write(line.answered(question, "yes", "ana@desk"), line.run_state(RunState.RUNNING))
    writer.write(line.run_state(RunState.FAILED, "n2 is down; n1 and n3 serve."), line.note("phone", "Ana was called"))
    return writer.write(line.topology("after", SNAPSHOT))


def both(writer: Writer) -> tuple[str, str]:
    entries, view = writer.entries(), writer.view()
    return (
        report_html(view, entries, series=samples, unit_of=lambda _: "B"),
        report_markdown(view, entries, series=samples, unit_of=lambda _: "B"),
    )


class Words(HTMLParser):
    """The visible text of a file, its tags checked for balance, its addresses collected."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.tags == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.tags.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] != "style":
            self.text.append(data)


TOLD = (
    "Take n2 down without SST",
    "n2 is down; n1 and n3 serve.",
    "SET GLOBAL wsrep_provider_options='gcache.freeze_purge_at_seqno=now';",
    "sudo systemctl stop mariadb.service",
    "sudo systemctl start mariadb.service   # detached as pilothouse-RUN-start-n2",
    "the option is 128",
    "Query OK",
    "DISK-FREE",
    "n1: 3 GB",
    "The volume is being grown.",
    "gcache frozen on n1",
    "the option is -1",
    "The disk of n1 fills. (n1: 1 GB)",
    "Is the work on n2 done?",
    "ana@desk",
    "Locked by ana@desk.",
    "Ana was called",
    "Free disk on n1",
    "prod-eu",
    "Synced",
    "n3 does not answer",
    moment(START + 20),
    "Everything that the run switched on is off again.",
)


def test_that_the_html_tells_everything_of_a_run() -> None:
    html, _ = both(full_run())
    words = " ".join(Words(html).text)
    for told in TOLD:
        assert told in words, told


def test_that_the_markdown_tells_everything_of_a_run() -> None:
    _, text = both(full_run())
    shown = re.sub(r"\\(.)", r"\1", text)
    for told in TOLD:
        assert told in shown, told


def test_that_the_html_is_one_file_without_script_or_address() -> None:
    words = Words(both(full_run())[0])
    assert words.seen.isdisjoint({"script", "link", "img", "iframe", "object", "a", "image", "use"})
    values = {(name, value) for name, value in words.attributes if value and ("http" in value or "url(" in value)}
    assert values == {("xmlns", "http://www.w3.org/2000/svg")}
    assert not any(name.startswith("on") for name, _ in words.attributes)


def test_that_the_report_has_a_drawing_of_each_snapshot_and_each_curve() -> None:
    html, text = both(full_run())
    assert html.count("<svg") == 4  # and the time line
    assert "| n1 | Synced | writer |" in text
    assert "1 GB" in text


TURNED = "\u202eko\u2069 ad\u200bmin\ufeff"
EVIL = f"{TURNED}<script>alert(1)</script> | `x` [a](http://evil) \x1b[31m \udc80 # *b* ﻿&amp;"


def evil_run() -> Writer:
    plan = replace(plan_of(replace(stop(), title=EVIL, why=EVIL)), title=EVIL, cluster_name=EVIL, charts=(CHART,))
    writer = Writer(plan).step("stop-n2", StepState.CHECKING, StepState.ACTING)
    writer.write(line.output("stop-n2", ("```", EVIL, "# heading")), line.note(EVIL, EVIL))
    seen = EVIL.replace("\udc80", "")  # what servers say is decoded without halves of surrogate pairs
    snapshot = replace(SNAPSHOT, nodes=tuple(replace(n, name=seen, state=seen, reason=seen) for n in NODES))
    return writer.write(line.topology("before", snapshot))


def test_that_what_hosts_and_people_wrote_stays_text_in_html() -> None:
    html, _ = both(evil_run())
    words = Words(html)
    assert "script" not in words.seen
    assert any("<script>alert(1)</script>" in text for text in words.text)
    html.encode("utf-8")
    assert not set("\x1b\u202e\u2069\u200b\ufeff") & set(html)
    assert "\ufffdko\ufffd ad\ufffdmin\ufffd<script>" in "".join(words.text)


def test_that_what_hosts_and_people_wrote_stays_text_in_markdown() -> None:
    _, text = both(evil_run())
    text.encode("utf-8")
    assert not set("\x1b\u202e\u2069\u200b\ufeff") & set(text)
    outside = re.sub(r"^(`{3,})text\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in outside
    assert "[a](" not in outside
    assert not re.search(r"^# heading|(?<!\\)# heading", outside, re.MULTILINE)
    tables = [row for row in outside.splitlines() if row.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in tables if clean(EVIL[:5]) in row.replace("\\", "")} <= {
        3,
        5,
        6,
        7,
        8,
    }


@pytest.mark.parametrize("text", ["1. first", "- item", "+ more", "---", "2) other", "-- x"])
def test_that_a_sentence_that_begins_like_a_list_stays_a_sentence(text: str) -> None:
    writer = Writer().write(line.run_state(RunState.FAILED, text))
    shown = report_markdown(writer.view(), writer.entries())
    assert f"\n{text}\n" not in shown
    assert text in shown.replace("\\", "")


def test_that_no_secret_is_in_any_report_or_entry() -> None:
    html, text = both(Writer(plan_of(edit("n2"), replace(edit("n3"), step_id="put"))))
    for report in (html, text):
        assert "********" in report.replace("\\", "")
        assert "copied from n1" in report


@given(any_value(Plan))
@settings(max_examples=examples(25))
def test_that_any_plan_can_be_reported_before_it_ran(plan: Plan) -> None:
    unique = replace(plan, steps=plan.steps[:1])
    writer = Writer(unique, approved=False)
    html, text = both(writer)
    Words(html)
    html.encode()
    text.encode()


def test_that_a_report_can_be_made_at_every_entry_of_a_run() -> None:
    entries = full_run().entries()
    for cut in range(1, len(entries) + 1):
        writer = full_run()
        writer.journal = writer.journal.cut(writer.run_id, cut)
        html, text = both(writer)
        assert "Take n2 down" in html
        assert "Take n2 down" in text


def test_that_an_open_obligation_and_a_step_in_doubt_stand_at_the_top() -> None:
    writer = Writer().write(line.obligation_taken("freeze-n1", FREEZE))
    writer.step("freeze-n1", StepState.CHECKING, StepState.ACTING)
    text = report_markdown(writer.view(), writer.entries()).split("## Steps")[0]
    assert "Still on since" in text
    assert "the disk of n1 fills" in text
    assert "Step 1, Freeze the gcache of n1: acting. Started; outcome unknown." in text


def test_that_an_open_obligation_says_when_it_was_last_seen_on_and_off() -> None:
    writer = Writer().write(line.obligation_taken("freeze-n1", FREEZE), line.obligation_seen(FREEZE.key, "f", on=True))
    seen = f"last seen on {moment(START + 40)}"
    first, rest = report_markdown(writer.view(), writer.entries()).split("## Steps")
    assert f"gcache frozen on n1; {seen}." in first
    assert f"still on | {seen} |" in rest
    writer.write(line.obligation_seen(FREEZE.key, "-1", on=False))
    assert f"{seen}, no longer at {moment(START + 50)}" in report_markdown(writer.view(), writer.entries())


def test_that_a_failed_release_is_told_with_its_obligation() -> None:
    writer = Writer().write(line.obligation_taken("freeze-n1", FREEZE))
    writer.write(line.release_failed("freeze-n1", FREEZE.key, "n1 did not answer"))
    assert re.search(
        r"gcache frozen on n1 \|.*still on \| never seen on: .* UTC; n1 did not answer",
        report_markdown(writer.view(), writer.entries()),
    )


def test_that_a_finished_run_says_what_it_promised() -> None:
    writer = done_run(GOOD)
    assert "n2 is Synced." in report_markdown(writer.view(), writer.entries())
    failed = Writer().write(line.run_state(RunState.FAILED))
    assert "n2 is Synced." not in report_markdown(failed.view(), failed.entries())


def test_that_a_run_with_nothing_to_do_has_a_report() -> None:
    writer = Writer(plan_of()).write(line.run_state(RunState.DONE, "Nothing to do."))
    assert "There was nothing to do." in report_markdown(writer.view(), writer.entries())


def test_that_a_history_that_can_not_be_read_is_told_in_the_curves_place() -> None:
    def broken(metric: str, host: str, begin: float, end: float) -> Series:
        raise StoreError("The history is damaged.")

    writer = full_run()
    text = report_markdown(writer.view(), writer.entries(), series=broken)
    assert "Free disk on n1: The history is damaged." in text


def test_that_snapshots_are_kept_without_the_nodes_whole_facts_and_come_back() -> None:
    entries = full_run().entries()
    found = line.topology_of(entries, "before")
    assert found == replace(SNAPSHOT, nodes=(replace(NODES[0], facts=None), *NODES[1:]))
    assert line.topology_of(Writer().entries(), "before") is None


def test_that_every_health_has_a_shape_of_its_own_and_every_node_its_card() -> None:
    picture = topology_picture("Before", SNAPSHOT)
    text = ET.tostring(picture.svg, encoding="unicode")
    for node in NODES:
        assert f">{node.name}</text>" in text
    assert "2 of 3 votes" in text
    assert ">eu</text>" in text
    assert ">IST</text>" in text
    assert ">SST</text>" not in text
    shapes = {health: _shapes(health) for health in Health}
    assert len(set(shapes.values())) == len(Health)


def _shapes(health: Health) -> tuple[str, ...]:
    alone = replace(SNAPSHOT, nodes=(NodeView("a", "n", health=health),), components=(), replication=(), transfers=())
    found = topology_picture("x", alone).svg
    return tuple(e.tag + ("-" if "stroke-dasharray" in e.attrib else "") for e in found.iter() if e.tag != "text")


def test_that_a_cluster_that_was_not_seen_is_said_and_not_drawn() -> None:
    writer = Writer()
    text = report_markdown(writer.view(), writer.entries(), SNAPSHOT, None)
    assert "After: not seen." in text
    assert "### Before" in text


def test_that_a_snapshot_that_can_not_be_read_does_not_hide_the_rest() -> None:
    writer = Writer().write(("note", "", {"about": "topology-before", "snapshot": {"at": "noon"}}))
    text = report_markdown(writer.view(), writer.entries())
    assert "Before: This is not a snapshot" in text
    assert "## Steps" in text


def curve(values: list[float], **more: object) -> str:
    series = Series("m", START + np.arange(len(values), dtype=float), np.array(values), **more)  # type: ignore[arg-type]
    picture = plot_picture(CHART, series, Axis(START, START + len(values)), ((START + 1, "7"),), "B")
    return ET.tostring(picture.svg, encoding="unicode")


def test_that_a_gap_in_the_samples_is_a_gap_in_the_curve() -> None:
    nan = float("nan")
    assert curve([1.0, 2.0, 3.0]).count("<path") == 1
    assert curve([1.0, 2.0, nan, 3.0, 4.0, nan, 5.0]).count("<path") == 3


def test_that_a_curve_has_its_limit_its_steps_and_its_units() -> None:
    text = curve([1e9, 5e9])
    assert "released below this" in text
    assert ">7</text>" in text
    assert ">4 GB</text>" in text


def test_that_no_peak_is_lost_when_a_long_run_is_drawn() -> None:
    values = [1.0] * 50_000
    values[31_234] = 9e9
    text = curve(values)
    assert len(text) < 60_000
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", text)]
    assert heights.count(min(heights)) == 1


def test_that_missing_samples_are_said_with_their_reason() -> None:
    assert "No samples: MariaDB has no such counter" in curve([], missing="MariaDB has no such counter")
    assert "No samples: no samples were taken" in curve([float("nan")])


@given(st.lists(st.floats(-1e15, 1e15) | st.just(float("nan")), min_size=1, max_size=30))
@settings(max_examples=examples(60))
def test_that_any_curve_stays_inside_its_frame(values: list[float]) -> None:
    text = curve(values)
    assert "nan" not in text
    for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", text):
        assert -1 <= float(y) <= 191


def test_that_values_carry_their_unit() -> None:
    assert said(1.5e9, "B") == "1.5 GB"
    assert said(1.5e6, "B/s") == "1.5 MB/s"
    assert said(12.3456, "s") == "12.3 s"
    assert said(3.0, "") == "3"


def test_that_characters_no_document_may_hold_are_replaced() -> None:
    assert clean("a\x00\x1b\ud800\ufffeb\r\nc\td") == "a\ufffd\ufffd\ufffd\ufffdb\nc\td"
