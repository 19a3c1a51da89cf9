"""Starts that fail on real servers: the cause, what was printed and what was read of it reach everybody who asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.procedures.journal.entries import topology_of
from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.whole import Whole

CAUSE = "unknown variable 'no_such_option=1'"
FILE = "/etc/mysql/conf.d/zz-work.cnf"
WORK: dict[str, object] = {"nodes": "s3", "work": "yes", "pause": "1 s", "soak": "3 s", "downtime": "20 s"}


def _report(console: Console, folder: Path, name: str) -> str:
    path = folder / name
    made = console("report", console.runs()[0], "--html", str(path))
    assert made.code == 0, made
    return path.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.slow
def test_that_a_start_that_fails_shows_the_servers_first_error_everywhere_and_its_undo_as_an_undo(
    steer: Estate, console: Console, whole: Whole, tmp_path: Path
) -> None:
    """Somebody's work on a stopped node leaves an option behind that its server doesn't know."""
    asked = console.run("rolling-restart", **WORK)
    assert asked.code == 4, asked
    steer.host("s3").sh(f"printf '[mysqld]\\nno_such_option=1\\n' > {FILE}")
    try:
        ran = console("resume", console.runs()[0], "--yes", "--answer", "yes")
    finally:
        steer.host("s3").sh(f"rm -f {FILE}")
    assert ran.code == 4, ran
    view = console.view()
    assert view.state is RunState.UNDO_FAILED, ran
    tried = next(s for s in view.steps if s.step.step_id == "s3:worked-config")
    stop = next(s for s in view.steps if s.step.step_id == "s3:stop-s3")
    assert tried.state is StepState.FAILED
    assert CAUSE in tried.error
    assert "It only reads: nothing was changed." in tried.error
    assert any(CAUSE in line for line in tried.output)
    assert stop.state is StepState.UNDO_FAILED
    assert CAUSE in stop.error
    assert "Aborting" not in stop.error
    assert stop.undo is not None
    assert any(CAUSE in line for line in stop.undo.evidence)
    shown = ran.out.splitlines()
    assert any(CAUSE in line and line.strip().startswith("|") for line in shown), ran
    assert any("undo: Start mariadb.service on s3 again" in line and "[undo failed]" in line for line in shown)
    assert CAUSE in _report(console, tmp_path, "failed.html")

    # The server took its state out of grastate.dat before it ended: a start replaces its data, which a person accepts.
    refused = console("undo", console.runs()[0], "--yes")
    assert refused.code == 4, refused
    assert "Type s3 to accept" in refused.out, refused
    undone = console("undo", console.runs()[0], "--yes", "--confirm", "s3", "--json")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    told = next(s for s in json.loads(undone.out)["steps"] if s["id"] == "s3:stop-s3")
    assert told["undo"]["title"] == "Start mariadb.service on s3 again"
    assert told["ended"] <= told["undo"]["started"] < told["undo"]["ended"]
    after = topology_of(console.entries(), "after")
    assert after is not None
    assert {n.name: n.state for n in after.nodes if n.name != "new"} == dict.fromkeys(("s1", "s2", "s3"), "Synced")
    whole.assert_as_before()
