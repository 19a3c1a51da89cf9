"""Conditions on scripted sessions: what the lab can't hold still long enough, or must not be made to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.ports import ObserverSession, OperatorSession, Output, Rows, Stream
from services.errors import QueryFailed, SudoFailed, Unreachable, UserError
from services.procedures import conditions as c
from services.procedures.ports import Past
from services.procedures.proving import LOOKS, RealProver
from services.procedures.proving_asking import compared, same
from services.procedures.proving_join import _Pace
from services.procedures.proving_log import Log
from services.procedures.remembering import Memory

UUID = "2db77be0-e5aa-11f1-ae7d-76e16c615942"
UNIT = "mariadb.service"
STARTING = "1795265449.1 n1 systemd[1]: Starting mariadb.service - MariaDB 10.11.18 database server..."
NOTHING = Past({}, {})


class ScriptedSession:
    """Answers each program by its name and each statement by its beginning; an error is raised."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.has_ssh = self.has_sql = True
        self.state: dict[str, str] | UserError = {}
        self.programs: dict[str, Output | UserError] = {}
        self.rows: dict[str, Rows] = {}
        self.no_root = False

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        del limit_s
        if isinstance(self.state, UserError):
            raise self.state
        return self.state

    def query(self, sql: str, *, limit_s: float = 5.0) -> Rows:
        del limit_s
        for begin, rows in self.rows.items():
            if sql.startswith(begin):
                return rows
        raise QueryFailed("No such answer.", host=self.host, errno=1)

    def run(self, command: Command, *, limit_s: float = 10.0) -> Output:
        del limit_s
        if command.sudo and self.no_root:
            raise SudoFailed("No sudo.", host=self.host)
        found = self.programs.get(command.argv[0], Output(1, b"", b"cat: x: No such file or directory"))
        if isinstance(found, UserError):
            raise found
        return found

    def stream(self, command: Command) -> Stream:
        raise NotImplementedError

    def try_now(self) -> None:
        """See ObserverSession."""

    def close(self) -> None:
        """See ObserverSession."""


class ScriptedHosts:
    """Reading roads only."""

    armed: tuple[str, ...] = ()

    def __init__(self, *names: str) -> None:
        self.sessions = {name: ScriptedSession(name) for name in names}

    def observer(self, host: str) -> ObserverSession:
        return self.sessions[host]

    def operator(self, host: str) -> OperatorSession:
        raise AssertionError(host)

    def arm(self, run_id: str, hosts: tuple[str, ...]) -> None:
        raise AssertionError(run_id, hosts)

    def disarm(self) -> None:
        """See Hosts."""

    def close(self) -> None:
        """See Hosts."""


def out(text: str = "", code: int = 0, errors: str = "") -> Output:
    return Output(code, text.encode(), errors.encode())


def status(**more: str) -> dict[str, str]:
    found = {
        "cluster_status": "Primary", "cluster_state_uuid": UUID, "cluster_conf_id": "7", "cluster_size": "2",
        "local_state": "4", "local_state_comment": "Synced", "ready": "ON", "desync_count": "0",
    } | more  # fmt: skip
    return {f"wsrep_{name}": value for name, value in found.items()}


@pytest.fixture
def hosts() -> ScriptedHosts:
    made = ScriptedHosts("n1", "n2")
    for session in made.sessions.values():
        session.state = status()
    return made


class Attempt:
    """The looks of one attempt: they share a memory."""

    def __init__(self, hosts: ScriptedHosts, clock: ManualClock) -> None:
        self.real = RealProver(hosts, clock)
        self.memory = Memory()

    def look(self, condition: c.Condition, past: Past) -> c.Answer:
        return self.real.look(condition, past, self.memory)


@pytest.fixture
def prover(hosts: ScriptedHosts, clock: ManualClock) -> Attempt:
    return Attempt(hosts, clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def down(session: ScriptedSession, journal: str, active: str, text: str = "") -> None:
    session.state = Unreachable("Port 3306 refused the connection.", host=session.host)
    session.programs = {
        "systemctl": out(f"ActiveState={active}\nSubState=x\nStatusText={text}\nResult=x\n"),
        "journalctl": out(journal),
        "my_print_defaults": out("--datadir=/var/lib/mysql\n"),
        "date": out("1700000000.0"),
    }


def test_that_every_condition_has_a_look() -> None:
    assert set(LOOKS) == set(c.Condition.__args__)


@pytest.mark.parametrize(
    ("left", "comparison", "right", "holds"),
    [
        ("ON", "=", "1", True), ("off", "=", "0", True), ("128M", "=", "128m", True), ("5", "!=", "5.0", False),
        ("10", "<", "9", False), ("9", "<", "10", True), ("x", "<", "10", None), ("", "=", "", True),
        ("", "=", "0", False),
    ],
)  # fmt: skip
def test_that_values_are_compared_as_servers_mean_them(
    left: str, comparison: c.Comparison, right: str, holds: bool | None
) -> None:
    assert compared(left, comparison, right) is holds
    assert same("ALL", "all")


def test_that_an_error_of_the_environment_is_an_answer_that_is_not_known(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = Unreachable("No route to host.", host="n1")
    answer = prover.look(c.StatusIs("n1", "wsrep_ready", "=", "ON"), NOTHING)
    assert (answer.holds, answer.final, answer.evidence) == (None, False, "n1: No route to host.")


def test_that_a_status_must_hold_at_every_look_of_its_span(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    condition = c.StatusIs("n1", "wsrep_local_recv_queue", "<", "10", 60.0)
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
    condition = c.FlowControlBelow("n1", 0.1)
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


def test_that_a_node_synced_in_another_cluster_has_not_joined_for_good(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = status(cluster_state_uuid="a" + UUID[1:])
    answer = prover.look(c.Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "another cluster" in answer.evidence


def test_that_a_failed_unit_is_final_with_the_logs_reason(prover: Attempt, hosts: ScriptedHosts) -> None:
    abort = "1795265450.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Reversing history: 50 -> 40 ... Must abort."
    down(hosts.sessions["n1"], f"{STARTING}\n{abort}\n", "failed")
    answer = prover.look(c.Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "Reversing history: 50 -> 40" in answer.evidence
    assert answer.lines


def test_that_an_abort_before_the_newest_start_is_not_held_against_it(prover: Attempt, hosts: ScriptedHosts) -> None:
    old = "1795265400.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Must abort."
    down(hosts.sessions["n1"], f"{old}\n{STARTING}\n", "inactive")
    assert not prover.look(c.Joined("n1", UUID, UNIT), NOTHING).final


def test_that_a_server_that_somebody_stopped_again_is_not_waited_for_to_the_limit(
    prover: Attempt, hosts: ScriptedHosts, clock: ManualClock
) -> None:
    down(hosts.sessions["n1"], f"{STARTING}\n", "inactive")
    condition = c.Joined("n1", UUID, UNIT)
    assert not prover.look(condition, NOTHING).final
    clock.advance(60)  # nobody waited meanwhile: the start is asked for only now
    for _ in range(15):
        assert not prover.look(condition, NOTHING).final
        clock.advance(2)
    answer = prover.look(condition, NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert "somebody stopped it" in answer.evidence


def test_that_a_server_that_stands_inconsistent_or_initialized_with_a_reason_is_final(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    session = hosts.sessions["n1"]
    down(session, f"{STARTING}\n", "active")
    session.state = status(cluster_status="Disconnected", local_state="5", local_state_comment="Inconsistent")
    assert prover.look(c.Joined("n1", UUID, UNIT), NOTHING).final
    session.state = status(cluster_status="non-Primary", local_state="0", local_state_comment="Initialized")
    assert not prover.look(c.Joined("n1", UUID, UNIT), NOTHING).final
    fatal = "1795265450.2 n1 mariadbd[9]: 2026 [ERROR] WSREP: Will never receive state. Need to abort."
    down(session, f"{STARTING}\n{fatal}\n", "active")
    session.state = status(cluster_status="non-Primary", local_state="0", local_state_comment="Initialized")
    answer = prover.look(c.Joined("n1", UUID, UNIT), NOTHING)
    assert (answer.final, "Will never receive state" in answer.evidence) == (True, True)


def test_that_an_ist_tells_its_progress_out_of_systemds_words(prover: Attempt, hosts: ScriptedHosts) -> None:
    down(hosts.sessions["n1"], f"{STARTING}\n", "activating", "Receiving IST... 45.5% (10/22 events) complete.")
    answer = prover.look(c.Joined("n1", UUID, UNIT), NOTHING)
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
    assert pace.stands() == "; nothing has come for 148 s"
    pace.left_s(200.0, 51.0, 1000.0)
    assert pace.stands() == ""


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (lambda s: s, True),
        (lambda s: s | {"wsrep_cluster_conf_id": "8"}, False),
        (lambda s: s | {"wsrep_cluster_status": "non-Primary"}, False),
        (lambda s: s | {"wsrep_desync_count": "1"}, False),
        (lambda s: s | {"wsrep_cluster_size": "3"}, False),
        (lambda s: s | {"wsrep_ready": "OFF"}, False),
    ],
)
def test_that_one_odd_node_makes_a_cluster_not_whole(
    prover: Attempt, hosts: ScriptedHosts, change: Callable[[dict[str, str]], dict[str, str]], holds: bool
) -> None:
    hosts.sessions["n2"].state = change(status())
    assert prover.look(c.ClusterWhole(("n1", "n2"), 2, UUID), NOTHING).holds is holds


def test_that_silence_of_one_node_is_told_from_its_loss(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n2"].state = Unreachable("No answer.", host="n2")
    condition = c.StillPrimary(("n1", "n2"), 2, UUID)
    assert prover.look(condition, NOTHING).holds is None  # the other still sees both
    hosts.sessions["n2"].programs["ps"] = out(code=1)
    gone = prover.look(condition, NOTHING)
    assert (gone.holds, "n2: no server runs" in gone.evidence) == (False, True)
    hosts.sessions["n2"].programs.clear()
    hosts.sessions["n1"].state = status(cluster_size="1")
    assert prover.look(condition, NOTHING).holds is False
    assert prover.look(c.StillPrimary(("n1", "n2"), 1, UUID), NOTHING).holds is True


def test_that_an_unreachable_host_is_never_counted_as_no_primary(prover: Attempt, hosts: ScriptedHosts) -> None:
    one, other = hosts.sessions["n1"], hosts.sessions["n2"]
    one.state = other.state = Unreachable("Refused.")
    one.programs["ps"] = out(code=1)
    other.programs["ps"] = Unreachable("No route to host.")
    assert prover.look(c.NoPrimary(("n1",)), NOTHING).holds is True
    assert prover.look(c.NoPrimary(("n1", "n2")), NOTHING).holds is None
    assert prover.look(c.NoPrimary(("n1", "n2"), accounted=("n2",)), NOTHING).holds is True
    one.programs["ps"] = out("5 Sl mariadbd\n")  # it runs and does not answer: nobody knows what it serves
    assert prover.look(c.NoPrimary(("n1",)), NOTHING).holds is None
    one.programs["systemctl"] = out("ActiveState=active\n")
    assert prover.look(c.NoPrimary(("n1",)), NOTHING).holds is None


def test_that_a_server_that_hangs_on_its_way_up_is_no_primary(prover: Attempt, hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]
    session.state = Unreachable("Refused.")
    session.programs = {"ps": out("5 Sl mariadbd\n"), "systemctl": out("ActiveState=activating\n")}
    answer = prover.look(c.NoPrimary(("n1",)), NOTHING)
    assert (answer.holds, "starting" in answer.evidence) == (True, True)


def test_that_a_wait_for_nodes_to_form_again_holds_when_they_did_or_had_their_time(
    hosts: ScriptedHosts, clock: ManualClock, prover: Attempt
) -> None:
    whole = {
        "wsrep_cluster_status": "Primary", "wsrep_local_state": "4", "wsrep_ready": "ON", "wsrep_cluster_size": "2",
        "wsrep_cluster_state_uuid": UUID,
    }  # fmt: skip
    condition = c.FormedAgain(("n1", "n2"), UUID, 300.0)
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = Unreachable("Refused.")
    assert prover.look(condition, NOTHING).holds is False
    clock.advance(299.0)
    assert prover.look(condition, NOTHING).holds is False
    hosts.sessions["n1"].state = hosts.sessions["n2"].state = whole
    assert prover.look(condition, NOTHING).holds is True
    hosts.sessions["n2"].state = Unreachable("Refused.")
    assert prover.look(condition, NOTHING).holds is False
    clock.advance(300.0)
    late = prover.look(condition, NOTHING)
    assert (late.holds, late.evidence.startswith("they did not form it: n2")) == (True, True)


def test_that_a_kept_position_is_compared_and_a_missing_one_is_not_known(prover: Attempt, hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].state = {"wsrep_last_committed": "100"}
    condition = c.Position("n1", c.Kept("stopped"))
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
    said = prover.look(c.FileSays("n1", "/etc/mysql/x.cnf", "wsrep_sst_auth"), NOTHING)
    given = prover.look(c.OptionIs("n1", "mysqld", "wsrep_sst_auth", "sst:S3cret"), NOTHING)
    assert said.holds
    assert given.holds
    assert "S3cret" not in said.evidence + given.evidence
    session.programs = {"cat": out(code=1, errors="cat: /x: Permission denied")}
    assert prover.look(c.FileSays("n1", "/etc/mysql/x.cnf", "x"), NOTHING).holds is None
    session.programs = {"stat": out(code=1, errors="stat: cannot statx '/x': Permission denied")}
    assert prover.look(c.FileAbsent("n1", "/x"), NOTHING).holds is None


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
