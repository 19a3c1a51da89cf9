"""A cluster of a newer release, and a host of an older one: it does not join, and neither of them is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.obstacles import assert_refused
from tests.lab.procedures.whole import Whole


@pytest.mark.long
def test_that_a_host_of_an_older_release_does_not_join_a_newer_cluster(mixed: Estate, tmp_path: Path) -> None:
    before = Whole(mixed)
    console = Console(mixed, tmp_path / "data")
    check = assert_refused(console.run("add-node", "--json", joiner="late"), "VERSIONS")
    for name in ("m1", "late"):
        assert f"{name}: {database.version(mixed.spec, name)}" in check["evidence"]
    assert console.runs() == ()
    assert database.pid(mixed.spec, "late") is None
    before.assert_as_before()
