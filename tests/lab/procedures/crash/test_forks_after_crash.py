"""After a crash that left more than one truth: forks, rows on one node only, a host that came back, damaged files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, galera
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import ROWS, assert_extracted, rows_on_one_only, state_files, two_forks
from tests.lab.procedures.states.obstacles import OTHER_UUID, assert_refused, grastate
from tests.lab.procedures.whole import Whole, members

CRASH = "bootstrap-after-crash"
LOSE = ("--confirm", f"lose {ROWS} of s3")
pytestmark = pytest.mark.slow


@pytest.mark.long
def test_that_forks_are_told_and_nothing_is_bootstrapped_until_a_person_chose_the_side_and_typed_its_cost(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with two_forks(steer) as ledger:
        refused = console.run(CRASH, "--json", *CONFIRM, "--override", "HISTORY=I know better")
        check = assert_refused(refused, "HISTORY")
        assert "s1 and s3 FORKED" in check["evidence"], check
        assert console.runs() == ()
        waits = console.run(CRASH, *CONFIRM, bootstrap="s1")
        assert waits.code == 4, waits  # nobody has typed what s3 loses
        assert not any(database.pid(steer.spec, name) for name in members(steer))
        ran = console("resume", console.runs()[0], "--yes", *CONFIRM, *LOSE)
        console.assert_ended(RunState.DONE, ran)
        for name in ("s1", "s2"):
            ledger.assert_on(steer, name, "s1")
        assert database.pid(steer.spec, "s3") is None
        assert f"{ROWS} write sets" in waits.out, waits
        kept = dict(console.view().kept)
        assert kept["extracted-s3"].startswith(f"{ROWS} transactions, 0 statements, tables: sbtest.ledger"), kept


@pytest.mark.long
def test_that_the_majority_may_lose_too_where_a_person_chose_the_single_node_that_has_fewer_write_sets(
    steer: Estate, console: Console, whole: Whole
) -> None:
    typed = (word for name in ("s1", "s2") for word in ("--confirm", f"lose {ROWS} of {name}"))
    with two_forks(steer, fewer=7, losers=("s1", "s2")) as ledger:
        ran = console.run(CRASH, *CONFIRM, *typed, bootstrap="s3")
        console.assert_ended(RunState.DONE, ran)
        ledger.assert_on(steer, "s3", "s3")
        for name in ("s1", "s2"):
            assert database.pid(steer.spec, name) is None
            assert_extracted(steer, name, ledger.only["s1"])


@pytest.mark.long
def test_that_rows_of_a_member_that_was_left_out_are_counted_and_only_given_up_by_a_typed_word(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with rows_on_one_only(steer) as ledger:
        waits = console.run(CRASH, *CONFIRM, nodes="s1,s2")
        assert waits.code == 4, waits
        assert f"s3 has {ROWS} more write sets" in waits.out, waits
        assert not any(database.pid(steer.spec, name) for name in members(steer))
        ran = console("resume", console.runs()[0], "--yes", *CONFIRM, *LOSE)
        console.assert_ended(RunState.DONE, ran)
        for name in ("s1", "s2"):
            ledger.assert_on(steer, name)
        assert database.pid(steer.spec, "s3") is None


@pytest.mark.long
def test_that_no_second_primary_is_made_beside_a_host_that_was_called_off_and_bootstrapped_by_a_colleague(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with _back_by_a_colleague(steer, console) as run_id:
        ran = console("resume", run_id, "--yes", *CONFIRM, "--confirm", "without s3")
        view = console.view(run_id)
        (failed,) = [step for step in view.steps if step.state is StepState.FAILED]
        assert failed.step.step_id == "bootstrap", ran
        assert "s3" in failed.error, failed
        assert "Primary" in failed.error, failed
        assert [n for n in members(steer) if database.pid(steer.spec, n)] == ["s3"]


@contextmanager
def _back_by_a_colleague(estate: Estate, console: Console) -> Iterator[str]:
    """A run waits for the bootstrap to be confirmed, s3 called off; then s3 is back and Primary."""
    with rows_on_one_only(estate):
        estate.cut(["s3"])
        waits = console.run(CRASH, "--confirm", "without s3", nodes="s1,s2", gone="s3")
        assert waits.code == 4, waits
        estate.heal()
        galera.bootstrap(estate.spec, "s3")
        yield console.runs()[0]


@pytest.mark.long
def test_that_damaged_state_files_have_no_majority_and_a_truncated_one_makes_no_candidate(
    steer: Estate, console: Console, whole: Whole
) -> None:
    uuid = steer.sql("s1", "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")[0][1]
    assert console("topology").code == 0  # this console has seen them
    for name in members(steer):
        steer.stop(name)
    with state_files(steer, s2=grastate(OTHER_UUID), s3=grastate(OTHER_UUID)):
        for nodes in ("s1,s2,s3", "s2,s3"):
            check = assert_refused(console.run(CRASH, "--json", *CONFIRM, nodes=nodes), "UUID-MISMATCH")
            assert f"s2: grastate.dat {OTHER_UUID}, we saw it in {uuid}" in check["evidence"], check
            assert not any("Leave s1" in advice for advice in check["try_"]), check
    with state_files(steer, s3=grastate(uuid, 1_000)[:-30]):
        ran = console("plan", CRASH)
        assert "s3: grastate damaged" in " ".join(ran.out.split()), ran
