"""Whether an SST that began has erased a joiner's data folder, and what an undo says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.steering import exit_code
from services.clock import ManualClock
from services.procedures.conditions.galera.data.data_stands import DataStands
from services.procedures.plan.run_model import RunState
from services.procedures.report.first import not_known
from services.procedures.verify.prover import RealProver
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.running import Bench
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, ScriptedHosts, out

DIR = "/var/lib/mysql"
LINE = "-rw-rw---- 1 27 27 100 1795265449 {}"
STANDS = DataStands("n4", DIR, "a database of n4 itself, not a member's; not kept (keep_data)")


def state(uuid: str) -> str:
    return f"# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   -1\nsafe_to_bootstrap: 0\n"


@pytest.mark.parametrize(
    ("names", "uuid", "holds", "told"),
    [
        (("ibdata1", "mysql"), "", True, "is as it was before"),
        (("sst_in_progress", "grastate.dat"), "", False, "was erased by an interrupted SST and contains no"),
        (("gvwstate.dat",), "", False, "Before the run: a database of n4 itself"),
        (("ibdata1", "grastate.dat"), UUID, False, "was replaced by an SST and contains a copy"),
        (("ibdata1", "sst_in_progress"), "", None, "Not known: whether the interrupted SST had erased"),
    ],
)
def test_that_a_folder_without_its_tablespace_was_erased(
    names: tuple[str, ...], uuid: str, holds: bool | None, told: str
) -> None:
    hosts = ScriptedHosts("n4")
    hosts.sessions["n4"].programs = {"ls": out("\n".join(LINE.format(name) for name in names) + "\n")}
    if uuid:
        hosts.sessions["n4"].programs["cat"] = out(state(uuid))
    answer = RealProver(hosts, ManualClock()).look(STANDS, NOTHING)
    assert (answer.holds, told in answer.evidence) == (holds, True), answer.evidence


@pytest.mark.parametrize(("names", "holds"), [((), True), (("sst_in_progress",), False)])
def test_that_of_a_folder_that_held_no_database_only_what_the_sst_left_is_told(
    names: tuple[str, ...], holds: bool
) -> None:
    hosts = ScriptedHosts("n4")
    hosts.sessions["n4"].programs = {"ls": out("\n".join(LINE.format(name) for name in names) + "\n")}
    answer = RealProver(hosts, ManualClock()).look(replace(STANDS, held=False, had="an empty folder"), NOTHING)
    assert answer.holds is holds
    assert "erased" not in answer.evidence


def test_that_an_undo_says_that_an_sst_erased_the_joiners_database_and_needs_a_person_on_scripted_hosts() -> None:
    bench = Bench(whole("n1", "n2", spare="n3"), "add-node", {"joiner": "n3", "settle": "5 s", "keep_data": "no"})
    bench.begin()
    node = bench.cluster.hosts["n3"]

    def told(when: str, what: str) -> None:
        if when == "after" and "(step start-n3 acting)" in what:
            node.fails_to_start, node.has_data = True, False  # the script cleaned the folder, then it was killed

    bench.journal.told = told
    bench.on_failure = "undo"
    assert bench.run() is RunState.UNDONE
    view = bench.engine().view
    assert "All changes of the run were rolled back" not in view.sentence
    assert "Not rolled back: the data folder of n3 was erased by an interrupted SST" in view.sentence
    assert exit_code(view) == 4
    lost = [getattr(block, "text", "") for block in not_known(view, ())]
    assert any("the data folder of n3 was erased" in text and "Before the run: " in text for text in lost)
