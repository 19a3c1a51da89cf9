"""What a galera_new_cluster that was broken off leaves with systemd: the next start of that host founds a cluster.

Before, add-node called such a host ready and started it: two Primary Components of one UUID, 118 acknowledged rows on
each side; and of an empty one that had founded a cluster of its own it only said that it did not answer yet.
"""

from __future__ import annotations

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.obstacles import GRASTATE
from tests.lab.procedures.whole import Whole

_LEFT = "systemctl set-environment _WSREP_NEW_CLUSTER=--wsrep-new-cluster"
_CLEARED = "systemctl unset-environment _WSREP_NEW_CLUSTER"
_FILE = "/run/mysqld/wsrep-new-cluster"


def _server_of(steer: Estate, host: str) -> str:
    return steer.host(host).sh("pgrep -x mariadbd || true").out.strip()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_that_nobody_is_started_to_join_while_a_founding_is_left_behind(
    steer: Estate, console: Console, whole: Whole
) -> None:
    steer.stop("s3")
    try:
        steer.host("s3").sh(f"sed -i 's/safe_to_bootstrap: 0/safe_to_bootstrap: 1/' {GRASTATE}; {_LEFT}")
        ran = console.run("add-node", "--json", "--override", "JOINS-OTHERS=only a test", joiner="s3", settle="1 s")
        assert "_WSREP_NEW_CLUSTER in systemd's environment gives --wsrep-new-cluster" in ran.out, ran
        assert f"On s3: {_CLEARED}" in ran.out, ran
        assert (ran.code != 0, _server_of(steer, "s3")) == (True, ""), ran
        steer.host("s3").sh(f"{_CLEARED}; echo _WSREP_NEW_CLUSTER=--wsrep-new-cluster > {_FILE}")
        ran = console.run("add-node", "--json", joiner="s3", settle="1 s")
        assert f"_WSREP_NEW_CLUSTER in {_FILE}" in ran.out, ran
        assert (ran.code != 0, _server_of(steer, "s3")) == (True, ""), ran
        steer.host("s3").sh(f"rm {_FILE}")
        # A colleague breaks his off after the checks: it is read again just before the start.
        words = ("run", "add-node", "--input", "joiner=s3", "--input", "settle=1 s", "--yes")
        with console.running(*words) as running:
            running.wait_for_step("name-donor-s3")
            steer.host("s3").sh(_LEFT)
            running.end()
        view = console.view()
        assert view.state is RunState.UNDONE  # unattended, it is taken back at once
        start = next(s for s in view.steps if s.step.step_id == "start-s3")
        assert "_WSREP_NEW_CLUSTER in systemd's environment" in start.error
        assert _server_of(steer, "s3") == ""
        steer.host("s3").sh(_CLEARED)
        assert console.run("add-node", joiner="s3", settle="1 s").code == 0
        steer.wait_synced(("s1", "s2", "s3"), size=3)
    finally:
        steer.host("s3").sh(f"{_CLEARED}; rm -f {_FILE}")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_that_an_empty_host_that_founded_a_cluster_is_named_by_check_and_not_stopped_by_an_undo(
    steer: Estate, console: Console, whole: Whole
) -> None:
    try:
        steer.host("new").sh(_LEFT)
        ran = console.run("add-node", "--json", "--override", "JOINS-OTHERS=only a test", joiner="new", settle="1 s")
        assert "_WSREP_NEW_CLUSTER in systemd's environment gives --wsrep-new-cluster" in ran.out, ran
        assert (ran.code != 0, _server_of(steer, "new")) == (True, ""), ran
        steer.host("new").sh(_CLEARED)
        killed = console.killed_run("start-new=acting", "add-node", joiner="new", settle="1 s")
        assert killed.code == KILLED, killed
        steer.host("new").sh(
            "systemctl stop mariadb; rm -rf /var/lib/mysql/*; mariadb-install-db --user=mysql >/dev/null; "
            f"{_LEFT}; systemctl start mariadb"
        )
        founder = _server_of(steer, "new")
        while_asserts(lambda: _assert_named(console), limit_s=30)
        undone = console("undo", console.runs()[0], "--yes")
        assert undone.code != 0, undone
        assert "FOUNDED a cluster of its own" in undone.out + undone.err, undone
        assert _server_of(steer, "new") == founder, undone
    finally:
        steer.host("new").sh(f"{_CLEARED}; systemctl stop mariadb; rm -rf /var/lib/mysql/grastate.dat")
        for run in console.runs()[:1]:
            console("undo", run, "--yes")


def _assert_named(console: Console) -> None:
    checked = console("check")
    assert "new was started with --wsrep-new-cluster: it FOUNDED a cluster of its own" in checked.out, checked
