"""What a freeze promises: somebody ends it whatever happens, and the node that goes down can be served from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared.cache_arithmetic import OPTION
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.membership.whole import ClusterWhole
from services.procedures.conditions.machine.unit import UnitFresh
from services.procedures.conditions.server.option import OptionIs
from services.procedures.plan.actions import Run, Several
from services.procedures.plan.checks import Verdict
from services.procedures.plan.condition import Kept
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed

FREEZE = procedure_named("freeze-gcache")


def _facts(frozen: str = "-1") -> Facts:
    cluster = whole("n1", "n2", "n3")
    cluster.hosts["n1"].frozen_at = frozen
    return facts_of(cluster)


def _plan(facts: Facts, **inputs: str) -> Plan:
    given = {"node": "n3", "donor": "n1", **inputs}
    return FREEZE.plan(facts, filled(FREEZE.fields(facts, given), given))


def test_that_the_timer_that_ends_a_freeze_is_set_before_the_freeze() -> None:
    order = [step.step_id for step in _plan(_facts()).steps]
    assert order[:2] == ["guard-on", "freeze"]
    assert order.index("release") < order.index("guard-off")


def test_that_a_timer_whose_release_failed_leaves_no_unit_in_the_way_of_the_next_one() -> None:
    action = _plan(_facts()).step("guard-on").action
    assert isinstance(action, Several)
    assert any("--collect" in part.command.argv for part in action.actions if isinstance(part, Run))


def test_that_a_node_which_stopped_before_the_frozen_seqno_is_found_out_at_its_stop() -> None:
    position = next(c for c in _plan(_facts()).step("stop-n3").proof if isinstance(c, CleanPosition))
    assert position.at_least == Kept("frozen_at")


def test_that_the_named_donor_is_read_where_the_server_will_read_it() -> None:
    assert _plan(_facts()).step("name-donor-n3").proof == (OptionIs("n3", "mysqld", "wsrep_sst_donor", "n1,"),)


@pytest.mark.parametrize(("seen", "verdict"), [("-1", Verdict.PASS), ("70123", Verdict.BLOCK)])
def test_that_a_freeze_of_somebody_else_blocks_and_once_accepted_does_not_stop_the_run(
    seen: str, verdict: Verdict
) -> None:
    facts = _facts(seen)
    given = {"node": "n3", "donor": "n1"}
    check = next(c for c in FREEZE.preflight(facts, given) if c.code == "FREEZE-SEEN")
    assert (check.verdict, check.absolute) == (verdict, False)
    before = _plan(facts).step("freeze").before
    assert [c for c in before if not isinstance(c, ClusterWhole | UnitFresh)] == [
        ProviderOption("n1", OPTION, "=", seen)
    ]


def test_that_a_freeze_begun_after_the_checks_were_read_stops_the_run_before_it_takes_it_over() -> None:
    facts = _facts()
    hosts = tuple(changed(h, provider_options=()) if h.host == "n2" else h for h in facts.hosts)
    before = _plan(replace(facts, hosts=hosts)).step("freeze").before
    assert ProviderOption("n1", OPTION, "=", "-1") in before


def test_that_a_donor_of_the_nodes_own_segment_is_proposed() -> None:
    facts = _facts()
    moved = []
    for host in facts.hosts:
        assert host.node is not None
        assert host.node.galera is not None
        galera = replace(host.node.galera, segment=1 if host.host in {"n1", "n3"} else 0)
        moved.append(replace(host, node=replace(host.node, galera=galera)))
    fields = {f.name: f.default for f in FREEZE.fields(replace(facts, hosts=tuple(moved)), {"node": "n3"})}
    assert fields["donor"] == "n1"
    assert {f.name: f.default for f in FREEZE.fields(facts, {"node": "n3"})}["donor"] == "n2"


def _release(facts: Facts, **inputs: str) -> dict[str, str]:
    given = {"mode": "release", **inputs}
    return filled(FREEZE.fields(facts, given), given)


def test_that_a_freeze_that_somebody_left_is_found_and_ended_without_any_node_going_down() -> None:
    cluster = whole("n1", "n2", "n3")
    cluster.hosts["n3"].frozen_at = "950"
    facts = facts_of(cluster)
    values = _release(facts)
    assert values["donor"] == "n3"
    assert FREEZE.faults(facts, values) == ()
    found = {c.code: c.verdict for c in FREEZE.preflight(facts, values)}
    assert found["FREEZE-SEEN"] is Verdict.WARN
    plan = FREEZE.plan(facts, values)
    assert [(s.step_id, s.host, s.moves) for s in plan.steps] == [("release", "n3", "")]
    assert violations(plan) == ()


def test_that_where_nothing_is_frozen_there_is_nothing_to_release() -> None:
    facts = _facts()
    assert FREEZE.plan(facts, _release(facts, donor="n1")).nothing_to_do
    assert {c.verdict for c in FREEZE.preflight(facts, _release(facts, donor="n1"))} == {Verdict.PASS}
