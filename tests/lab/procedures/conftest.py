"""A console, a whole estate before and after, and no test of the freezing provider where the lab can't have it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states import backups
from tests.lab.procedures.whole import Whole
from tests.sample import leave_out

_FREEZING = "freezing"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what needs Percona's provider where PILOTHOUSE_LAB_GALERA names none, and say so."""
    if os.environ.get("PILOTHOUSE_LAB_GALERA"):
        return
    said = (
        "tests of a frozen gcache are left out: PILOTHOUSE_LAB_GALERA names no provider library that can freeze "
        "(the refusal without one is tested)."
    )
    leave_out(config, items, lambda item: _FREEZING in getattr(item, "fixturenames", ()), said)


@pytest.fixture(scope="session")
def steer_before(steer_estate: Estate) -> Whole:
    """The steer estate as it was before the first procedure."""
    steer_estate.undo()
    return Whole(steer_estate)


@pytest.fixture
def whole(steer: Estate, steer_before: Whole) -> Iterator[Whole]:
    """The steer estate before the test; made so again after it."""
    yield steer_before
    steer_before.restore()


@pytest.fixture
def console(steer: Estate, whole: Whole, tmp_path: Path) -> Console:
    """A workstation whose inventory has every host of the steer estate."""
    return Console(steer, tmp_path / "data")


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[None]:
    """Backups of s3 on its own disk, and s3 stopped after more was written."""
    del whole
    backups.make_chain(steer, "s3")
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        backups.forget(steer, "s3")


@pytest.fixture(scope="session")
def freeze_before(freeze_estate: Estate) -> Whole:
    """The freezing estate as it was before the first procedure."""
    freeze_estate.undo()
    return Whole(freeze_estate)


@pytest.fixture
def freezing_console(freezing: Estate, freeze_before: Whole, tmp_path: Path) -> Iterator[Console]:
    """A workstation for the estate whose provider can freeze."""
    yield Console(freezing, tmp_path / "data")
    freeze_before.restore()
