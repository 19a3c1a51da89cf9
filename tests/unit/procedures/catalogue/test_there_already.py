"""A node that is a member already: nothing is to be done only where no run is open on it and its clients are let in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.plan.checks import Check
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, LockSeen
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import BLOCK, PASS

WAYS_BACK = ("add-node", "rejoin-from-incrementals", "rejoin-from-binlogs", "snapshot-node")


def checked(procedure: str, seen: Facts) -> dict[str, Check]:
    card, given = procedure_named(procedure), {"joiner": "n3"}
    values = filled(card.fields(seen, given), given)
    assert card.plan(seen, values).nothing_to_do
    return {check.code: check for check in card.preflight(seen, values)}


@pytest.mark.parametrize("procedure", WAYS_BACK)
def test_that_a_whole_member_needs_nothing(procedure: str) -> None:
    told = checked(procedure, facts_of(whole("n1", "n2", "n3")))
    assert {code: check.verdict for code, check in told.items()} == {"HEALTH-GATE": PASS, "LOCK-FREE": PASS}


@pytest.mark.parametrize("procedure", WAYS_BACK)
def test_that_a_member_that_refuses_its_clients_is_not_done(procedure: str) -> None:
    """A run was broken off right behind the start: Synced, its data not compared. The next one said 'nothing to do'."""
    seen = facts_of(whole("n1", "n2", "n3"))
    host = seen.host("n3")
    assert host.node is not None
    assert host.node.galera is not None
    galera = replace(host.node.galera, reject_queries="ALL")
    held_out = replace(host, node=replace(host.node, galera=galera))
    seen = replace(seen, hosts=tuple(held_out if one.host == "n3" else one for one in seen.hosts))
    gate = checked(procedure, seen)["HEALTH-GATE"]
    assert (gate.verdict, gate.evidence) == (
        BLOCK, "n3 refuses its clients' statements: wsrep_reject_queries is ALL"
    )  # fmt: skip
    assert gate.try_[0].startswith("Resume or undo the run that keeps its clients out")


@pytest.mark.parametrize("procedure", WAYS_BACK)
def test_that_an_open_run_of_the_cluster_is_named(procedure: str) -> None:
    seen = facts_of(whole("n1", "n2", "n3"))
    held = LockSeen("ann@desk", "1", 1.0, "rejoin-from-incrementals", seen.cluster_id)
    seen = replace(seen, hosts=tuple(replace(one, lock=held) for one in seen.hosts))
    lock = checked(procedure, seen)["LOCK-FREE"]
    assert lock.verdict is BLOCK
    assert "ann@desk runs rejoin-from-incrementals (run 1)" in lock.evidence
