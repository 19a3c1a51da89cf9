"""rolling-restart on real servers: all nodes, one option on all of them, again, and taken back; no row is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.run_model import RunState, StepState
from tests.lab.estate import database
from tests.lab.estate.estate import Estate
from tests.lab.procedures.secret_search import SecretSearch
from tests.lab.procedures.steering import Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

QUICK: dict[str, object] = {"pause": "1 s", "downtime": "20 s"}
OPTION: dict[str, object] = {**QUICK, "option": "innodb_io_capacity", "value": "444"}


def _pids(estate: Estate) -> dict[str, int | None]:
    return {name: database.pid(estate.spec, name) for name in members(estate)}


def _capacity(estate: Estate) -> set[str]:
    return {estate.sql(name, "SELECT @@GLOBAL.innodb_io_capacity")[0][0] for name in members(estate)}


@pytest.mark.slow
def test_that_every_node_is_restarted_one_at_a_time_and_returns_by_ist_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    before = _pids(steer)
    with SecretSearch(steer, tmp_path, steer.client_dir) as search, Writer(steer, members(steer)) as writer:
        ran = console.run("rolling-restart", **QUICK)
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost()
        search.assert_none(ran.out, ran.err)
    after = _pids(steer)
    assert all(after[name] not in {None, before[name]} for name in before)
    transfers = [s for s in view.steps if s.step.step_id.split(":")[-1].startswith("transfer-")]
    assert len(transfers) == 3
    assert all(s.state is StepState.DONE and "IST" in " ".join((s.said, *s.evidence)) for s in transfers)
    whole.assert_as_before()


@pytest.mark.slow
def test_that_an_option_is_changed_on_every_node_then_there_is_nothing_to_do_and_undo_takes_it_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, members(steer)) as writer:
        ran = console.run("rolling-restart", **OPTION)
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        assert _capacity(steer) == {"444"}
        changed = console.runs()[0]
        pids = _pids(steer)
        again = console.run("rolling-restart", **OPTION)
        assert again.code == 0, again
        assert "othing to do" in again.out + again.err, again
        assert _pids(steer) == pids
        undone = console("undo", changed, "--yes")
        assert undone.code in {0, 3}, undone
        writer.assert_nothing_lost()
    assert _capacity(steer) == {"200"}
    whole.assert_as_before()
