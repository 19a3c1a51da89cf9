"""What runs left on is looked at while the window is open: once at first, not again before its time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest
from pytestqt.qtbot import QtBot

from services.procedures.plan.run_model import OpenObligation
from services.procedures.service.service import ProcedureService
from tests.widgets import builders_procedures as p
from widgets.bridge.duty_watch import DutyWatch
from widgets.bridge.ops import Ops

DUTY = OpenObligation("47", p.FREEZE, p.NOW - 600)


class LookedAt:
    """A service that counts the looks."""

    def __init__(self) -> None:
        self.looks = 0

    def look_at_obligations(self) -> tuple[OpenObligation, ...]:
        self.looks += 1
        return (DUTY,)


@pytest.fixture
def ops() -> Iterator[Ops]:
    made = Ops()
    yield made
    made.shutdown()


def test_that_what_is_left_on_is_looked_at_once_and_then_told_anew(qtbot: QtBot, ops: Ops) -> None:
    service, told = LookedAt(), list[str]()
    watch = DutyWatch(ops, lambda: told.append("anew"))
    watch.saw(cast("ProcedureService", service), ())
    assert not ops.busy()  # nothing is on: no host is asked
    watch.saw(cast("ProcedureService", service), (DUTY,))
    qtbot.waitUntil(lambda: told == ["anew"])
    watch.saw(cast("ProcedureService", service), (DUTY,))  # what was told anew is no reason to look again
    assert not ops.busy()
    assert service.looks == 1
