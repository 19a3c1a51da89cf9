"""A node that is taken out of flow control: who may be, what becomes of its clients, and how it comes back."""

from __future__ import annotations

from dataclasses import replace

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared.desync import clients, long_statements, others_stay
from services.procedures.conditions.server.status import StatusIs
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.fields import Inputs
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.model import Plan
from tests.faults.scripted.cluster import balanced, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN, facts, galera, host

PROCEDURE = procedure_named("desync-for-backup")


def plan_of(seen: Facts, **inputs: str) -> Plan:
    given: Inputs = {"node": "n3", **inputs}
    assert PROCEDURE.faults(seen, given) == ()
    plan = PROCEDURE.plan(seen, given)
    assert violations(plan) == ()
    return plan


def check_of(seen: Facts, code: str) -> Check:
    return next(c for c in PROCEDURE.preflight(seen, {"node": "n3"}) if c.code == code)


def test_that_a_node_that_is_desynced_already_is_refused_for_our_end_would_end_theirs() -> None:
    seen = facts(host("n3", group=galera("n3", desync_count=1, local_state=2)))
    assert check_of(seen, "HEALTH-GATE").verdict is BLOCK


def test_that_two_other_members_must_stay() -> None:
    three = facts()
    two = replace(three, members=("n1", "n3"), hosts=tuple(h for h in three.hosts if h.host != "n2"))
    assert (others_stay(three, "n3").verdict, others_stay(two, "n3").verdict) == (PASS, BLOCK)
    assert not others_stay(two, "n3").absolute


def test_that_clients_of_the_node_are_told_and_the_likely_writer_is_named() -> None:
    quiet = facts(host("n1", sessions_clients=5), host("n3", sessions_clients=0))
    assert clients(quiet, "n3", drained=False).verdict is PASS
    busy = clients(facts(host("n3", sessions_clients=9)), "n3", drained=False)
    assert (busy.verdict, "it may be the writer" in busy.evidence) == (WARN, True)
    assert clients(facts(host("n3", sessions_clients=None)), "n3", drained=True).verdict is WARN


def test_that_a_long_transaction_is_told_because_a_backups_lock_waits_for_it() -> None:
    assert long_statements(facts(host("n3", longest_transaction_s=29.0)), "n3").verdict is PASS
    assert long_statements(facts(host("n3", longest_transaction_s=30.0)), "n3").verdict is WARN
    assert long_statements(facts(host("n3", longest_transaction_s=None)), "n3").verdict is WARN


def test_that_behind_haproxy_its_clients_leave_first_and_return_when_it_is_synced() -> None:
    seen = facts_of(balanced("n1", "n2", "n3"))
    order = [step.step_id for step in plan_of(seen).steps]
    assert order == [
        "haproxy-drain-n3-1", "haproxy-empty-n3", "desync", "backup", "catch-up", "resync", "haproxy-ready-n3-1",
        "whole",
    ]  # fmt: skip
    assert "lb" in plan_of(seen).hosts
    assert plan_of(seen, drain="none").steps[0].step_id == "desync"
    assert plan_of(facts_of(whole("n1", "n2", "n3"))).steps[0].step_id == "desync"


def test_that_an_undo_too_waits_for_the_queue_before_the_node_counts_for_flow_control_again() -> None:
    undo = plan_of(facts()).step("desync").undo
    assert undo is not None
    assert undo.waits == (StatusIs("n3", "wsrep_local_recv_queue", "<=", "0"),)
    assert undo.waits_s >= 3_600.0


def test_that_the_time_to_catch_up_is_no_shorter_than_the_backup() -> None:
    assert plan_of(facts(), longest="9 h").step("catch-up").limit_s == 9 * 3_600.0
