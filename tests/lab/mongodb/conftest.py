"""Tests of real MongoDB are left out where no binaries are at hand: no package registry has those of 3.2 (lab.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.mongodb.procedures.conversion import COPY, anew, files, is_mirrored
from tests.lab.mongodb.servers import binary, has_tls
from tests.sample import leave_out

_HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them, and say it; those on scripted servers, which say so in their names, run every time."""
    if binary("mongod", "3.2") is None:
        said = "tests of real MongoDB are left out: PILOTHOUSE_LAB_MONGODB names no folder with a mongod-3.2"
        leave_out(config, items, _needs_binaries, said)
    elif not has_tls():
        said = "tests of TLS are left out: the mongod of PILOTHOUSE_LAB_MONGODB was built without it"
        leave_out(config, items, lambda item: item.get_closest_marker("tls_build") is not None, said)


def _needs_binaries(item: pytest.Item) -> bool:
    return item.path.is_relative_to(_HERE) and "scripted" not in str(item.path.relative_to(_HERE)) + item.name


@pytest.fixture
def mirrored(mongo_sccc: Estate) -> Iterator[Estate]:
    """The cluster with mirrored config servers; made anew where a test has converted it, or left a copy behind."""
    if not is_mirrored(mongo_sccc):
        anew(mongo_sccc)
    before = files(mongo_sccc)
    yield mongo_sccc
    if files(mongo_sccc) != before or not is_mirrored(mongo_sccc):
        anew(mongo_sccc)
    mongo_sccc.host("c3").sh(f"rm -rf {COPY} {COPY}.part {COPY}.trial")
