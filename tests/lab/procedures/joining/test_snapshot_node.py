"""snapshot-node on real servers: a plain copy under the lock, killed and resumed, taken back; a lock that ends alone.

A run of every day has a console that is killed under the lock, and the refusals; `test everything` has each kill
and each command that goes wrong. What is harder stands in test_snapshot_node_hard.py.

The operator's commands of the tests: cp on the donor, a tar stream over socat to the joiner, rm at the end. The kernel
of the lab has no device mapper, so LVM's commands are tried on scripted hosts only (test_snapshot_plan.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.obstacles import GRASTATE, assert_refused, option_file, shell, together
from tests.lab.procedures.states.snapshots import (
    ACCEPTED,
    DONOR,
    INPUTS,
    JOINER,
    LISTING,
    WRITTEN,
    assert_brings,
    assert_free,
    assert_held,
    assert_writes,
    joiner_away,
    run_with,
)
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

IN_THE_WAY = together(
    shell(DONOR, "for n in 1 2 3; do setsid mariadb -e 'SELECT SLEEP(300)' >/dev/null 2>&1 & done; sleep 1",
          "pkill -f '[S]ELECT SLEEP.300.'; true"),
    shell(DONOR, "printf '[client]\\nuser=nobody_here\\n' >/root/.my.cnf", "rm -f /root/.my.cnf"),
    shell(JOINER, f"cp -p {GRASTATE} /root/kept && sed -i 's/^seqno:.*/seqno:   99999999/' {GRASTATE}",
          f"cp -p /root/kept {GRASTATE} && rm -f /root/kept"),
    option_file(JOINER, "[mysqld]\ninnodb_log_group_home_dir=/srv/redo\nlower_case_table_names=1\n"
                "log_bin=other-bin\n"),
)  # fmt: skip
WRONG = (
    pytest.param("sh -c 'pkill -KILL -x mariadb; sleep 1'", "the read lock was lost", id="the lock is lost"),
    pytest.param("sleep 60", "did not end within 3 s", id="it hangs"),
    pytest.param("sh -c 'echo no room; exit 5'", "ended with exit code 5", id="it fails"),
)
WAITS = ("--override", "DONOR-WRITER=its writes may wait, for this is what is tried")
REFUSED = ("DONOR-WRITER", "ROOT-LOGIN", "OLD-DATA", "ONE-VOLUME", "SAME-SERVER", "OWN-FILES", "COMPARE")


@pytest.fixture
def away(steer: Estate, whole: Whole) -> Iterator[str]:
    """The joiner is down; a table of our own, which the observing account may read, was written before and since."""
    with joiner_away(steer) as old:
        yield old


@pytest.mark.slow
def test_that_a_node_returns_by_a_copy_whose_console_was_killed_under_the_lock_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    server_id = steer.sql(DONOR, "SELECT @@server_id")[0][0]
    with Writer(steer, (WRITTEN,)) as writer, Writer(steer, (DONOR,), beside=True) as on_donor:
        slow = {**INPUTS, "take": "sh -c 'cp -a {datadir} /srv/{snapshot} && sleep 5'"}
        words = tuple(word for name, value in slow.items() for word in ("--input", f"{name}={value}"))
        with console.running("run", "snapshot-node", *ACCEPTED, *WAITS, *words, "--yes") as running:
            running.wait_for_step("snapshot")
            while_asserts(lambda: assert_held(steer), limit_s=60)
            assert running.kill().code == KILLED
        assert set(console.open_obligations()) == {
            f"{one}:{DONOR}" for one in ("desync", "rest", "snapshot", "lock")
        } | {f"restart:{JOINER}", f"hold:{JOINER}", f"held-out:{JOINER}"}
        while_asserts(lambda: assert_writes(steer), limit_s=30)  # nobody resumed it: the lock ended by itself
        resumed = console("resume", console.runs()[0], "--yes")
        assert resumed.code == 0, resumed
        view = console.assert_ended(RunState.DONE, resumed)
        on_donor.stop()  # whose writes waited under the lock: acknowledged late, or not at all
        writer.assert_nothing_lost(members(steer))
        assert len(on_donor.acknowledged) >= 20, on_donor.refused
        on_donor.assert_all_there(members(steer))
    steps = {s.step.step_id: s for s in view.steps}
    assert "by IST" in " ".join(steps[f"transfer-{JOINER}"].evidence)
    assert "began at" in " ".join(steps[f"ist-from-{JOINER}"].evidence)
    assert steps[f"compare-{JOINER}"].state is StepState.DONE
    assert steer.sql(JOINER, "SELECT @@wsrep_node_name")[0][0] == JOINER
    assert steer.sql(JOINER, "SELECT @@server_id")[0][0] != server_id
    assert steer.host(JOINER).sh("test -f /var/lib/mysql/#sql-pilothouse-before.sst/ibdata1").ok
    assert_free(steer)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("step", ["snapshot", f"bring-{JOINER}"])
def test_that_an_undo_at_once_ends_what_a_killed_console_left_running_before_it_moves_anything(
    steer: Estate, console: Console, whole: Whole, away: str, step: str
) -> None:
    at_work = {
        "take": "sh -c 'cp -a {datadir} /srv/{snapshot} && sleep 90 && touch /srv/{snapshot}/late'",
        "bring": "sh -c 'cd {datadir} && for n in 1 2 3 4 5 6 7 8 9; do touch part-$n && sleep 10; done'",
    }
    given = {**INPUTS, "take" if step == "snapshot" else "bring": at_work["take" if step == "snapshot" else "bring"]}
    words = tuple(word for name, value in given.items() for word in ("--input", f"{name}={value}"))
    with console.running("run", "snapshot-node", *ACCEPTED, *words, "--yes") as running:
        running.wait_for_step(step)
        if step == "snapshot":
            while_asserts(lambda: assert_held(steer), limit_s=60)
        else:
            while_asserts(lambda: assert_brings(steer), limit_s=60)
        assert running.kill().code == KILLED
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert_free(steer)
    assert steer.host(JOINER).sh(LISTING).out == away
    for host in (DONOR, JOINER):
        assert steer.host(host).sh("pgrep -f 'sleep (10|90)$'", check=False).out == ""
        assert steer.host(host).sh("systemctl list-units --plain --no-legend 'pilothouse-*'").out == ""
    whole.assert_files_as_before()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("when", ["snapshot=acting", "offer=proving", f"settle-{JOINER}=acting"])
def test_that_a_run_that_is_taken_back_leaves_the_old_data_as_they_were_and_no_snapshot(
    steer: Estate, console: Console, whole: Whole, away: str, when: str
) -> None:
    killed = console.killed_run(when, "snapshot-node", *ACCEPTED, **INPUTS)
    assert killed.code == KILLED, killed
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host(JOINER).sh(LISTING).out == away
    assert_free(steer)
    whole.assert_files_as_before()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("take", "said"), WRONG)
def test_that_a_command_that_goes_wrong_leaves_no_lock_and_the_run_is_taken_back(
    steer: Estate, console: Console, whole: Whole, away: str, take: str, said: str
) -> None:
    ran = run_with(console, take=take, take_limit="3 s", way="volume")
    assert ran.code != 0, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    broken = next(s for s in view.steps if s.step.step_id == "snapshot")
    assert said in f"{broken.error} {' '.join(broken.evidence)} {ran.out}", ran
    assert_free(steer)
    assert steer.host(JOINER).sh(LISTING).out == away


@pytest.mark.slow
@pytest.mark.long
def test_that_a_copy_that_is_not_of_the_moment_of_the_lock_is_refused(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    # Its own old data, copied instead: no list of the donor's files, made under this lock, came with them.
    own = "sh -c 'cd {datadir}/#sql-pilothouse-before.sst && tar -c . | tar -x -C {datadir}'"
    ran = run_with(console, bring=own, offer="true")
    assert ran.code != 0, ran
    view = console.assert_ended(RunState.UNDONE, ran)
    assert [s.step.step_id for s in view.steps if s.state is StepState.FAILED] == [f"look-through-{JOINER}"]
    assert steer.host(JOINER).sh(LISTING).out == away
    assert_free(steer)


@pytest.mark.slow
@pytest.mark.long
def test_that_an_older_tablespace_under_a_fresh_state_and_fresh_system_files_is_never_done(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    """As long as the donor's, under its name: list, grastate.dat, ibdata1 and the log are of the moment of the lock."""
    old = (
        'n=$(stat -c %s snapped/items.ibd) && cp "#sql-pilothouse-before.sst/snapped/items.ibd" snapped/items.ibd && '
        "truncate -s $n snapped/items.ibd"
    )
    brought = f"socat -u TCP:{{donor_address}}:4777 - | tar -x -C {{datadir}} && cd {{datadir}} && {old}"
    ran = run_with(console, bring=f"sh -c '{brought}'", tables="")
    assert ran.code != 0, ran
    view = console.view()
    assert view.state is not RunState.DONE
    failed = [s for s in view.steps if s.state is StepState.FAILED]
    assert {s.step.step_id for s in failed} <= {f"tables-open-{JOINER}", f"same-rows-{JOINER}"}, ran
    assert "snapped" in f"{failed[0].error} {' '.join(failed[0].evidence)}"
    assert steer.host(JOINER).sh(LISTING).out == away
    assert_free(steer)


@pytest.mark.long
def test_that_nothing_begins_where_no_second_member_would_stay_or_a_command_can_not_be_run_as_it_stands(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    refused = console.run("snapshot-node", "--json", **INPUTS)
    assert refused.code != 0, refused
    assert "OTHERS-STAY" in refused.out, refused
    odd = run_with(console, take="lvcreate -s -n {snap} vg/mysql")
    assert odd.code != 0, odd
    assert "{snap}" in odd.out + odd.err, odd
    secret = run_with(console, bring="scp --password=hunter2 a b")
    assert secret.code != 0, secret
    assert "hunter2" not in secret.out + secret.err
    assert console.runs() == ()
    assert_free(steer)


def test_that_nothing_begins_while_this_stands_in_its_way(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    with IN_THE_WAY(steer):
        refused = console.run("snapshot-node", "--json", *ACCEPTED, **{**INPUTS, "tables": "snapped.items,mysql.user"})
    for code in REFUSED:
        assert_refused(refused, code)
    assert "GRANT SELECT ON `mysql`.`user` TO `observer`@`%`;" in refused.out
    assert "`snapped`.`items`" not in refused.out
    assert console.runs() == ()
    assert steer.host(JOINER).sh(LISTING).out == away
    assert_free(steer)
