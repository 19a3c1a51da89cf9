"""A node returns from a backup that is brought first, on real servers: made now by a donor, or from another host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures import backups
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

NAME = "rejoin-from-incrementals"
PLACE = "/var/lib/pilothouse/pilothouse-brought-s3"
_HOW: dict[str, object] = {"joiner": "s3", "memory": "128 MiB", "settle": "3 s", "donor": "s1"}
_LEFT = f"ls -d {PLACE} /run/pilothouse/*bring* 2>/dev/null; systemctl list-units --all --plain 'pilothouse-*' | cat"


@pytest.fixture
def away(steer: Estate, whole: Whole) -> Iterator[None]:
    """s3 stopped, without a backup on it."""
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        backups.forget(steer, "s3")


def _assert_nothing_is_left(steer: Estate) -> None:
    for host in ("s1", "s2", "s3"):
        told = steer.host(host).sh(_LEFT, check=False).out
        assert "brought" not in told, told
        assert "bring" not in told, told


@pytest.mark.slow
def test_that_a_node_returns_from_a_backup_that_a_donor_makes_now(
    steer: Estate, console: Console, whole: Whole, away: None
) -> None:
    with Writer(steer, ("s1", "s2"), seconds=90) as writer:
        ran = console.run(NAME, backup_from="now", source="s2", **_HOW)
        assert ran.code == 0, ran
        steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
        assert "by IST" in steps["transfer-s3"]
        writer.assert_nothing_lost(members(steer))
    _assert_nothing_is_left(steer)
    backups.forget(steer, "s3")
    whole.assert_as_before()
