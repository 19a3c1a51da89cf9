"""mongo-config-rs: what a reviewer found by reading it, each with the loss that it would have brought."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.procedures.conditions.machine.there import FolderThere
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.fields import Inputs
from services.procedures.plan.model import Plan, Step
from tests.unit.procedures.catalogue.test_mongo_config_rs import ROLLING, WINDOW, _facts, _plan


def _step(plan: Plan, step_id: str) -> Step:
    return next(step for step in plan.steps if step.step_id == step_id)


def _copies(step: Step) -> list[tuple[str, ...]]:
    assert isinstance(step.action, Several)
    return [one.command.argv for one in step.action.actions if isinstance(one, Run) and one.command.argv[0] == "cp"]


@pytest.mark.parametrize(("inputs", "steps"), [(ROLLING, ("c3:copied", "scratch-up")), (WINDOW, ("c1:copied",))])
def test_that_a_copy_shares_nothing_with_its_source_by_a_symbolic_link(
    inputs: Inputs, steps: tuple[str, ...], tmp_path: Path
) -> None:
    """A journal on a disk of its own is a link in the data folder: two servers would write one journal."""
    fast, live = tmp_path / "fast", tmp_path / "live"
    fast.mkdir()
    live.mkdir()
    (fast / "WiredTigerLog.1").write_text("x")
    (live / "journal").symlink_to(fast)
    (tmp_path / "link").symlink_to(live)
    for number, step in enumerate(steps):
        (argv,) = _copies(_step(_plan(_facts(), inputs), step))
        copy = tmp_path / f"copy{number}"
        subprocess.run([*argv[:-2], str(tmp_path / "link"), str(copy)], check=True)
        assert not copy.is_symlink()
        assert not (copy / "journal").is_symlink()
        assert (copy / "journal" / "WiredTigerLog.1").read_text() == "x"


def test_that_a_new_hosts_folder_is_no_symbolic_link() -> None:
    """find(1) follows none: taken back, the folder would never be empty, and the run never at rest."""
    before = _step(_plan(_facts()), "n1:up").before
    assert FolderThere("n1", "/data/db") in before
