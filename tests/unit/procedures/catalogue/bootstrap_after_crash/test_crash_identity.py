"""Which cluster's data it is: files, InnoDB and our own history side by side; damaged files have no majority."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.other_server import NotRead, OtherServer
from services.facts.galera.ran_alone import RanAlone
from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.bootstrap_after_crash.by_itself import in_the_way
from services.procedures.catalogue.galera.bootstrap_after_crash.identity import one_cluster
from services.procedures.catalogue.galera.bootstrap_after_crash.party import party
from services.procedures.catalogue.galera.shared.positions import most_advanced, standings
from services.procedures.conditions.galera.history.same import SameHistory
from services.procedures.plan.host_facts import Facts, HostFacts, Remembered
from services.procedures.plan.invariants.plans import violations
from services.procedures.plan.parts.galera.traces import Trace
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, OTHER, PASS, UUID, WARN, down, facts
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("bootstrap-after-crash")
SEEN = (Remembered(UUID, 40, 0.0),)


def files(*uuids: str, seen: tuple[Remembered, ...] = SEEN, **more: object) -> Facts:
    """Three stopped servers whose state files say this."""
    nodes = (
        down(n, grastate=Grastate(u, 40, safe_to_bootstrap=False), remembered=seen)
        for n, u in zip(NAMES, uuids, strict=True)
    )
    return replace(facts(*nodes), **more)  # type: ignore[arg-type]


def test_that_two_damaged_files_do_not_outvote_what_this_console_saw() -> None:
    check = one_cluster(party(files(UUID, OTHER, OTHER), NAMES, ()))
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert f"n2: grastate.dat {OTHER}, the console saw it in {UUID}" in check.evidence
    assert f"n1: grastate.dat {UUID}, the console saw it there as well" in check.evidence
    assert not any("n1" in advice or "Leave" in advice for advice in check.try_)


def test_that_leaving_the_right_node_out_does_not_help() -> None:
    assert one_cluster(party(files(UUID, OTHER, OTHER), ("n2", "n3"), ())).verdict is BLOCK


def test_that_a_node_that_this_console_saw_in_the_other_cluster_is_the_one_to_leave_out() -> None:
    foreign = down("n3", grastate=Grastate(OTHER, 7, safe_to_bootstrap=False), remembered=(Remembered(OTHER, 7, 0.0),))
    seen = files(UUID, UUID, UUID)
    seen = replace(seen, hosts=(*seen.hosts[:2], foreign))
    assert any("Leave n3 out" in advice for advice in one_cluster(party(seen, NAMES, ())).try_)


def test_that_files_that_disagree_block_without_a_history_too() -> None:
    check = one_cluster(party(files(UUID, UUID, OTHER, seen=()), NAMES, ()))
    assert (check.verdict, any("Leave" in advice for advice in check.try_)) == (BLOCK, False)


def test_that_files_that_agree_against_our_history_block_until_a_person_names_the_cluster() -> None:
    check = one_cluster(party(files(OTHER, OTHER, OTHER), NAMES, ()))
    assert (check.verdict, check.commands) == (BLOCK, (f"--cluster {OTHER}",))
    assert one_cluster(party(files(OTHER, OTHER, OTHER, cluster_id=OTHER), NAMES, ())).verdict is WARN
    assert one_cluster(party(files(UUID, UUID, UUID), NAMES, ())).verdict is PASS


def lost_file(name: str, *, damaged: bool) -> HostFacts:
    """A host whose state file is damaged, or absent."""
    return down(name, grastate=None, grastate_damaged=damaged, grastate_absent=not damaged)


@pytest.mark.parametrize("damaged", [True, False])
def test_that_a_node_with_a_damaged_or_lost_state_file_is_no_candidate_until_innodb_told_its_position(
    damaged: bool,
) -> None:
    before = facts(lost_file("n1", damaged=damaged), down("n2"), down("n3"))
    (found,) = standings(before, ("n1",))
    assert ("damaged" if damaged else "no grastate.dat") in found.out
    assert found.later is damaged
    after = replace(before, kept=(("recovered-n1", f"{UUID}:50"), ("recovered-n2", f"{UUID}:49")))
    best = most_advanced(standings(after, NAMES))
    assert best is not None
    assert best.host == "n1"
    foreign = replace(before, kept=(("recovered-n1", f"{OTHER}:50"),))
    assert standings(foreign, ("n1",))[0].out


def test_that_a_node_is_given_a_whole_state_file_before_it_is_bootstrapped_where_its_own_is_damaged() -> None:
    kept = tuple((f"recovered-{n}", f"{UUID}:50") for n in NAMES)
    seen = facts(*(lost_file(n, damaged=True) for n in NAMES), kept=kept)
    first = PROCEDURE.plan(replace(seen, kept=()), {})
    _, plan = PROCEDURE.continued(seen, {}, first)
    assert f"uuid:    {UUID}" in str(plan.step("safe").action)
    assert "safe_to_bootstrap: 1" in str(plan.step("safe").action)
    joiners = [s for s in plan.steps if s.step_id.startswith("state-")]
    assert len(joiners) == 2
    for state in joiners:  # and so is each that joins: nobody can prove what a server starts from by a damaged one
        assert "safe_to_bootstrap: 0" in str(state.action)
        start = next(at for at, s in enumerate(plan.steps) if s.step_id == f"start-{state.host}")
        assert plan.steps.index(state) < start
    assert violations(plan) == ()


def test_that_a_seqno_beside_a_zero_uuid_is_not_what_a_joiner_is_started_with() -> None:
    """Random seed 154 on the lab: 'Non-negative state seqno requires non-nil history UUID' ended its start."""
    kept = tuple((f"recovered-{n}", f"{UUID}:50") for n in NAMES)
    seen = facts(*(down(n) for n in NAMES[:2]), down("n3", grastate=Grastate(ZERO_UUID, 50, False)), kept=kept)
    first = PROCEDURE.plan(replace(seen, kept=()), {})
    _, plan = PROCEDURE.continued(seen, {}, first)
    order = [s.step_id for s in plan.steps]
    assert order.index("state-n3") < order.index("start-n3")
    assert violations(plan) == ()


def test_that_a_joiner_whose_damaged_file_hides_a_position_that_nobody_recovered_may_come_by_sst_only() -> None:
    kept = tuple((f"recovered-{n}", f"{UUID}:50") for n in ("n1", "n2"))
    seen = facts(*(down(n) for n in ("n1", "n2")), lost_file("n3", damaged=True), kept=kept)
    first = PROCEDURE.plan(replace(seen, kept=()), {})
    _, plan = PROCEDURE.continued(seen, {}, first)
    assert any(s.step_id.endswith("-n3") and s.step_id.startswith("accept-") for s in plan.steps)  # typed: without n3
    order = [s.step_id for s in plan.steps]
    assert order.index("only-sst-n3") < order.index("start-n3")
    proof = next(c for c in plan.step("start-n3").before if isinstance(c, SameHistory))
    assert proof.by_sst


def test_that_galera_s_own_recovery_is_not_tried_with_a_state_file_that_is_damaged() -> None:
    kept = tuple((f"recovered-{n}", f"{UUID}:50") for n in NAMES)
    view = ("c0ffee00-0000-0000-0000-000000000000:7", ("a", "b", "c"))
    nodes = [down(n, gvwstate=view, grastate=Grastate(UUID, -1, False)) for n in NAMES[:2]]
    seen = facts(*nodes, changed(lost_file("n3", damaged=True), gvwstate=view), kept=kept)
    asked = party(seen, NAMES, ())
    assert in_the_way(asked, standings(seen, NAMES)) == "grastate.dat of n3 is damaged"


def test_that_galera_s_own_recovery_starts_no_node_on_whose_data_another_server_was_shut_down() -> None:
    seen = files(UUID, UUID, UUID)
    other = changed(seen.host("n3"), trace=Trace(other_server=OtherServer(20.0, 10.0)))
    seen = replace(seen, hosts=(*seen.hosts[:2], other))
    told = in_the_way(party(seen, NAMES, ()), standings(seen, NAMES))
    assert told == "another server ran on the data of n3"
    for unknown in (RanAlone("", certain=False), NotRead("its journal")):
        seen = replace(seen, hosts=(*seen.hosts[:2], changed(other, trace=Trace(other_server=unknown))))
        told = in_the_way(party(seen, NAMES, ()), standings(seen, NAMES))
        assert told == "whether another server ran on the data of n3 is not known"


def test_that_galera_s_own_recovery_is_not_tried_with_a_view_that_is_empty_or_cut_off() -> None:
    seen = files(UUID, UUID, UUID)
    cut = changed(seen.host("n3"), gvwstate=None, gvwstate_damaged=True)
    seen = replace(seen, hosts=(*seen.hosts[:2], cut))
    assert in_the_way(party(seen, NAMES, ()), standings(seen, NAMES)) == "gvwstate.dat of n3 is empty or truncated"
