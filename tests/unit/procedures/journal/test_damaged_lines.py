"""A journal that was damaged or written by somebody else is told by its run's number, and hides no other run."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.errors import JournalDamaged
from services.history.state.procedure_journal import ProcedureLine
from services.history.state.store import StateStore
from services.inventory.model import Inventory
from services.procedures.journal import entries as line
from services.procedures.journal.codec import plain
from services.procedures.journal.finding import kept_addresses
from services.procedures.journal.lines import entry_of
from services.procedures.journal.obligations import open_obligations, readable
from services.procedures.journal.projection import project
from services.procedures.plan.actions import Ask
from services.procedures.plan.checks import Check, Override, Verdict
from services.procedures.plan.model import Breach
from services.procedures.plan.run_model import Entry, Question, RunState, StepState
from services.procedures.report.markdown import report_markdown
from services.procedures.service.service import ProcedureService
from services.secrets import MemoryVault
from tests.unit.procedures.engine_world import FixedKey
from tests.unit.procedures.plans import FREEZE, GOOD

RECORDED = Path(__file__).parents[1] / "recorded" / "before_instances.jsonl"
STEP = GOOD.steps[0].step_id
QUESTION = Question(Ask("Is it done?"), STEP)
CHECKS = (Check("DISK-FREE", "Free disk", Verdict.BLOCK, "n1: 3 GB"),)
HOSTS = line.note("hosts", json.dumps({"n1": ["10.0.0.1", "n1"]}))
WHOLE: tuple[line.Line, ...] = (
    line.planned(GOOD, {"node": "n2"}, CHECKS, (Override("DISK-FREE", "It grows."),), "ana@desk"),
    HOSTS,
    line.approved("ana@desk"),
    line.lock("take", ("n1", "n2"), "Tried."),
    line.run_state(RunState.RUNNING, "Begun."),
    line.step_state(STEP, StepState.CHECKING, said="Looks.", evidence=("a",)),
    line.obligation_taken(STEP, FREEZE),
    line.step_state(STEP, StepState.ACTING),
    line.output(STEP, ("one", "two")),
    line.value_kept(STEP, "seqno", "17"),
    line.asked(QUESTION),
    line.answered(QUESTION, "yes", "ana"),
    line.breach("LAG", "It lags.", "9 s", Breach.PAUSE, STEP),
    line.release_failed(STEP, FREEZE.key, "no answer"),
    line.obligation_discharged(STEP, FREEZE.key, "off"),
    line.continued(STEP, GOOD, CHECKS),
)
"""Every kind of line, in an order that can be followed."""
ODD = ("5", "-1", "1e999", "NaN", "null", "true", "[]", "{}", '""', '"x"', "[1,2,3]", '{"is":5}', '{"is":[]}',
       '["a",5]', "9" * 6000, "[" * 120 + "]" * 120, "[" * 200_000)  # fmt: skip


def _line(seq: int, kind: str, step_id: str, text: str, run_id: int = 1) -> ProcedureLine:
    return ProcedureLine(run_id, seq, 1_800_000_000.0 + seq, kind, step_id, text)


def _lines() -> list[ProcedureLine]:
    return [_line(seq, kind, step, json.dumps(plain(data))) for seq, (kind, step, data) in enumerate(WHOLE, 1)]


def _read(lines: list[ProcedureLine]) -> None:
    """Read a run in every way that the program does."""
    entries = tuple(entry_of(one) for one in lines)
    kept_addresses(entries)
    open_obligations(readable(entries))
    report_markdown(project(entries), entries)


def _told(lines: list[ProcedureLine]) -> str:
    """Return what is said of a run that can't be read, '' for one that can. Anything else that is raised is a fault."""
    try:
        _read(lines)
    except JournalDamaged as problem:
        return problem.sentence
    return ""


def _is_told(lines: list[ProcedureLine]) -> bool:
    told = _told(lines)
    assert not told or ("run 1" in told and "\n" not in told)
    return bool(told)


def test_that_a_whole_journal_is_read() -> None:
    assert not _is_told(_lines())


def test_that_lines_of_before_are_read() -> None:
    for text in RECORDED.read_text().splitlines():
        one = json.loads(text)
        found = entry_of(_line(one["seq"], one["kind"], one["step"], json.dumps(one["data"])))
        assert found == Entry("1", one["seq"], found.at, one["kind"], one["step"], one["data"])


def test_that_the_largest_counter_of_a_server_is_no_damage() -> None:
    assert entry_of(_line(1, "note", "", '{"about":"topology-after","snapshot":{"view":18446744073709551615}}'))


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_that_a_line_that_is_no_object_is_told(number: int) -> None:
    for text in (*ODD, "", "{", '{"a":1', "\x00", '"' + "\ud800" + '"'):
        lines = _lines()
        lines[number] = replace(lines[number], data=text)
        told = _is_told(lines)
        assert told or text in {"{}", '{"is":5}', '{"is":[]}'}, text[:40]


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_that_a_field_of_another_shape_is_told_or_means_the_same(number: int) -> None:
    for field in json.loads(_lines()[number].data):
        for text in ODD:
            lines = _lines()
            data = json.loads(lines[number].data)
            data[field] = "HERE"
            lines[number] = replace(lines[number], data=json.dumps(data).replace('"HERE"', text))
            _is_told(lines)


@pytest.mark.parametrize("text", ["[]", '{"n1":5}', '{"n1":["a"]}', '{"n1":["a",5]}', "{", "null", "[" * 200_000])
def test_that_a_note_of_hosts_without_addresses_is_damage(text: str) -> None:
    lines = _lines()
    lines[1] = replace(lines[1], data=json.dumps({"about": "hosts", "text": text}))
    assert _is_told(lines)


@pytest.mark.parametrize("at", [1e300, -1.0, float("inf"), float("nan")])
def test_that_a_time_that_nobody_can_show_is_damage(at: float) -> None:
    lines = _lines()
    lines[2] = replace(lines[2], at=at)
    assert _is_told(lines)


def _bent(value: object, chance: random.Random) -> object:
    """Return a JSON value with one place in it made another."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _bent(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        return [_bent(one, chance) if n == place else one for n, one in enumerate(value)]
    return chance.choice((None, 5, -(10**25), 1.5, True, "", "x", "Step", [], [[1]], {}, {"is": "Plan"}, {"is": []}))


@pytest.mark.parametrize("seed", range(300))
def test_that_whatever_is_bent_anywhere_is_read_or_told(seed: int) -> None:
    chance, lines = random.Random(seed), _lines()
    for _ in range(chance.randint(1, 3)):
        number = chance.randrange(len(lines))
        bent = json.dumps(_bent(json.loads(lines[number].data), chance))
        lines[number] = replace(lines[number], data=bent, kind=lines[chance.randrange(len(lines))].kind
                                if chance.random() < 0.1 else lines[number].kind)  # fmt: skip
    _is_told(lines)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ProcedureService]:
    """Two runs, each with something switched on."""
    store = StateStore.open(tmp_path / "state.sqlite")
    made = ProcedureService(Inventory(), MemoryVault(), store, SystemClock(), FixedKey())
    for _ in range(2):
        run_id = made.journal.new_run(GOOD.procedure, GOOD.cluster_id, GOOD.title)
        for one in WHOLE[:8]:
            made.journal.append(run_id, *one)
        made.journal.let_go(run_id)
    yield made
    store.close()


@pytest.mark.parametrize("text", ["[1,2,3]", '{"about":"x","text":' + "[" * 300_000 + "]" * 300_000 + "}"])
def test_that_a_damaged_run_hides_neither_another_nor_what_is_switched_on(
    service: ProcedureService, tmp_path: Path, text: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as connection, connection:
        connection.execute("UPDATE procedure_entry SET data = ? WHERE run_id = 1 AND kind = 'note'", (text,))
    assert [view.run_id for view in service.runs()] == ["2"]
    assert [view.run_id for view in service.unfinished()] == ["2"]
    (problem,) = service.damaged()
    assert problem.sentence.startswith("The journal of run 1 is damaged: entry 2, ")
    assert [(one.run_id, one.obligation.key) for one in service.obligations()] == [("1", FREEZE.key), ("2", FREEZE.key)]
    with pytest.raises(JournalDamaged):
        service.view("1")
    with pytest.raises(JournalDamaged):
        service.addresses("1")


def test_that_an_obligation_that_can_not_be_decoded_hides_no_other(service: ProcedureService, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as connection, connection:
        connection.execute(
            "UPDATE procedure_entry SET data = ? WHERE run_id = 1 AND kind = 'obligation-taken'",
            ('{"obligation":{"is":"Obligation","key":5}}',),
        )
    assert [one.run_id for one in service.obligations()] == ["2"]
    assert [problem.code for problem in service.damaged()] == [JournalDamaged.code]
