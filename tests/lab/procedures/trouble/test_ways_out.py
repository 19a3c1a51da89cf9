"""What refuses or fails opens a way: the console's own advice, followed on real servers, ends with every row there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.states.forks import LEDGER, acknowledge, forget, kill_all, make_ledger
from tests.lab.procedures.states.obstacles import GRASTATE, ZERO_UUID, grastate
from tests.lab.procedures.whole import Whole, members

SST = "$(readlink -f /usr/bin/wsrep_sst_mariabackup)"
STATE = f"grep -E '^(uuid|seqno):' {GRASTATE}"
DATA = "/var/lib/mysql"


def _ids(estate: Estate, host: str) -> frozenset[int]:
    return frozenset(int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}"))


@contextmanager
def _no_donor_can_send(estate: Estate) -> Iterator[None]:
    """The donors' script of an SST fails at once: none ever begins."""
    for name in ("s1", "s2"):
        estate.host(name).sh(f"mount --bind /bin/false {SST}")
    try:
        yield
    finally:
        for name in ("s1", "s2"):
            estate.host(name).sh(f"umount {SST}")


MARKS = {"stays": ":", "goes late": "sleep 10;"}
"""What comes before the script's `rm` of sst_in_progress: a second signal in its trap, a busy machine do so too."""


@contextmanager
def _its_script_leaves_its_mark(estate: Estate, name: str, word: str) -> Iterator[None]:
    script = "/usr/bin/wsrep_sst_common"
    words = rf"s/rm -f .*SST_PROGRESS_FILE/{word} &/"
    marked = f"grep -q '{word} rm -f' /run/marked; chmod 755 /run/marked"
    estate.host(name).sh(f"sed '{words}' {script} > /run/marked; {marked}")
    estate.host(name).sh(f"mount --bind /run/marked {script}")
    try:
        yield
    finally:
        estate.host(name).sh(f"umount {script}; rm /run/marked")


def _without_caches(estate: Estate) -> None:
    """s1 and s2 are restarted one after the other with empty caches: nobody can send an IST any more."""
    for name in ("s2", "s1"):
        estate.host(name).sh(f"systemctl stop mariadb; rm -f {DATA}/galera.cache; systemctl start mariadb")
        estate.wait_synced(["s1", "s2"], size=2)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("mark", ["as it comes", *MARKS])
def test_that_an_sst_that_never_began_leaves_the_state_file_of_its_joiner_as_it_was_and_the_next_run_ends_well(
    steer: Estate, console: Console, whole: Whole, mark: str
) -> None:
    rows = make_ledger(steer)
    steer.stop("s3")
    # Clients' words that an earlier test left in its log would make its past 'not known', and the run be refused.
    steer.host("s3").sh("journalctl --rotate; journalctl --vacuum-time=1s")
    before = steer.host("s3").sh(STATE).out
    rows |= acknowledge(steer, "s1", 100)
    _without_caches(steer)
    leaves = _its_script_leaves_its_mark(steer, "s3", MARKS[mark]) if mark in MARKS else nullcontext()
    with _no_donor_can_send(steer), leaves:
        ran = console.run("add-node", joiner="s3", keep_data="no", settle="1 s")
    assert ran.code == 3, ran
    assert console.view().state is RunState.UNDONE, ran
    after = steer.host("s3").sh(STATE).out
    assert before.split()[1] == after.split()[1] != ZERO_UUID
    assert "contains no state now" not in ran.out, ran
    assert not steer.host("s3").sh(f"ls {DATA} | grep -x sst_in_progress || true").out
    again = console.run("add-node", joiner="s3", keep_data="no", settle="1 s")
    console.assert_ended(RunState.DONE, again)
    assert _ids(steer, "s3") == rows
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["", "s1,s2"])
def test_that_one_broken_innodb_keeps_the_healthy_nodes_no_longer_down(
    steer: Estate, console: Console, whole: Whole, nodes: str
) -> None:
    rows = make_ledger(steer)
    kill_all(steer)
    steer.host("s3").sh(f"dd if=/dev/urandom of={DATA}/ibdata1 bs=16k count=200 conv=notrunc; rm -f {DATA}/ib_logfile0")
    inputs = {"nodes": nodes} if nodes else {}
    try:
        ran = console.run("bootstrap-after-crash", *CONFIRM, "--confirm", "without s3", **inputs)
        console.assert_ended(RunState.DONE, ran)
        assert "could not recover its position" in ran.out, ran
        for name in ("s1", "s2"):
            assert _ids(steer, name) == rows
    finally:
        forget(steer, "s3")  # as the run says: its data moved away, the folder empty
    back = console.run("add-node", "--confirm", "s3", joiner="s3", keep_data="no", settle="1 s")
    console.assert_ended(RunState.DONE, back)
    assert _ids(steer, "s3") == rows
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_node_that_gave_its_state_up_and_has_the_newest_rows_whole_is_bootstrapped_by_a_persons_word(
    steer: Estate, console: Console, whole: Whole
) -> None:
    rows = make_ledger(steer)
    steer.kill9("s1")
    steer.kill9("s2")
    steer.host("s3").sh("until mariadb -Ne \"show status like 'wsrep_cluster_size'\" | grep -qw 1; do sleep 1; done")
    steer.sql("s3", "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'")
    rows |= acknowledge(steer, "s3", 100)
    steer.kill9("s3")
    steer.host("s3").sh(f"printf '{grastate(ZERO_UUID, -1)}' > {GRASTATE}; rm -f {DATA}/gvwstate.dat")
    refused = console.run("bootstrap-after-crash", *CONFIRM, itself="no")
    assert refused.code == 3, refused
    assert "CHOSEN-BEHIND" in refused.out, refused
    assert "bootstrap=s3" in " ".join(refused.out.split()), refused
    unsaid = console.run("bootstrap-after-crash", *CONFIRM, bootstrap="s3")
    assert "trust s3" in unsaid.out, unsaid
    console("undo", console.runs()[0], "--yes")
    ran = console.run("bootstrap-after-crash", *CONFIRM, "--confirm", "trust s3", bootstrap="s3")
    console.assert_ended(RunState.DONE, ran)
    for name in members(steer):
        assert _ids(steer, name) == rows, name
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_bootstrap_is_taken_back_whole_after_a_node_came_and_can_be_run_again(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """Before, the file of each clean stop was held against what InnoDB said before: 'undo failed', all stayed down.

    A server that starts without a Primary Component ends after pc.wait_prim_timeout: it is not asked for.
    """
    rows = make_ledger(steer)
    steer.kill9("s2")
    steer.kill9("s3")
    steer.host("s1").sh("until mariadb -Ne \"show status like 'wsrep_cluster_size'\" | grep -qw 1; do sleep 1; done")
    killed = console.killed_run("start-s3=acting", "bootstrap-after-crash", *CONFIRM, itself="no")
    assert killed.code == KILLED, killed
    ran = console("undo", console.runs()[0], "--yes", limit_s=480.0)
    console.assert_ended(RunState.UNDONE, ran)
    again = console.run("bootstrap-after-crash", *CONFIRM, itself="no")
    console.assert_ended(RunState.DONE, again)
    for name in members(steer):
        assert _ids(steer, name) == rows, name
    whole.assert_as_before()
