"""The plan of add-node: what a crashed node is asked first, who is spared, what is cleared away before a start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, NodeView
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.facts.model import NodeFacts, Problem, ServerFacts
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared.joining import runs_now
from services.procedures.catalogue.steps.orphans import END_ORPHANS, ORPHANS
from services.procedures.catalogue.steps.watches import disk
from services.procedures.conditions.galera.data.state_named import StateNamed
from services.procedures.conditions.galera.membership.flow_control import FlowControlBelow
from services.procedures.conditions.machine.disk import FreeDisk
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.actions import Continue, Run, Several, WaitFor
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from services.procedures.plan.pasts.positions import recovered_position
from services.types import Reach
from tests.faults.scripted.cluster import CLUSTER, DATADIR, Cluster, balanced, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed, host_of

ADD = procedure_named("add-node")
OTHER = "aaaaaaaa-2222-11f0-9c0e-3b2f8d5a7c11"


def _values(facts: Facts, **inputs: str) -> dict[str, str]:
    given = {"joiner": "n3", **inputs}
    return filled(ADD.fields(facts, given), given)


def _crashed() -> Cluster:
    cluster = whole("n1", "n2", "n3")
    cluster.kill(cluster.hosts["n3"])
    return cluster


def _second(recovered: str, **inputs: str) -> tuple[dict[str, Check], Plan]:
    """Return the checks and the plan after the joiner's server told its position."""
    cluster = _crashed()
    before = facts_of(cluster)
    first = ADD.plan(before, _values(before, **inputs))
    now = facts_of(cluster, (("recovered-n3", recovered),))
    checks, plan = ADD.continued(now, dict(first.inputs), first)
    assert plan.steps[: len(first.steps)] == first.steps
    return {check.code: check for check in checks}, plan


def test_that_a_node_that_stopped_without_a_word_is_asked_for_its_position_before_its_data_is_touched() -> None:
    facts = facts_of(_crashed())
    plan = ADD.plan(facts, _values(facts))
    assert [s.step_id for s in plan.steps] == ["restart-off-n3", "down-n3", "recover-n3", "transfer-known"]
    assert isinstance(plan.steps[-1].action, Continue)
    assert violations(plan) == ()


@pytest.mark.parametrize("sst_ok", ["yes", "no"])
def test_that_what_is_not_known_yet_warns_and_is_judged_when_it_is(sst_ok: str) -> None:
    facts = facts_of(_crashed())
    found = {c.code: c for c in ADD.preflight(facts, _values(facts, sst_ok=sst_ok))}
    assert found["TRANSFER"].verdict is Verdict.WARN
    checks, _ = _second(f"{ZERO_UUID}:-1", sst_ok=sst_ok)
    assert checks["TRANSFER"].verdict is (Verdict.BLOCK if sst_ok == "no" else Verdict.PASS)


def test_that_a_crashed_node_whose_position_is_cached_returns_by_ist_with_its_data_in_place() -> None:
    checks, plan = _second(f"{CLUSTER}:900")
    assert checks["TRANSFER"].title == "The node joins by IST"
    assert not any(step.step_id.startswith(("keep-data", "new-data")) for step in plan.steps)
    assert violations(plan) == ()


def test_that_a_crashed_node_whose_position_nobody_keeps_has_its_data_kept_aside_for_an_sst() -> None:
    checks, plan = _second(f"{CLUSTER}:5")
    assert checks["TRANSFER"].title == "The node joins by SST"
    assert any(step.step_id == "keep-data-n3" for step in plan.steps)


def test_that_a_donor_that_can_send_an_ist_takes_the_place_of_one_that_can_not() -> None:
    cluster = _crashed()
    before = facts_of(cluster)
    first = ADD.plan(before, _values(before, donor="n1"))
    cluster.hosts["n1"].seqno = 2_000  # it keeps 1100 and newer
    now = facts_of(cluster, (("recovered-n3", f"{CLUSTER}:1000"),))
    _, plan = ADD.continued(now, dict(first.inputs), first)
    assert dict(plan.inputs)["donor"] == "n2"
    assert "Set n2 as the donor" in plan.step("name-donor-n3").title


@pytest.mark.parametrize(
    ("recovered", "code", "absolute"),
    [(f"{CLUSTER}:9999", "TRANSFER", False), (f"{OTHER}:3", "RECOVERED-HISTORY", True)],
)
def test_that_a_recovered_position_that_is_ahead_or_of_another_cluster_ends_the_run_there(
    recovered: str, code: str, absolute: bool
) -> None:
    checks, _ = _second(recovered)
    assert (checks[code].verdict, checks[code].absolute) == (Verdict.BLOCK, absolute)


@pytest.mark.parametrize(
    ("told", "position"),
    [
        (f"{CLUSTER}:7", (CLUSTER, 7)),
        (f"{ZERO_UUID}:-1", ("", None)),
        (f"{CLUSTER}:-1", ("", None)),
        ("x", ("", None)),
    ],
)
def test_that_only_a_whole_recovered_position_counts(told: str, position: tuple[str, int | None]) -> None:
    facts = facts_of(_crashed(), (("recovered-n3", told),))
    assert recovered_position(facts, "n3") == position
    assert recovered_position(facts, "n2") is None


def test_that_a_joiners_queue_is_watched_for_a_minute_and_flow_control_from_its_start_on() -> None:
    facts = facts_of(whole("n1", "n2", "n3", spare="new"))
    plan = ADD.plan(facts, _values(facts, joiner="new"))
    action = plan.step("settle-new").action
    assert isinstance(action, WaitFor)
    assert action.conditions == (StatusIs("new", "wsrep_local_recv_queue", "<", "10", for_s=60.0),)
    rule = next(r for r in plan.watches if isinstance(r.condition, FlowControlBelow))
    assert (rule.from_step, rule.to_step) == ("start-new", "settle-new")
    assert rule.condition == FlowControlBelow("n1", 0.9)


def test_that_the_disks_of_joiner_and_donor_are_watched_while_the_copy_comes() -> None:
    facts = facts_of(whole("n1", "n2", "n3", spare="new"))
    plan = ADD.plan(facts, _values(facts, joiner="new", donor="n2"))
    found = {r.code: (r.condition, r.from_step, r.to_step) for r in plan.watches if r.code.startswith("DISK-")}
    assert found == {
        "DISK-JOINER": (FreeDisk("new", DATADIR, 2**30), "start-new", "settle-new"),
        "DISK-DONOR": (FreeDisk("n2", DATADIR, 2**30), "start-new", "settle-new"),
    }


@pytest.mark.parametrize(("size", "least"), [(None, 2**30), (10**9, 2 * 10**7), (10**12, 2**30)])
def test_that_a_small_disk_may_fill_further_than_a_large_one(size: int | None, least: int) -> None:
    rule = disk(host_of("n1", data_folder_disk_size=size, data_folder_path="/d"), "DISK", "full", "a", "b")
    assert rule.condition == FreeDisk("n1", "/d", least)


def _behind() -> Facts:
    cluster = balanced("n1", "n2", "n3")
    cluster.hosts["new"] = whole("n1", "n2", "n3", spare="new").hosts["new"]
    return facts_of(cluster)


def test_that_the_donor_of_an_sst_gets_no_new_sessions_and_then_gets_them_again() -> None:
    facts = _behind()
    plan = ADD.plan(facts, _values(facts, joiner="new"))
    order = [s.step_id for s in plan.steps]
    donor = dict(plan.inputs)["donor"]
    assert order.index(f"haproxy-drain-{donor}-1") < order.index("start-new") < order.index("whole")
    assert order[-2:] == [f"haproxy-ready-{donor}-1", "last-look"]
    assert "lb" in plan.hosts
    stays = ADD.plan(facts, _values(facts, joiner="new", donor_out="no"))
    assert "lb" not in stays.hosts
    assert not any(s.step_id.startswith("haproxy") for s in stays.steps)


def test_that_a_donor_of_an_ist_keeps_its_sessions() -> None:
    cluster = balanced("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    facts = facts_of(cluster)
    assert not any(s.step_id.startswith("haproxy") for s in ADD.plan(facts, _values(facts)).steps)


def test_that_what_an_earlier_transfer_left_is_ended_before_a_start_and_after_one_that_failed() -> None:
    facts = facts_of(whole("n1", "n2", "n3", spare="new"))
    start = ADD.plan(facts, _values(facts, joiner="new")).step("start-new")
    assert start.undo is not None
    before, after = start.action, start.undo.action
    assert isinstance(before, Several)
    assert isinstance(after, Several)
    wanted = ("bash", "-c", END_ORPHANS, "pilothouse", "106", ORPHANS)
    acts = (before.actions[0], after.actions[-1])
    assert [a.command.argv for a in acts if isinstance(a, Run)] == [wanted, wanted]


def test_that_a_start_that_is_taken_back_looks_whether_the_node_still_has_its_state() -> None:
    cluster = whole("n1", "n2", "n3", spare="new")
    cluster.stop(cluster.hosts["n3"])
    facts = facts_of(cluster)
    plan = ADD.plan(facts, _values(facts, joiner="n3"))
    keep = plan.step("keep-state-n3")
    assert [s.step_id for s in plan.steps].index("keep-state-n3") < [s.step_id for s in plan.steps].index("start-n3")
    assert keep.undo is not None
    assert [type(c) for c in keep.undo.leaves] == [StateNamed]
    assert "keep-state-new" not in {s.step_id for s in ADD.plan(facts, _values(facts, joiner="new")).steps}


def test_that_an_arbitrator_is_counted_where_a_node_is_brought_back() -> None:
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    facts = facts_of(cluster)
    nodes = (*(NodeView(n, n, role="member") for n in ("n1", "n2")), NodeView("garb", "garb", role="arbitrator"))
    seen = ClusterSnapshot(CLUSTER, GALERA, "orders", 1.0, nodes=nodes)
    hosts = []
    for host in facts.hosts:
        if host.node is not None and host.node.galera is not None:
            galera = replace(host.node.galera, cluster_size=3)
            host = replace(host, node=replace(host.node, galera=galera))  # noqa: PLW2901
        hosts.append(host)
    facts = replace(facts, cluster=seen, hosts=tuple(hosts))
    found = {c.code: c.verdict for c in ADD.preflight(facts, _values(facts))}
    assert (found["HEALTH-GATE"], found["JOINER-RUNS"]) == (Verdict.PASS, Verdict.PASS)


def test_that_a_member_whose_login_is_refused_is_not_called_down_nor_to_be_stopped() -> None:
    facts = facts_of(whole("n1", "n2", "n3"))
    host = facts.host("n3")
    assert host.node is not None
    refused = (Problem("sql", "Access denied.", "auth-failed"),)
    node = replace(host.node, server=None, galera=None, problems=refused)
    blind = changed(host, node=node, server_up=True, unit_active_state="active", grastate=Grastate(CLUSTER, -1, False))
    facts = replace(facts, hosts=tuple(blind if h.host == "n3" else h for h in facts.hosts))
    (joiner,) = (f for f in ADD.fields(facts, {}) if f.name == "joiner")
    told = dict(joiner.choices)["n3"]
    assert told == "member, not known: the SQL login is refused; its service is active"
    assert runs_now(facts, "n3").try_ == (
        "Give the console a login on the server of n3: it may be Synced and serve clients.",
    )


@pytest.mark.parametrize(
    ("node", "word", "refused"),
    [
        (None, "no answer: its state is not known", True),
        (NodeFacts("x", 1.0, Reach.NONE), "no answer: its state is not known", True),
        (NodeFacts("x", 1.0, Reach.SQL_ONLY, server=ServerFacts()), "reachable over SQL only", True),
        (NodeFacts("x", 1.0, Reach.FULL, server=ServerFacts()), "runs on its own", False),
        (NodeFacts("x", 1.0, Reach.SSH_ONLY), "", False),
    ],
)
def test_that_a_host_that_serves_or_was_never_heard_is_not_offered_as_an_empty_joiner(
    node: NodeFacts | None, word: str, refused: bool
) -> None:
    facts = facts_of(whole("n1", "n2", "n3"))
    facts = replace(facts, candidates=("x",), hosts=(*facts.hosts, HostFacts("x", "10.0.0.9", node=node)))
    joiner = next(field for field in ADD.fields(facts, {}) if field.name == "joiner")
    assert joiner.default == ("x" if not word else "")
    assert word in dict(joiner.choices)["x"]
    sentences = [fault.sentence for fault in ADD.faults(facts, {"joiner": "x"}) if "cannot join" in fault.sentence]
    assert bool(sentences) is refused
