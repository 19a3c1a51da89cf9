"""A server that waits for its cluster may heed no stop: the plan says so, and the step tells what systemd does."""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.procedures.catalogue import checks as preflight
from services.procedures.catalogue.steps.server import make_stopped, stop_node
from services.procedures.conditions.server.stopped import Stopped
from services.procedures.plan.host_facts import HostFacts
from services.procedures.verify.prover import RealProver
from tests.unit.procedures.facts_of_three import PASS, WARN, down, facts, host
from tests.unit.procedures.scripted_sessions import NOTHING, UNIT, ScriptedHosts, out

SINCE = "Sun 2026-11-29 18:44:43 UTC"
OF_UNIT = "0::/system.slice/mariadb.service"
BY_HAND = "0::/user.slice/user-0.slice/session-1.scope"


def waiting(**more: object) -> HostFacts:
    unit = {"unit_name": UNIT, "unit_active_state": "activating", "unit_sub_state": "start", "unit_restart": "no"}
    return down("n3", **{**unit, "timeout_stop_s": 900.0, "unit_kills": False, **more})


def test_that_a_plan_tells_beforehand_which_server_may_heed_no_stop() -> None:
    (check,) = preflight.stops_at_once(facts(waiting()), ("n3",))
    assert (check.code, check.verdict, check.not_known) == ("STOP-WAITS", WARN, False)
    assert "mariadb.service on n3 is activating (start)" in check.evidence
    assert "allows a stop 900 s (TimeoutStopSec), twice, and kills nothing (SendSIGKILL=no)" in check.evidence
    assert "'systemctl kill --signal=KILL mariadb.service' on n3 ends it" in check.try_[0]


@pytest.mark.parametrize(
    ("state", "told"), [({"unit_active_state": "inactive", "unit_sub_state": "dead"}, "inactive (dead)"),
                        ({"unit_sub_state": "auto-restart"}, "activating (auto-restart)")],
)  # fmt: skip
def test_that_a_unit_without_a_process_of_its_own_ends_soon(state: dict[str, str], told: str) -> None:
    (check,) = preflight.stops_at_once(facts(waiting(**state)), ("n3",))
    assert (check.verdict, check.evidence) == (PASS, f"mariadb.service on n3 is {told}")


def test_that_an_unread_unit_is_not_known_and_an_unread_limit_is_told_so() -> None:
    (dark,) = preflight.stops_at_once(facts(down("n3")), ("n3",))
    assert (dark.verdict, dark.not_known) == (WARN, True)
    (limit,) = preflight.stops_at_once(facts(waiting(timeout_stop_s=None, unit_kills=None, unit_restart="")), ("n3",))
    assert "an unknown time" in limit.evidence


def test_that_the_estimate_of_a_stop_is_systemds_own_time_only_where_it_kills() -> None:
    assert make_stopped(down("n3"), "").estimate_s == 5.0
    assert make_stopped(waiting(), "").estimate_s is None
    assert make_stopped(waiting(unit_kills=True, timeout_stop_s=600.0), "").estimate_s == 600.0
    assert make_stopped(waiting(unit_kills=True, timeout_stop_s=None), "").estimate_s is None


def test_that_a_stop_is_waited_for_longer_than_systemd_itself_waits() -> None:
    assert make_stopped(waiting(timeout_stop_s=1_800.0), "").limit_s == 1_830.0
    assert stop_node(facts(), host("n1", timeout_stop_s=900.0), others=("n2", "n3"), whole=("n1",)).limit_s == 930.0
    assert make_stopped(waiting(timeout_stop_s=None), "").limit_s == 930.0


@pytest.mark.parametrize(
    ("group", "shown", "said"),
    [
        (OF_UNIT, "ActiveState=deactivating\nSubState=stop-sigterm\nSendSIGKILL=no\n",
         f"mariadb.service is stopping (stop-sigterm since {SINCE}), systemd gives it 15min, twice, and kills nothing"),
        (OF_UNIT, "ActiveState=deactivating\nSubState=stop-sigterm\nSendSIGKILL=yes\n",
         f"(stop-sigterm since {SINCE}), systemd gives it 15min, then kills it"),
        (OF_UNIT, "ActiveState=failed\nSubState=failed\nResult=timeout\n",
         f"systemd no longer waits, mariadb.service is failed (failed since {SINCE}): 'systemctl kill --signal=KILL "),
        (BY_HAND, "ActiveState=inactive\nSubState=dead\n", "mariadb.service is inactive: it was started by hand"),
    ],
)  # fmt: skip
def test_that_a_stop_in_progress_says_what_systemd_does_and_since_when(group: str, shown: str, said: str) -> None:
    hosts = ScriptedHosts("n1")
    sentence = f"{shown}TimeoutStopUSec=15min\nStateChangeTimestamp={SINCE}\n"
    hosts.sessions["n1"].programs = {"ps": out(f"  7 Ssl mariadbd {group}\n"), "systemctl": out(sentence)}
    answer = RealProver(hosts, ManualClock()).look(Stopped("n1", UNIT), NOTHING)
    assert answer.holds is False
    assert said in answer.evidence


def test_that_a_colleagues_primary_is_told_as_one_and_since_when() -> None:
    hosts = ScriptedHosts("n1")
    shown = f"ActiveState=active\nSubState=running\nStateChangeTimestamp={SINCE}\n"
    hosts.sessions["n1"].programs = {"ps": out(f"  7 Ssl mariadbd {OF_UNIT}\n"), "systemctl": out(shown)}
    hosts.sessions["n1"].state = {"wsrep_cluster_status": "Primary"}
    answer = RealProver(hosts, ManualClock()).look(Stopped("n1", UNIT), NOTHING)
    words = f"mariadb.service is active (running since {SINCE}), and is a member of a Primary Component"
    assert answer.evidence == f"a server runs on n1 (pid 7); {words}"
