"""freeze-gcache: on the provider that can, a node comes back by IST and the cache is released on every way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.secret_search import SecretSearch
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import members

OVERRIDE = ("--override", "FOREIGN-PROVIDER=the lab loads it on purpose, on all nodes")
INPUTS: dict[str, object] = {"node": "f3", "donor": "f1", "away": "1 min", "floor": "100 MB"}


def _frozen_at(estate: Estate, host: str) -> str:
    options = estate.sql(host, "SELECT @@GLOBAL.wsrep_provider_options")[0][0]
    found = [o.partition("=")[2].strip() for o in options.split(";") if "gcache.freeze_purge_at_seqno" in o]
    assert len(found) == 1, options
    return found[0]


@pytest.mark.slow
def test_that_a_node_comes_back_by_ist_while_its_donor_keeps_its_cache_and_no_row_is_lost(
    freezing: Estate, freezing_console: Console, tmp_path: Path
) -> None:
    console = freezing_console
    with SecretSearch(freezing, tmp_path) as search, Writer(freezing, members(freezing)) as writer:
        refused = console.run("freeze-gcache", **INPUTS)
        assert refused.code == 1, refused
        assert "FOREIGN-PROVIDER" in refused.out + refused.err, refused
        ran = console.run("freeze-gcache", *OVERRIDE, **INPUTS)
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        assert [o.code for o in view.overrides] == ["FOREIGN-PROVIDER"]
        writer.assert_nothing_lost()
        search.assert_none(ran.out, ran.err)
    assert "Receiving IST" in freezing.host("f3").sh("journalctl -u mariadb -o cat -n 200 --no-pager").out
    transfer = next(s for s in view.steps if s.step.step_id == "transfer-f3")
    assert "IST" in " ".join((transfer.said, *transfer.evidence))
    kept = dict(view.kept)
    assert 0 <= int(kept["frozen_at"]) <= int(kept["first_cached"]) <= int(kept["stopped_at"])
    first = console("report", view.run_id).out.split("## Steps")[0]
    assert all(f"| {kept[name]} |" in first for name in ("frozen_at", "first_cached", "stopped_at")), first
    assert _frozen_at(freezing, "f1") == "-1"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["undo", "resume"])
def test_that_a_console_killed_while_the_node_is_away_leaves_a_cache_that_undo_and_resume_release(
    freezing: Estate, freezing_console: Console, way: str
) -> None:
    console = freezing_console
    killed = console.killed_run("maintenance=acting", "freeze-gcache", *OVERRIDE, **INPUTS)
    assert killed.code == KILLED, killed
    assert int(_frozen_at(freezing, "f1")) >= 0
    assert "freeze:f1" in console.open_obligations()
    ran = console(way, console.runs()[0], "--yes")
    assert ran.code in {0, 3}, ran
    console.assert_ended(RunState.DONE if way == "resume" else RunState.UNDONE, ran)
    assert _frozen_at(freezing, "f1") == "-1"
    freezing.wait_synced(size=3)


def test_that_a_freeze_that_somebody_left_is_refused_for_another_and_ended_by_its_own_mode(
    freezing: Estate, freezing_console: Console
) -> None:
    freezing.sql("f1", "SET GLOBAL wsrep_provider_options='gcache.freeze_purge_at_seqno=now'")
    refused = freezing_console.run("freeze-gcache", *OVERRIDE, **INPUTS)
    assert refused.code == 1, refused
    assert "FREEZE-SEEN" in refused.out + refused.err
    ran = freezing_console.run("freeze-gcache", *OVERRIDE, mode="release")
    assert ran.code == 0, ran
    freezing_console.assert_ended(RunState.DONE, ran)
    assert _frozen_at(freezing, "f1") == "-1"


def test_that_a_stock_provider_is_refused_with_the_size_the_cache_would_need(steer: Estate, console: Console) -> None:
    with Writer(steer, members(steer), rate=30):
        ran = console.run("freeze-gcache", node="s3", donor="s1")
    assert ran.code == 1, ran
    said = ran.out + ran.err
    assert "FREEZE-CAPABILITY" in said
    assert "gcache.size" in said
    assert console.runs() == ()
