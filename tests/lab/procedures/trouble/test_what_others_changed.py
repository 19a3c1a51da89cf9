"""Undo on real servers beside a colleague: a changed option file, and a data folder that an SST began to erase."""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.whole import Whole

pytestmark = pytest.mark.slow
OWN = "/etc/mysql/mariadb.conf.d/99-pilothouse.cnf"
DATA = "/var/lib/mysql"


def _written(console: Console) -> None:
    inputs = {"pause": "1 s", "soak": "3 s", "downtime": "20 s", "option": "innodb_io_capacity", "value": "444"}
    killed = console.killed_run("s3:option=done", "rolling-restart", **inputs, nodes="s3")
    assert killed.code == KILLED, killed


@pytest.mark.long
def test_that_a_line_of_a_colleague_in_the_runs_own_file_outlives_the_undo(
    steer: Estate, console: Console, whole: Whole
) -> None:
    _written(console)
    steer.host("s3").sh(f"echo 'max_allowed_packet = 64M' >> {OWN}")
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host("s3").sh(f"cat {OWN}").out.split() == ["[mysqld]", "max_allowed_packet", "=", "64M"]
    assert steer.host("s3").sh(f"ls {OWN}.pilothouse-*", check=False).out == ""
    steer.host("s3").sh(f"rm {OWN}")


@pytest.mark.long
def test_that_a_file_whose_line_a_colleague_changed_is_kept_and_needs_a_person(
    steer: Estate, console: Console, whole: Whole
) -> None:
    _written(console)
    steer.host("s3").sh(f"sed -i s/444/555/ {OWN}")
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 4, undone
    view = console.assert_ended(RunState.UNDONE, undone)
    assert f"Not restored: {OWN} on s3 was changed by someone else since" in view.sentence
    assert "555" in steer.host("s3").sh(f"cat {OWN}").out
    steer.host("s3").sh(f"rm {OWN} {OWN}.pilothouse-*")


@pytest.mark.long
def test_that_an_undo_says_that_an_sst_had_erased_the_joiners_data_folder(
    steer: Estate, console: Console, whole: Whole
) -> None:
    steer.stop("s3")
    steer.host("s3").sh(f"rm {DATA}/grastate.dat")
    words = {"joiner": "s3", "donor": "s1", "sst_ok": "yes", "keep_data": "no", "settle": "3 s"}
    inputs = [word for name, value in words.items() for word in ("--input", f"{name}={value}")]
    with console.running("run", "add-node", *inputs, "--yes") as running:
        running.wait_for_step("start-s3")
        while_asserts(lambda: _erased(steer), limit_s=60)
        running.kill()
        steer.host("s3").sh("systemctl kill -s KILL mariadb")
        _erased(steer)
    undone = console("undo", console.runs()[0], "--yes")
    view = console.view()
    assert undone.code == 4, undone
    assert "was erased by an interrupted SST and contains no database now" in view.sentence
    assert "All changes of the run were rolled back" not in view.sentence


def _erased(estate: Estate) -> None:
    assert not estate.host("s3").sh(f"test -e {DATA}/ibdata1", check=False).ok, "not erased yet"
