"""What a rolling restart does to each node, in which order, and how it is taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, NodeView
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.checks import health_gate, joins_others, no_transfer_or_ddl
from services.procedures.catalogue.galera.rolling_restart.checks import (
    fast_shutdown,
    replicas,
    stop_limits,
)
from services.procedures.catalogue.galera.rolling_restart.option import option_known
from services.procedures.catalogue.galera.shared.order import enough_members
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.galera.membership.joined import Joined
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.galera.transfer.cache import CacheLasts
from services.procedures.conditions.server.option import OptionIs
from services.procedures.conditions.server.status import StatusIs
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.plan.actions import Ask, WaitFor
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.faults.scripted.cluster import balanced, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, PASS, UUID, WARN, facts, galera, host
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("rolling-restart")
OPTION = {"option": "max_connections", "value": "321", "nodes": "n2"}


def plan_of(seen: Facts, **inputs: str) -> Plan:
    given: Inputs = dict(inputs)
    assert PROCEDURE.faults(seen, given) == ()
    plan = PROCEDURE.plan(seen, given)
    assert violations(plan) == ()
    return plan


def ids(plan: Plan) -> list[str]:
    return [step.step_id for step in plan.steps]


def seen_whole(**known: object) -> Facts:
    found = facts_of(whole("n1", "n2", "n3"))
    return replace(found, hosts=tuple(changed(h, **known) if h.host == "n2" else h for h in found.hosts))


def test_that_a_node_is_watched_before_clients_return_and_tried_before_they_leave() -> None:
    order = ids(plan_of(seen_whole(), nodes="n2"))
    wanted = ["n2:config", "n2:reject-n2", "n2:drain-n2", "n2:stop-n2", "n2:start-n2", "n2:settle-n2", "n2:accept-n2"]
    assert [step_id for step_id in order if step_id in wanted] == wanted


def test_that_the_watch_is_a_minute_of_a_short_queue_without_flow_control() -> None:
    action = plan_of(seen_whole(), nodes="n2").step("n2:settle-n2").action
    assert isinstance(action, WaitFor)
    queue, calm = action.conditions
    assert isinstance(queue, StatusIs)
    assert isinstance(calm, FlowControlBelow)
    assert (queue.for_s, calm.for_s) == (60.0, 60.0)


def test_that_the_reach_is_read_again_just_before_a_node_goes_down() -> None:
    before = plan_of(seen_whole(), nodes="n2").step("n2:stop-n2").before
    assert [c.seconds for c in before if isinstance(c, CacheLasts)] == [360.0]
    accepted = plan_of(seen_whole(), nodes="n2", sst_ok="yes").step("n2:stop-n2").before
    assert not any(isinstance(c, CacheLasts) for c in accepted)


def test_that_a_reach_that_a_person_accepted_as_too_short_does_not_stop_the_run_again() -> None:
    before = plan_of(seen_whole(), nodes="n2", downtime="20 d").step("n2:stop-n2").before
    assert not any(isinstance(c, CacheLasts) for c in before)


def test_that_an_option_is_proven_in_the_running_server_and_a_rounded_value_is_no_failure() -> None:
    seen = seen_whole(variables_values=(("max_connections", "151"),))
    action = plan_of(seen, **OPTION).step("n2:active").action
    assert isinstance(action, WaitFor)
    assert action.conditions == (VariableIs("n2", "max_connections", "321", if_there=True, was="151"),)


def test_that_what_was_written_is_read_again_right_before_the_start() -> None:
    plan = plan_of(seen_whole(), work="yes", **OPTION)
    assert OptionIs("n2", "mysqld", "max_connections", "321") in plan.step("n2:start-n2").before
    assert not any(isinstance(c, OptionIs) for c in plan_of(seen_whole(), nodes="n2").step("n2:start-n2").before)


def test_that_a_file_that_says_so_already_is_not_enough_while_the_server_runs_with_another_value() -> None:
    said = (("mysqld", "max_connections", "321"),)
    assert plan_of(
        seen_whole(options_given=said, variables_values=(("max_connections", "321"),)), **OPTION
    ).nothing_to_do
    assert not plan_of(
        seen_whole(options_given=said, variables_values=(("max_connections", "151"),)), **OPTION
    ).nothing_to_do


def test_that_a_person_changes_a_stopped_node_whose_configuration_is_tried_before_it_starts() -> None:
    plan = plan_of(seen_whole(), nodes="n2", work="yes", reason="kernel update")
    order = ids(plan)
    at = order.index("n2:work")
    assert order[at - 1 : at + 3] == ["n2:stop-n2", "n2:work", "n2:worked-config", "n2:start-n2"]
    action = plan.step("n2:work").action
    assert isinstance(action, Ask)
    assert action.unattended == ""
    assert "kernel update" in plan.summary


def test_that_sessions_that_are_left_are_closed_only_on_request() -> None:
    assert "n2:cut-n2" not in ids(plan_of(seen_whole(), nodes="n2"))
    cut = plan_of(seen_whole(), nodes="n2", cut="yes").step("n2:cut-n2")
    assert "ALL_KILL" in str(cut.action)


def test_that_flow_control_is_watched_while_a_node_is_back() -> None:
    rules = {rule.code: rule for rule in plan_of(seen_whole(), nodes="n2").watches}
    assert rules["N2-FLOW-CONTROL"].condition == FlowControlBelow("n1", 0.9)
    assert rules["N2-FLOW-CONTROL"].from_step == "n2:start-n2"


@pytest.mark.parametrize(
    ("seen", "back", "taken"),
    [
        (facts_of(whole("n1", "n2", "n3")), "n2:accept-n2", "n2:reject-n2"),
        (facts_of(balanced("n1", "n2", "n3")), "n2:haproxy-ready-n2-1", "n2:haproxy-drain-n2-1"),
    ],
)
def test_that_a_changed_option_is_taken_back_behind_a_drain_that_is_no_less_an_obligation(
    seen: Facts, back: str, taken: str
) -> None:
    plan = plan_of(seen, **OPTION)
    undo = plan.step(back).undo
    assert undo is not None
    assert undo.takes == plan.step(taken).takes
    assert ids(plan).index(back) > ids(plan).index("n2:start-n2")  # newest first: drained before the node stops
    assert plan_of(seen, nodes="n2").step(back).undo is None  # a plain restart stops nothing when taken back


def test_that_a_bootstrapped_pxc_node_comes_back_under_its_normal_unit() -> None:
    plan = plan_of(seen_whole(unit_name="mysql@bootstrap.service"), nodes="n2")
    stop, start = plan.step("n2:stop-n2"), plan.step("n2:start-n2")
    assert "mysql@bootstrap.service" in str(stop.action)
    assert "mysql@bootstrap" not in str(start.action)
    assert any(isinstance(c, Joined) and c.unit == "mysql.service" for c in start.proof)
    assert stop.undo is not None
    assert "mysql@bootstrap" not in str(stop.undo.action)


# -- checks ------------------------------------------------------------------------------------------------------------


def one(**more: Any) -> Facts:
    return facts(host("n2", **more))


def test_that_replicas_that_hang_on_a_node_are_told() -> None:
    none = facts(*(host(name, sessions_replicas=0) for name in NAMES))
    assert replicas(none, NAMES).verdict is PASS
    told = replicas(facts(host("n1", sessions_replicas=0), host("n2", sessions_replicas=2)), ("n1", "n2"))
    assert (told.verdict, told.not_known, told.evidence) == (WARN, False, "2 on n2")
    dark = replicas(one(), ("n2",))
    assert (dark.verdict, dark.not_known) == (WARN, True)


@pytest.mark.parametrize(("value", "verdict"), [("0", PASS), ("1", PASS), ("2", WARN), (None, WARN)])
def test_that_a_shutdown_that_leaves_as_a_crash_does_is_told(value: str | None, verdict: object) -> None:
    known = (("innodb_fast_shutdown", value),) if value else ()
    assert fast_shutdown(one(variables_values=known), ("n2",)).verdict is verdict


def test_that_a_stop_limit_that_was_not_read_is_no_pass() -> None:
    assert stop_limits(one(), ("n2",))[0].verdict is WARN
    assert stop_limits(one(unit_restart="on-abnormal"), ("n2",))[0].verdict is PASS  # infinity
    assert stop_limits(one(unit_restart="on-abnormal", timeout_stop_s=90.0), ("n2",))[0].verdict is WARN


def test_that_the_running_value_of_an_option_is_shown() -> None:
    seen = one(variables_values=(("max_connections", "151"),))
    assert "(running: 151)" in option_known(seen, ("n2",), "max-connections", "321").evidence


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ((("mysqld", "wsrep_cluster_address", "gcomm://10.0.0.1,10.0.0.2"),), PASS),
        ((("mysqld", "wsrep_cluster_address", "gcomm://"),), BLOCK),
        ((("mysqld", "wsrep_cluster_address", "gcomm://a,b"), ("mysqld", "wsrep_new_cluster", "")), BLOCK),
        ((("mysqld", "wsrep_cluster_address", "gcomm://a,b"), ("mysqld", "wsrep_new_cluster", "0")), PASS),
        ((), WARN),
    ],
)
def test_that_a_node_that_would_found_a_cluster_of_its_own_is_never_started(
    options: tuple[tuple[str, str, str], ...], verdict: object
) -> None:
    (check,) = joins_others(one(options_given=options), ("n2",))
    assert (check.verdict, check.absolute) == (verdict, verdict is BLOCK)


def test_that_a_backup_program_on_a_node_blocks() -> None:
    check = no_transfer_or_ddl(one(processes_backups=("mariadb-backup (pid 7)",)), NAMES)
    assert (check.verdict, "n2: mariadb-backup (pid 7) runs" in check.evidence) == (BLOCK, True)


def test_that_an_arbitrator_counts_in_the_size_and_as_a_vote() -> None:
    nodes = (*(NodeView(n, n, role="member") for n in ("n1", "n2")), NodeView("garb", "garb", role="arbitrator"))
    cluster = ClusterSnapshot(UUID, GALERA, "lab", 1.0, nodes=nodes)
    pair = tuple(host(n, group=galera(n, cluster_size=3)) for n in ("n1", "n2"))
    seen = Facts(1.0, UUID, "lab", cluster=cluster, members=("n1", "n2"), hosts=pair)
    assert health_gate(seen, ("n1", "n2")).verdict is PASS
    assert enough_members(seen, ("n1", "n2")).verdict is PASS
    sizes = {c.size for step in plan_of(seen, nodes="n2").steps for c in step.before if isinstance(c, ClusterWhole)}
    assert sizes == {3}
    alone = replace(seen, cluster=None)
    assert health_gate(alone, ("n1", "n2")).verdict is BLOCK
    assert enough_members(alone, ("n1", "n2")).verdict is BLOCK
