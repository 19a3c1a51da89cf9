"""add-node on real servers: a spare host by SST and its whole undo, a member that was away by IST."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.host.rootfs import root
from tests.lab.estate.shell import run
from tests.lab.procedures.console.secret_search import SecretSearch
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

_LISTING = "find /var/lib/mysql -type f -printf '%P %s %u\\n' | sort"


@pytest.fixture
def plain_folder(steer: Estate, whole: Whole) -> Iterator[None]:
    """The spare's data folder on its root file system, as most hosts have it: one that may be renamed."""
    steer.host("new").sh("systemctl stop mariadb; umount /var/lib/mysql")
    try:
        yield
    finally:
        steer.host("new").sh("systemctl stop mariadb", limit_s=90, check=False)
        steer.host("new").sh("rm -rf /var/lib/mysql.pilothouse-*; find /var/lib/mysql -mindepth 1 -delete", check=False)
        image = ensure_image(steer.spec.host("new").release)
        run(["cp", "-a", "--sparse=always", f"{image}/var/lib/mysql/.", f"{root(steer.spec, 'new')}/var/lib/mysql"])
        steer.reboot("new")  # the mount comes back with it


@pytest.mark.slow
def test_that_a_spare_host_joins_by_sst_and_then_there_is_nothing_to_do(
    steer: Estate, console: Console, whole: Whole, plain_folder: None, tmp_path: Path
) -> None:
    with SecretSearch(steer, tmp_path, steer.client_dir) as search, Writer(steer, members(steer)) as writer:
        ran = console.run("add-node", joiner="new")
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        steer.wait_synced([*members(steer), "new"], size=4)
        for name in members(steer):
            listed = steer.host(name).sh("my_print_defaults mysqld | grep wsrep.cluster.address").out
            assert steer.addresses["new"] in listed
        console.assert_nothing_to_do("add-node", joiner="new")
        writer.assert_nothing_lost([*members(steer), "new"])
        search.assert_none(ran.out, ran.err)


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_that_was_added_is_taken_away_again_with_its_old_data_and_every_file_back(
    steer: Estate, console: Console, whole: Whole, plain_folder: None
) -> None:
    old_data = steer.host("new").sh(_LISTING).out
    with Writer(steer, members(steer)) as writer:
        killed = console.killed_run("whole=acting", "add-node", joiner="new")
        assert killed.code == KILLED, killed
        steer.wait_synced([*members(steer), "new"], size=4)
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code == 0, undone
        console.assert_ended(RunState.UNDONE, undone)
        writer.assert_nothing_lost(members(steer))
    steer.wait_synced(size=3)
    assert steer.host("new").sh(_LISTING).out == old_data
    whole.assert_as_before()


@pytest.mark.slow
def test_that_a_member_that_was_away_returns_by_ist(steer: Estate, console: Console, whole: Whole) -> None:
    with Writer(steer, ("s1", "s2")) as writer:
        steer.stop("s3")
        ran = console.run("add-node", joiner="s3", sst_ok="no")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        transfer = next(s for s in view.steps if s.step.step_id == "transfer-s3")
        assert "by IST" in " ".join(transfer.evidence)
        writer.assert_nothing_lost(members(steer))
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_member_that_was_killed_is_asked_for_its_position_and_returns_by_ist(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with Writer(steer, ("s1", "s2")) as writer:
        steer.kill9("s3")
        steer.wait_synced(["s1", "s2"], size=2, limit_s=60)
        ran = console.run("add-node", joiner="s3", settle="5 s")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        steps = {s.step.step_id: s for s in view.steps}
        assert list(steps)[:4] == ["restart-off-s3", "down-s3", "recover-s3", "transfer-known"]
        assert not any(name.startswith("keep-data") for name in steps)
        assert "by IST" in " ".join(steps["transfer-s3"].evidence)
        writer.assert_nothing_lost(members(steer))
    whole.assert_as_before()
