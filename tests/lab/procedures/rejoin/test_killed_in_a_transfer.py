"""Killed while a full transfer ran: the donor's data are whole, whatever its script left beside them.

wsrep_sst.pid is written by donor and joiner alike (wsrep_sst_common, wait_previous_sst; MariaDB 10.11.18): a donor that
died with its script keeps it. Before, such a donor was 'a state transfer into it was not finished', and nobody's.
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, acknowledge, forget, make_ledger
from tests.lab.procedures.states.obstacles import GRASTATE
from tests.lab.procedures.whole import Whole, members

pytestmark = pytest.mark.slow
DATA = "/var/lib/mysql"


def rows(estate: Estate, host: str) -> set[int]:
    return {int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}")}


def _gives(estate: Estate, host: str) -> None:
    assert estate.host(host).sh(f"test -e {DATA}/wsrep_sst.pid", check=False).ok, f"{host} gives no state yet"


def _power_is_cut(estate: Estate, *hosts: str) -> None:
    """SIGKILL the server and its scripts at once: a script that outlives its server takes its file away."""
    for host in hosts:
        estate.host(host).sh("systemctl kill -s KILL mariadb")


def _joins_from_s1(estate: Estate) -> None:
    """s3 has lost its data and asks s1 for all of it; s1's script runs then."""
    estate.stop("s3")
    forget(estate, "s3")
    estate.host("s3").sh("systemctl start --no-block mariadb")
    while_asserts(lambda: _gives(estate, "s1"), limit_s=40)


@pytest.mark.long
def test_that_a_donor_that_died_in_its_transfer_is_bootstrapped_with_the_rows_that_only_it_has(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    steer.stop("s2")
    only = acknowledge(steer, "s1", 1_000)
    _joins_from_s1(steer)
    _power_is_cut(steer, "s1", "s3")
    _gives(steer, "s1")
    ran = console.run("bootstrap-after-crash", *CONFIRM)
    console.assert_ended(RunState.DONE, ran)
    assert console.view().plan.step("bootstrap").host == "s1"
    assert [rows(steer, name) for name in members(steer)] == [set(shared | only)] * 3


@pytest.mark.long
def test_that_a_donor_that_died_in_its_transfer_returns_by_ist_and_what_its_script_left_is_no_transfer(
    steer: Estate, console: Console, whole: Whole
) -> None:
    shared = make_ledger(steer)
    steer.kill9("s1")
    steer.host("s1").sh(f"install -o mysql /dev/null {DATA}/wsrep_sst.pid")
    written = acknowledge(steer, "s2", 2_000)
    ran = console.run("add-node", joiner="s1", sst_ok="no", settle="3 s")
    console.assert_ended(RunState.DONE, ran)
    assert "by IST" in ran.out, ran
    steer.host("s2").sh(f"install -o mysql /dev/null {DATA}/wsrep_sst.pid")
    planned = console("plan", "rolling-restart", "--input", "nodes=s3")
    assert planned.code == 0, planned
    assert [rows(steer, name) for name in members(steer)] == [set(shared | written)] * 3


@pytest.mark.long
def test_that_a_joiner_that_died_before_anything_was_erased_keeps_its_position(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """Its script leaves sst_in_progress before IST or SST is decided; grastate.dat names the state until then."""
    shared = make_ledger(steer)
    steer.kill9("s3")
    steer.host("s3").sh(
        f"install -o mysql /dev/null {DATA}/sst_in_progress; grep -q '^uuid: *[0-9a-f]*[1-9a-f]' {GRASTATE}"
    )
    written = acknowledge(steer, "s1", 2_000)
    ran = console.run("add-node", joiner="s3", sst_ok="no", settle="3 s")
    console.assert_ended(RunState.DONE, ran)
    assert "by IST" in ran.out, ran
    assert [rows(steer, name) for name in members(steer)] == [set(shared | written)] * 3
