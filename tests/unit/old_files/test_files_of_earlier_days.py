"""What earlier days wrote still opens, is migrated, says what it said then, and can be gone on with or is refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.cli.procedure_text import run_lines
from app.cli.run_document import run_document
from services.clock import ManualClock
from services.errors import BadInput
from services.history.migrations_state import NEWEST
from services.history.state.store import StateStore
from services.procedures.engine.approving import bound_entries
from services.procedures.engine.engine import Engine
from services.procedures.engine.parts import Parts, Policy
from services.procedures.journal.approval import NotBound
from services.procedures.journal.journal import BoundJournal, StoredJournal
from services.procedures.journal.projection import ENDED, project
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.run_model import Binding, Entry, RunState, RunView
from services.procedures.report.html import report_html
from services.procedures.report.markdown import report_markdown
from tests.faults.scripted.acting import ScriptedActor
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.proving import ScriptedProver
from tests.faults.scripted.running import ScriptedHosts, Somebody, WaitingClock
from tests.unit.old_files.kept import STORES, Kept, KeptKey, runs_of, unpacked

Runs = tuple[tuple[Kept, tuple[Entry, ...], RunView], ...]
LATER = 1_800_000_000.0
VERSIONS = {"2026-11-21": 2, "2026-11-23": 4}
"""Of stores that were not yet of the newest version."""
UNBOUND = frozenset({"2026-11-21"})
"""Stores of before lines were sealed."""
AGAINST_LATER_LAWS = {
    "2026-11-21": {
        "freeze-gcache": "nothing proves its history before",
        "rolling-restart": "nothing proves its history before",
        "add-node": "nothing proves its history before",
        "bootstrap-after-crash": "nothing compares them with the present",
    }
}
"""Plans that no run goes forward by any more: they start servers without the proofs that came later."""
BETWEEN = tuple(day for day in STORES if day not in VERSIONS)[1:-1]
"""Of the newest version all, neither the first day nor the last: `test everything` reads them too."""
CLUSTER = "6b2a7c1e-0000-11f0-8000-00000000000a"


@pytest.fixture(
    params=[pytest.param(day, marks=[pytest.mark.long] if day in BETWEEN else []) for day in STORES], scope="module"
)
def day(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def store(day: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateStore]:
    file = unpacked(f"store-{day}.sqlite3", tmp_path_factory.mktemp("data"))
    with StateStore.open(file, clock=ManualClock(LATER)) as opened:
        yield opened


@pytest.fixture(scope="module")
def journal(store: StateStore) -> StoredJournal:
    return StoredJournal(store, KeptKey())


@pytest.fixture(scope="module")
def runs(day: str, journal: StoredJournal) -> Runs:
    """Return each run of the day's store with its entries, and as it is shown: read once."""
    read = ((run, journal.entries(run.run_id)) for run in runs_of(day))
    return tuple((run, entries, project(entries)) for run, entries in read)


def _version(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return int(connection.execute("SELECT version FROM state_version").fetchone()[0])


def _lines(file: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT * FROM procedure_entry ORDER BY run_id, seq").fetchall()


def _broken_law(day: str, kept: Kept) -> str:
    return AGAINST_LATER_LAWS.get(day, {}).get(kept.procedure, "")


def _engine(journal: StoredJournal, run_id: str) -> Engine:
    """Return an engine whose acts reach nobody's host."""
    cluster = whole("n1", "n2", "n3")
    prover, actor = ScriptedProver(cluster, []), ScriptedActor(cluster)
    return Engine(Parts(journal, ScriptedHosts(), actor, prover, WaitingClock(), Somebody()), run_id)


def test_that_stores_of_five_days_at_least_are_kept_with_every_way_in_which_a_run_rests() -> None:
    assert len(STORES) >= 5
    for day in STORES:
        kept = runs_of(day)
        assert {run.state for run in kept} >= {
            "approved", "running", "waiting for you", "failed", "done", "undoing", "undone", "undo failed",
        }, day  # fmt: skip
        assert len({run.procedure for run in kept}) >= 5, day


def test_that_an_old_store_is_migrated_and_what_it_was_is_kept_beside_it(day: str, tmp_path: Path) -> None:
    file = unpacked(f"store-{day}.sqlite3", tmp_path)
    before, version = _lines(file), _version(file)
    assert version == VERSIONS.get(day, NEWEST)
    with StateStore.open(file, clock=ManualClock(LATER)):
        assert _version(file) == NEWEST
    assert _lines(file) == before
    backups = list(tmp_path.glob("*.bak"))
    assert [backup.name for backup in backups] == ([f"{file.name}.v{version}.bak"] if version < NEWEST else [])
    for backup in backups:
        assert (_version(backup), _lines(backup)) == (version, before)


def test_that_what_an_old_store_remembers_of_console_nodes_and_marks_is_read(day: str, store: StateStore) -> None:
    assert store.get_setting("theme") == "dark"
    (node,) = store.node_history("n1")
    assert (node.cluster_uuid, node.node_uuid, node.server_uuid, node.seqno) == (CLUSTER, "node-1", "server-1", 1234)
    assert [(one.source, one.seqno) for one in store.positions("n1")] == [("running", 1234)]
    if day != "2026-11-21":  # positions of files came with version 4
        assert [(one.source, one.seqno) for one in store.positions("n3")] == [("grastate", 1200)]
    ended = store.last_unclean_end()
    assert ended is not None
    assert (ended.machine, ended.version) == ("console", "0.1")
    marks = [mark.name for mark in store.change_marks("inventory").all()]
    assert marks == (["new pool"] if day not in VERSIONS else [])


def test_that_every_run_of_an_old_journal_stands_as_its_own_day_left_it(
    day: str, journal: StoredJournal, runs: Runs
) -> None:
    assert list(journal.runs()) == [run.run_id for run in reversed(runs_of(day))]
    for run, entries, view in runs:
        assert (view.plan.procedure, view.state.value, len(entries)) == (run.procedure, run.state, run.entries), run
        wrong = " ".join(violations(view.plan, begun=True))
        law = _broken_law(day, run)
        assert (law in wrong) if law else (not wrong), (run, wrong)
        assert journal.chain(run.run_id).binding is (Binding.OLD if day in UNBOUND else Binding.BOUND), run


def test_that_every_run_of_an_old_journal_is_shown_and_reported(runs: Runs) -> None:
    for run, entries, view in runs:
        shown, report = "\n".join(run_lines(view, commands=True)), report_markdown(view, entries)
        assert len(shown.splitlines()) > len(view.steps), run
        words = " ".join(report.replace("\\", "").split())
        assert view.plan.title in words, run
        assert view.sentence.replace("\\", "").split("\n")[0].strip() in words, run
        assert json.loads(json.dumps(run_document(view)))["state"] == run.state, run
        if run.course == "undo killed":
            assert view.plan.title in report_html(view, entries), run


def test_that_a_run_of_an_old_journal_is_gone_on_with_or_refused_by_the_law_it_breaks(
    day: str, journal: StoredJournal
) -> None:
    for run in runs_of(day):
        if run.state in {"done", "undone"}:
            continue
        engine, law = _engine(journal, run.run_id), _broken_law(day, run)
        assert engine.view.state.value == run.state
        forward = engine.view.state not in {*ENDED, RunState.UNDOING, RunState.UNDO_FAILED}
        if law and forward:
            with pytest.raises(BadInput, match="violates the plan rules") as refused:
                engine.run()
            assert law in refused.value.as_text()
            assert f"pilothouse undo {run.run_id}" in refused.value.as_text()
        assert len(journal.entries(run.run_id)) == run.entries, "nothing was written"


def test_that_a_run_approved_before_seals_is_approved_anew_or_left_to_its_hosts(
    day: str, journal: StoredJournal
) -> None:
    for run in runs_of(day):
        if day not in UNBOUND:
            assert len(BoundJournal(journal).entries(run.run_id)) == run.entries
            continue
        with pytest.raises(NotBound, match="approved before digests existed") as unbound:
            bound_entries(journal, run.run_id, Policy(), "run", "")
        again = Policy(approved=unbound.value.approve, by="somebody")
        if _broken_law(day, run):
            with pytest.raises(BadInput, match="violates the plan rules") as refused:
                bound_entries(journal, run.run_id, again, "undo", "")
            assert "Check its hosts by hand" in refused.value.as_text()
            assert len(journal.entries(run.run_id)) == run.entries
