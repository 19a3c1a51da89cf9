"""Conditions on scripted sessions: what the lab can't hold still long enough, or must not be made to do."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.errors import Unreachable
from services.facts.logs.part import Log
from services.facts.server.values import compared, same
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.galera.membership.joined import Joined, _Pace
from services.procedures.conditions.machine.files import FileAbsent, FileSays
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.condition import Answer, Comparison, Condition, Kept
from services.procedures.plan.looks import Past
from tests.unit.procedures.any_values import KINDS
from tests.unit.procedures.scripted_sessions import (
    NOTHING,
    STARTING,
    UNIT,
    UUID,
    Attempt,
    ScriptedHosts,
    down,
    out,
    status,
)


def test_that_every_condition_has_a_look() -> None:
    assert all(kind.look is not Condition.look for kind in KINDS)


@pytest.mark.parametrize(
    ("left", "comparison", "right", "holds"),
    [
        ("ON", "=", "1", True), ("off", "=", "0", True), ("128M", "=", "128m", True), ("5", "!=", "5.0", False),
        ("10", "<", "9", False), ("9", "<", "10", True), ("x", "<", "10", None), ("", "=", "", True),
        ("", "=", "0", False),
    ],
)  # fmt: skip
def test_that_values_are_compared_as_servers_mean_them(
    left: str, comparison: Comparison, right: str, holds: bool | None
) -> None:
    assert compared(left, comparison, right) is holds
    assert same("ALL", "all")


def test_that_an_error_of_the_environment_is_an_answer_that_is_not_known(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = Unreachable("No route to host.", host="n1")
    answer = prover.look(StatusIs("n1", "wsrep_ready", "=", "ON"), NOTHING)
    assert (answer.holds, answer.final, answer.evidence) == (None, False, "n1: No route to host.")


def test_that_a_status_must_hold_at_every_look_of_its_span(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    condition = StatusIs("n1", "wsrep_local_recv_queue", "<", "10", 60.0)
    hosts.sessions["n1"].state = {"wsrep_local_recv_queue": "0"}
    assert prover.look(condition, NOTHING).holds is False
    for _ in range(4):
        clock.advance(5)
        half = prover.look(condition, NOTHING)
    assert (half.done, half.total, half.left_s) == (20, 60, 40)
    hosts.sessions["n1"].state = {"wsrep_local_recv_queue": "10"}
    assert prover.look(condition, NOTHING).holds is False
    hosts.sessions["n1"].state = {"wsrep_local_recv_queue": "0"}
    for _ in range(12):
        assert prover.look(condition, NOTHING).holds is False
        clock.advance(5)
    assert prover.look(condition, NOTHING).holds is True
    clock.advance(11)  # nobody looked: nothing is known of that time
    assert prover.look(condition, NOTHING).holds is False


def test_that_flow_control_needs_two_looks(prover: Attempt, hosts: ScriptedHosts, clock: ManualClock) -> None:
    condition = FlowControlBelow("n1", 0.1)
    hosts.sessions["n1"].state = {"wsrep_flow_control_paused_ns": "5000000000"}
    assert prover.look(condition, NOTHING).holds is None
    clock.advance(10)
    hosts.sessions["n1"].state = {"wsrep_flow_control_paused_ns": "7000000000"}
    paused = prover.look(condition, NOTHING)
    assert (paused.holds, "20%" in paused.evidence) == (False, True)
    clock.advance(10)
    assert prover.look(condition, NOTHING).holds is True
    hosts.sessions["n1"].state = {"wsrep_flow_control_paused_ns": "0"}  # the server was restarted
    clock.advance(10)
    assert prover.look(condition, NOTHING).holds is None


def test_that_flow_control_for_seconds_is_judged_over_all_of_them_and_not_by_its_last_look(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    condition, paused = FlowControlBelow("n1", 0.1, 20.0), 0.0

    def looked(seconds: float, share: float) -> Answer:
        nonlocal paused
        clock.advance(seconds)
        paused += seconds * share
        hosts.sessions["n1"].state = {"wsrep_flow_control_paused_ns": f"{paused * 1e9:.0f}"}
        return prover.look(condition, NOTHING)

    assert looked(0, 0).holds is False
    half = [looked(2, share) for share in (0, 1, 1, 0, 0)][-1]
    assert (half.holds, half.done, half.left_s) == (False, 10, 10)
    assert [looked(2, 0).holds for _ in range(5)] == [False] * 5  # 4 s of the last 20
    assert looked(2, 0).holds is False
    calm = [looked(2, 0) for _ in range(2)][-1]
    assert (calm.holds, calm.evidence) == (
        True, "flow control paused n1 0% of the last 20 s; the limit is 10%"
    )  # fmt: skip


def test_that_a_node_synced_in_another_cluster_has_not_joined_for_good(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = status(cluster_state_uuid="a" + UUID[1:])
    answer = prover.look(Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "another cluster" in answer.evidence


def test_that_a_failed_unit_is_final_with_the_logs_reason(prover: Attempt, hosts: ScriptedHosts) -> None:
    abort = "1795265450.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Reversing history: 50 -> 40 ... Must abort."
    down(hosts.sessions["n1"], f"{STARTING}\n{abort}\n", "failed")
    answer = prover.look(Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "Reversing history: 50 -> 40" in answer.evidence
    assert answer.lines


def test_that_an_abort_before_the_newest_start_is_not_held_against_it(prover: Attempt, hosts: ScriptedHosts) -> None:
    old = "1795265400.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Must abort."
    down(hosts.sessions["n1"], f"{old}\n{STARTING}\n", "inactive")
    assert not prover.look(Joined("n1", UUID, UNIT), NOTHING).final


def test_that_a_server_that_somebody_stopped_again_is_not_waited_for_to_the_limit(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    down(hosts.sessions["n1"], f"{STARTING}\n", "inactive")
    condition = Joined("n1", UUID, UNIT)
    assert not prover.look(condition, NOTHING).final
    clock.advance(60)  # nobody waited meanwhile: the start is asked for only now
    for _ in range(15):
        assert not prover.look(condition, NOTHING).final
        clock.advance(2)
    answer = prover.look(condition, NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "it was stopped by hand" in answer.evidence


def test_that_a_server_that_stands_inconsistent_or_initialized_with_a_reason_is_final(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    session = hosts.sessions["n1"]
    down(session, f"{STARTING}\n", "active")
    session.state = status(cluster_status="Disconnected", local_state="5", local_state_comment="Inconsistent")
    assert prover.look(Joined("n1", UUID, UNIT), NOTHING).final
    session.state = status(cluster_status="non-Primary", local_state="0", local_state_comment="Initialized")
    assert not prover.look(Joined("n1", UUID, UNIT), NOTHING).final
    fatal = "1795265450.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Will never receive state. Need to abort."
    down(session, f"{STARTING}\n{fatal}\n", "active")
    session.state = status(cluster_status="non-Primary", local_state="0", local_state_comment="Initialized")
    answer = prover.look(Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.final, "Will never receive state" in answer.evidence) == (True, True)


def test_that_an_ist_tells_its_progress_out_of_systemds_words(prover: Attempt, hosts: ScriptedHosts) -> None:
    down(hosts.sessions["n1"], f"{STARTING}\n", "activating", "Receiving IST... 45.5% (10/22 events) complete.")
    answer = prover.look(Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.holds, answer.final, answer.done, answer.total, answer.unit) == (False, False, 10, 22, "write sets")


def test_that_the_estimate_of_a_transfer_converges_to_its_end() -> None:
    pace, total = _Pace("SST"), 1000.0
    errors = []
    for second in range(1, 101):
        done = 5.0 * second if second <= 50 else 250 + 15.0 * (second - 50)  # it becomes three times as fast
        left = pace.left_s(float(second), done, total)
        if left is not None:
            errors.append(abs(left - (100 - second)))
    late = errors[-45:]  # once the last half minute has seen the new pace
    assert late == sorted(late, reverse=True)
    assert late[-30] < 15
    assert late[-1] < 0.01
    assert _Pace("SST").left_s(1.0, 5.0, total) is None


def test_that_a_transfer_of_which_nothing_comes_any_more_says_so_and_for_how_long() -> None:
    pace = _Pace("SST")
    for second in range(0, 200, 2):
        pace.left_s(float(second), min(50.0, float(second)), 1000.0)
        assert (pace.stands() != "") is (second >= 170)
    assert pace.stands() == "; no data has arrived for 148 s"
    pace.left_s(200.0, 51.0, 1000.0)
    assert pace.stands() == ""


def test_that_a_kept_position_is_compared_and_a_missing_one_is_not_known(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = {"wsrep_last_committed": "100"}
    condition = Position("n1", Kept("stopped"))
    assert prover.look(condition, Past({"stopped": f"{UUID}:100"}, {})).holds is True
    assert prover.look(condition, Past({"stopped": "101"}, {})).holds is False
    assert prover.look(condition, NOTHING).holds is None


def test_that_files_are_read_as_the_login_where_root_is_refused_and_secrets_stay_unsaid(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    session = hosts.sessions["n1"]
    session.no_root = True
    session.programs = {
        "cat": out("[mysqld]\nwsrep_sst_auth = sst:S3cret\n"),
        "my_print_defaults": out("--wsrep_sst_auth=sst:S3cret\n"),
    }
    said = prover.look(FileSays("n1", "/etc/mysql/x.cnf", "wsrep_sst_auth"), NOTHING)
    given = prover.look(OptionIs("n1", "mysqld", "wsrep_sst_auth", "sst:S3cret"), NOTHING)
    assert said.holds
    assert given.holds
    assert "S3cret" not in said.evidence + given.evidence
    session.programs = {"cat": out(code=1, errors="cat: /x: Permission denied")}
    assert prover.look(FileSays("n1", "/etc/mysql/x.cnf", "x"), NOTHING).holds is None
    session.programs = {"stat": out(code=1, errors="stat: cannot statx '/x': Permission denied")}
    assert prover.look(FileAbsent("n1", "/x"), NOTHING).holds is None


def test_that_a_log_is_bounded_by_the_workstations_clock_whatever_the_hosts_clock_says() -> None:
    selected = "Member 1.0 (n1) requested state transfer from '*any*'. Selected 0.0 (n2)(SYNCED) as donor."
    lines = (
        f"1700001000.0 n1 mariadbd[9]: WSREP: {selected}",
        "1700001001.0 n1 mariadbd[9]: a line without a meaning, password=S3cret",
    )
    ahead = Log(lines, offset_s=600.0)  # the host's clock is ten minutes ahead: it happened at ...0400
    assert len(ahead.transfers(1_700_000_399.0)) == 1
    assert ahead.transfers(1_700_000_401.0) == ()
    assert ahead.since(1_700_000_400.5) == ("a line without a meaning, password=********",)
