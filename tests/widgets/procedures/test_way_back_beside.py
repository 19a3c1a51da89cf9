"""Beside a run whose cluster is dead stands what brings it back. A made-up run and estate."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.window.controller import Controller
from app.window.steering.side import SideFeed
from services.discovery.model import ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD, ClusterSnapshot
from services.facts.model import Problem
from services.procedures.catalogue import all_procedures
from services.procedures.plan.run_model import RunState
from services.procedures.plan.way_back import way_back
from tests.widgets import builders as b
from tests.widgets import builders_procedures as p
from tests.widgets.fake_sources import FakeRecording
from widgets.bridge.ops import Ops
from widgets.procedures.run.wizard import WizardPage

ABOUTS = tuple(procedure.about for procedure in all_procedures())


class _Source(FakeRecording):
    """An estate of one cluster, or of none."""

    seen: tuple[ClusterSnapshot, ...] = ()

    def snapshot(self) -> object:
        """Return it."""
        return b.estate(*self.seen)


def test_that_a_run_whose_cluster_is_dead_names_and_begins_what_brings_it_back(
    qtbot: QtBot, wizard: WizardPage
) -> None:
    source = _Source()
    pump = SimpleNamespace(snapshot_changed=SimpleNamespace(connect=lambda _slot: None))
    controller = cast("Controller", SimpleNamespace(source=source, pump=pump))
    parent = QObject()
    side = SideFeed(controller, wizard, Ops(parent), parent)
    side.use(ABOUTS)
    view = p.run(6, RunState.RUNNING, live=False)
    view = replace(view, plan=replace(view.plan, charts=()))
    wanted: list[str] = []
    wizard.back.wanted.connect(wanted.append)

    def told(*seen: ClusterSnapshot, problems: tuple[str, ...] = ()) -> str:
        source.seen = seen
        side.follow(view.plan, replace(view, problems=problems), b.healthy().cluster_id)
        return wizard.back.text()

    down = replace(b.healthy(), problems=(Problem("galera", "All are down.", ALL_DOWN),))
    assert told(b.healthy(), problems=(ALL_DOWN,)) == "", "it serves again, whatever the run saw"
    assert "can neither continue nor be rolled back" in told(down)
    assert "bootstrap-after-crash asks every member" in told(down)
    wizard.back.begin.click()
    assert wanted == ["bootstrap-after-crash"]
    assert told() == "", "nothing is seen, and the run saw nothing"
    assert "All members of " in told(problems=(ALL_DOWN,))
    side.stop()
    wizard.set_about(ABOUTS[0])
    assert wizard.back.text() == ""


@pytest.mark.parametrize("code", [ALL_DOWN, NO_PRIMARY, NO_PRIMARY_HEARD])
def test_that_it_is_named_for_runs_that_rest_and_are_no_such_procedure_themselves(code: str) -> None:
    view = p.run(6, RunState.FAILED, live=False)
    found = way_back(view, (code,), ABOUTS)
    assert found is not None
    assert found.command.startswith("pilothouse plan bootstrap-after-crash --cluster ")
    assert way_back(view, (), ABOUTS) is None
    assert way_back(replace(view, ended=1.0), (code,), ABOUTS) is None
    itself = replace(view, plan=replace(view.plan, procedure="bootstrap-after-crash"))
    assert way_back(itself, (code,), ABOUTS) is None
    of_mongodb = replace(view, plan=replace(view.plan, procedure="mongo-config-rs"))
    assert way_back(of_mongodb, (code,), ABOUTS) is None
