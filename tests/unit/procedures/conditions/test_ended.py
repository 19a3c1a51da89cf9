"""A wait for a server that ended: on scripted hosts, with what `systemctl show` of systemd 252 says in each state."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.errors import Unreachable
from services.procedures.conditions.galera.data.position import Position
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.server.clients import NoClients
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.condition import Answer, Condition
from tests.unit.procedures.scripted_sessions import NOTHING, STARTING, UNIT, UUID, Attempt, ScriptedHosts, out, status

JOINED = Joined("n1", UUID, UNIT)
LAST = "2026 [Note] WSREP: Prepared SST request: mariabackup|10.0.0.5:4444/xtrabackup_sst"
STARTS = {"ActiveState": "activating", "SubState": "start", "Result": "success", "Job": "812", "MainPID": "77",
          "Restart": "no", "ExecMainCode": "0", "ExecMainStatus": "0"}  # fmt: skip
KILLED = {"ActiveState": "failed", "SubState": "failed", "Result": "signal", "Job": "", "MainPID": "0", "Restart": "no",
          "ExecMainCode": "2", "ExecMainStatus": "9"}  # fmt: skip
STOPPED = {"ActiveState": "inactive", "SubState": "dead", "Result": "success", "MainPID": "0", "Restart": "no",
           "ExecMainCode": "1", "ExecMainStatus": "0"}  # fmt: skip
LEFT_OVER = {**KILLED, "ActiveState": "deactivating", "SubState": "stop-sigterm", "Job": "812"}
AGAIN = {**KILLED, "ActiveState": "activating", "SubState": "auto-restart", "Restart": "on-abnormal"}


@pytest.fixture
def hosts() -> ScriptedHosts:
    made = ScriptedHosts("n1")
    session = made.sessions["n1"]
    session.state = Unreachable("Port 3306 refused the connection.", host="n1")
    session.programs = {
        "journalctl": out(f"{STARTING}\n1795265450.2 n1 mariadbd[9]: {LAST}\n"),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
        "date": out("1700000000.0"),
        "ps": out(code=1),
    }
    return made


@pytest.fixture
def prover(hosts: ScriptedHosts, clock: ManualClock) -> Attempt:
    return Attempt(hosts, clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def unit(hosts: ScriptedHosts, shown: dict[str, str]) -> None:
    hosts.sessions["n1"].programs["systemctl"] = out("".join(f"{name}={value}\n" for name, value in shown.items()))


def looks(prover: Attempt, hosts: ScriptedHosts, *states: dict[str, str]) -> Answer:
    """The answer to the last of these states, looked at one after the other in one wait."""
    answer = Answer(None, "")
    for shown in states:
        assert not answer.final, answer.evidence
        unit(hosts, shown)
        answer = prover.look(JOINED, NOTHING)
    return answer


def test_that_a_server_killed_while_it_starts_ends_the_wait_with_its_signal_and_its_last_lines(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    answer = looks(prover, hosts, STARTS, KILLED)
    assert (answer.holds, answer.final) == (False, True)
    assert answer.evidence == "mariadb.service on n1 has failed (signal 9)"
    assert answer.lines[-1] == LAST


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ({"Result": "oom-kill"}, "oom-kill, signal 9"),
        ({"Result": "exit-code", "ExecMainCode": "1", "ExecMainStatus": "7"}, "exit code 7"),
        ({"Result": "core-dump", "ExecMainCode": "3", "ExecMainStatus": "6"}, "core-dump, signal 6"),
        ({"Result": "exit-code", "ExecMainCode": "0", "ExecMainStatus": "0"}, "exit-code"),
        ({"Result": "timeout", "ExecMainCode": "2", "ExecMainStatus": "15"}, "timeout, signal 15"),
    ],
)
def test_that_the_end_is_told_in_the_words_of_systemd(
    prover: Attempt, hosts: ScriptedHosts, shown: dict[str, str], told: str
) -> None:
    assert f"has failed ({told})" in looks(prover, hosts, {**KILLED, **shown}).evidence


def test_that_a_server_which_somebody_stopped_while_it_starts_ends_the_wait_at_once(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    answer = looks(prover, hosts, STARTS, STOPPED)
    assert answer.final
    words = "mariadb.service on n1 is stopped (exit code 0): it ended, or somebody stopped it"
    assert answer.evidence == words


def test_that_a_unit_that_was_never_seen_up_may_still_be_asked_to_start(prover: Attempt, hosts: ScriptedHosts) -> None:
    assert not looks(prover, hosts, STOPPED, STOPPED).final


@pytest.mark.parametrize("between", [STOPPED, KILLED])
def test_that_a_unit_with_an_order_in_the_queue_is_between_two_states(
    prover: Attempt, hosts: ScriptedHosts, between: dict[str, str]
) -> None:
    assert not looks(prover, hosts, STARTS, {**between, "Job": "813"}, STARTS).final


def test_that_a_server_which_systemd_starts_again_is_waited_for_and_its_end_is_told(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    for _ in range(20):
        assert not looks(prover, hosts, STARTS, AGAIN).final
        clock.advance(2)
    answer = looks(prover, hosts, AGAIN)
    words = "n1 is not answering yet; mariadb.service is activating/auto-restart; its server ended (signal 9), "
    assert (answer.holds, answer.final, answer.evidence) == (False, False, f"{words}and systemd starts it again")
    assert looks(prover, hosts, KILLED).final  # systemd gave up (start-limit-hit)


def test_that_scripts_of_a_transfer_which_outlive_their_server_do_not_hold_the_wait(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    assert not looks(prover, hosts, STARTS, LEFT_OVER).final  # systemd may be done with them in a moment
    clock.advance(2)
    assert not looks(prover, hosts, LEFT_OVER).final
    clock.advance(2)
    answer = looks(prover, hosts, LEFT_OVER)
    words = "mariadb.service on n1 only ends what its server has left behind (signal 9)"
    assert (answer.holds, answer.final, answer.evidence) == (False, True, words)


@pytest.mark.parametrize(
    ("shown", "processes"),
    [
        ({**LEFT_OVER, "Restart": "on-abnormal"}, ""),  # systemd will start it again
        ({**LEFT_OVER, "MainPID": "77"}, "77 Ssl mariadbd\n"),  # it is still at its stop
        (LEFT_OVER, "78 Ssl mariadbd\n"),  # another server runs
        ({**LEFT_OVER, "Job": "814"}, ""),  # a start was asked for since
        ({**LEFT_OVER, "Result": "success"}, ""),  # it was told to stop: for a restart, as it may be
    ],
)
def test_that_a_unit_on_its_way_down_is_waited_for_while_anything_may_still_come_of_it(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock, shown: dict[str, str], processes: str
) -> None:
    hosts.sessions["n1"].programs["ps"] = out(processes, 0 if processes else 1)
    for _ in range(20):
        assert not looks(prover, hosts, STARTS, shown).final
        clock.advance(2)


def test_that_a_server_that_answers_is_not_held_to_be_dead_whatever_its_unit_says(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    hosts.sessions["n1"].state = status(cluster_status="non-Primary", local_state="0")
    assert not looks(prover, hosts, STARTS, KILLED).final


@pytest.mark.parametrize(
    "condition",
    [
        StatusIs("n1", "wsrep_local_recv_queue", "<", "10"),
        VariableIs("n1", "wsrep_desync", "OFF"),
        Position("n1", 5),
        NoClients("n1"),
    ],
)
def test_that_a_server_which_ends_while_its_word_is_waited_for_ends_that_wait_too(
    prover: Attempt, hosts: ScriptedHosts, condition: Condition
) -> None:
    session = hosts.sessions["n1"]
    unit(hosts, STOPPED)

    def query(read: object, *, limit_s: float = 5.0) -> Rows:
        del read, limit_s
        raise Unreachable("Port 3306 refused the connection.", host="n1")

    answering = session.query
    session.query = query  # type: ignore[method-assign]
    down = prover.look(condition, NOTHING)
    assert (down.holds, down.final) == (None, False)  # nothing was seen of it in this wait
    session.state = {"wsrep_local_recv_queue": "20", "wsrep_last_committed": "1"}
    session.query = answering  # type: ignore[method-assign]
    session.rows = {"": Rows(("n", "v"), (("wsrep_desync", "ON"),))}
    assert not prover.look(condition, NOTHING).final
    session.state = Unreachable("Port 3306 refused the connection.", host="n1")
    session.query = query  # type: ignore[method-assign]
    gone = prover.look(condition, NOTHING)
    words = "no server runs on n1: mariadb.service is stopped (exit code 0): it ended, or somebody stopped it"
    assert (gone.holds, gone.final, gone.evidence) == (False, True, words)
