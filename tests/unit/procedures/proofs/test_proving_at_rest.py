"""A node that ran since its position was looked at: told by files, systemd and its state file; else not known."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.errors import Unreachable
from services.procedures.conditions.galera.data.at_rest import PositionMark, Unmoved
from services.procedures.plan.condition import Answer
from services.procedures.plan.looks import Past
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, ScriptedHosts, out, status

FOLDER = "/var/lib/mysql"
MARK = PositionMark("n1", FOLDER, "looked-n1", since="stopped-n1")
CHOSEN = f"{UUID}:1243"
STANDS = Unmoved("n1", FOLDER, UUID, "looked-n1", "recovered-n1", CHOSEN, own_start="start-n1")
STARTED = "Id=mariadb.service\nInactiveExitTimestamp=Sun 2026-11-22 15:{:02} UTC\nInvocationID={}\n\nId=mysql.service\n"
NO_ROOM = out(code=1, errors="Permission denied")


def listing(redo: str = "15:10:00.5", *more: str) -> Output:
    lines = (
        "total 148296",
        f"-rw-rw---- 1 100 101 100663296 2026-11-22 {redo} +0000 ib_logfile0",
        "-rw-rw---- 1 100 101       342 2026-11-22 15:09:00.1 +0000 mysql-bin.000004",
        *more,
    )
    return out("\n".join(lines) + "\n")


def state(seqno: int = -1, safe: int = 0, uuid: str = UUID) -> Output:
    return out(f"# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   {seqno}\nsafe_to_bootstrap: {safe}\n")


@pytest.fixture
def hosts() -> ScriptedHosts:
    """n1 was looked at and stands there since; n2 serves."""
    made = ScriptedHosts("n1", "n2")
    made.sessions["n1"].programs = {"cat": state(), "ls": listing(), "systemctl": out(STARTED.format(8, "aa"))}
    return made


def looked(hosts: ScriptedHosts, past: Past = NOTHING) -> Answer:
    return RealProver(hosts, ManualClock()).look(MARK, past)


def after(hosts: ScriptedHosts, condition: Unmoved = STANDS, **changes: Output | Unreachable) -> Answer:
    """Keep the mark, let that change, look again."""
    kept = dict(looked(hosts).kept) | {"recovered-n1": CHOSEN}
    hosts.sessions["n1"].programs |= changes
    return RealProver(hosts, ManualClock()).look(condition, Past(kept, {}))


def test_that_a_node_nobody_touched_still_stands_there(hosts: ScriptedHosts) -> None:
    assert after(hosts).holds is True


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"systemctl": out(STARTED.format(40, "bb"))}, "mariadb.service was started Sun 2026-11-22 15:40 UTC"),
        ({"ls": listing("15:41:02.7")}, "ib_logfile0, 2026-11-22 15:41:02.7 +0000 is new"),
        ({"ls": listing("15:41:02.7"), "systemctl": out("Id=mariadb.service\nInvocationID=\n")}, "is new"),
    ],
)
def test_that_a_node_that_ran_ends_the_choice_and_is_told(
    hosts: ScriptedHosts, changes: dict[str, Output], said: str
) -> None:
    answer = after(hosts, **changes)
    assert (answer.holds, answer.final) == (False, True)
    assert answer.evidence.startswith("n1 ran since the check (")
    assert said in answer.evidence
    assert answer.evidence.endswith("make a new plan")


@pytest.mark.parametrize("moved", [state(1276), state(safe=1), state(uuid=UUID.replace("2", "3"))])
def test_that_a_state_file_that_somebody_wrote_ends_it(hosts: ScriptedHosts, moved: Output) -> None:
    answer = after(hosts, cat=moved)
    assert (answer.holds, "grastate.dat" in answer.evidence) == (False, True)


def test_that_what_this_run_wrote_into_the_state_file_does_not_end_it(hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].programs["cat"] = state(3)
    stale = Unmoved("n1", FOLDER, UUID, "looked-n1", "recovered-n1", CHOSEN, rewritten=True, safe=True)
    assert after(hosts, stale, cat=state(-1, safe=1)).holds is True
    assert after(hosts, stale, cat=state(-1, safe=0)).holds is False


def test_that_a_restart_of_the_host_and_a_log_that_was_rotated_are_no_run_of_the_server(hosts: ScriptedHosts) -> None:
    forgot = out("Id=mariadb.service\nInactiveExitTimestamp=\nInvocationID=\n")
    rotated = listing("15:10:00.5", "-rw-rw---- 1 100 101 0 2026-11-23 00:00:01.1 +0000 s1.err")
    assert after(hosts, systemctl=forgot, ls=rotated).holds is True


@pytest.mark.parametrize("change", [{"ls": NO_ROOM}, {"ls": out("total 0\n")}, {"cat": NO_ROOM},
                                    {"ls": Unreachable("No route to host.")}])  # fmt: skip
def test_that_what_can_not_be_read_is_not_known(hosts: ScriptedHosts, change: dict[str, Output | Unreachable]) -> None:
    assert after(hosts, **change).holds is None


def test_that_a_mark_that_could_not_be_read_is_never_shown_unmoved_later(hosts: ScriptedHosts) -> None:
    hosts.sessions["n1"].programs["ls"] = NO_ROOM
    assert looked(hosts).holds is True
    assert after(hosts, ls=listing()).holds is None
    assert RealProver(hosts, ManualClock()).look(STANDS, Past({"recovered-n1": CHOSEN}, {})).holds is None


def test_that_a_position_recovered_anew_that_is_another_one_ends_it(hosts: ScriptedHosts) -> None:
    kept = dict(looked(hosts).kept) | {"recovered-n1": f"{UUID}:1276"}
    answer = RealProver(hosts, ManualClock()).look(STANDS, Past(kept, {}))
    assert (answer.holds, ":1276" in answer.evidence) == (False, True)


def test_that_the_start_this_run_began_itself_is_not_held_against_it(hosts: ScriptedHosts) -> None:
    assert RealProver(hosts, ManualClock()).look(STANDS, Past({}, {"start-n1": 1.0})).holds is True


def test_that_one_that_joined_the_serving_members_by_itself_is_no_other_side(hosts: ScriptedHosts) -> None:
    beside = Unmoved("n1", FOLDER, UUID, "looked-n1", "recovered-n1", CHOSEN, hosts=("n2",))
    for session in hosts.sessions.values():
        session.state = status()
    ran = out(STARTED.format(40, "bb"))
    assert after(hosts, beside, systemctl=ran).holds is True
    hosts.sessions["n1"].programs["systemctl"] = out(STARTED.format(8, "aa"))
    hosts.sessions["n1"].state = status(cluster_conf_id="9", cluster_size="1")
    assert after(hosts, beside, systemctl=ran).holds is False


def test_that_a_server_that_systemd_started_while_the_position_was_looked_at_ends_the_look(
    hosts: ScriptedHosts,
) -> None:
    first = PositionMark("n1", FOLDER, "stopped-n1")
    kept = dict(RealProver(hosts, ManualClock()).look(first, NOTHING).kept)
    hosts.sessions["n1"].programs["ls"] = listing("15:12:00.1")  # the recovery itself writes, and systemd starts none
    assert looked(hosts, Past(kept, {})).holds is True
    hosts.sessions["n1"].programs["systemctl"] = out(STARTED.format(40, "bb"))
    answer = looked(hosts, Past(kept, {}))
    assert (answer.holds, answer.final) == (False, True)


def test_that_a_unit_with_aliases_is_told_once(hosts: ScriptedHosts) -> None:
    answer = after(
        hosts, systemctl=out(STARTED.format(41, "bb").partition("\n\n")[0] + "\n\n" + STARTED.format(41, "bb"))
    )
    assert answer.evidence.count("was started") == 1
