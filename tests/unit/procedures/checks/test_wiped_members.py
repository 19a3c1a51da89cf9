"""A spare that joined once and was wiped: our history alone has it among the members; it is told how to retire it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.galera.state_files import ZERO_UUID, Grastate
from services.inventory.model import ClusterEntry
from services.procedures.catalogue.checks import named_members as check_of
from services.procedures.gather.membership import members_of
from services.procedures.plan.host_facts import HostFacts, Remembered
from tests.unit.procedures.facts_of_three import NAMES, UUID, WARN, down, facts, gone, host
from tests.unit.procedures.host_of import changed

SEEN = (Remembered(UUID, 5, 1.0),)
ENTRY = ClusterEntry("lab", NAMES, retired=("new",))


def wiped(**more: object) -> HostFacts:
    known = {"remembered": SEEN, "grastate": None, "grastate_absent": True, "data_folder_entries": 0}
    return down("new", **{**known, **more})


def members(spare: HostFacts, entry: ClusterEntry = ENTRY) -> tuple[str, ...]:
    return members_of((*map(host, NAMES), spare), UUID, None, entry)


def test_that_it_is_told_how_to_retire_it_and_that_nothing_blocks_for_it() -> None:
    seen = replace(facts(wiped()), members=(*NAMES, "new"))
    check = check_of(seen, blocks=True)
    assert check.verdict is WARN
    assert "new was a member, but has neither data nor a configuration of the cluster now" in check.evidence
    assert any('retired = ["new"]' in line for line in check.try_)


def test_that_a_retired_host_with_nothing_of_the_cluster_is_no_member_any_more() -> None:
    assert members(wiped(), replace(ENTRY, retired=())) == (*NAMES, "new")
    assert members(wiped()) == NAMES
    assert members(wiped(grastate=Grastate(ZERO_UUID, -1, safe_to_bootstrap=False), grastate_absent=False)) == NAMES


@pytest.mark.parametrize(
    "spare",
    [
        wiped(grastate=Grastate(UUID, 5, safe_to_bootstrap=False), grastate_absent=False),
        changed(gone("new"), remembered=SEEN),
        wiped(grastate_absent=False),
        changed(wiped(), server_up=True),
    ],
    ids=["its data are the cluster's", "silent", "not read", "a server runs"],
)
def test_that_a_retired_host_of_which_anything_may_be_left_stays_a_member(spare: HostFacts) -> None:
    assert members(spare) == (*NAMES, "new")


def test_that_a_member_that_only_lost_its_data_is_not_told_to_retire() -> None:
    left = ("mysqld", "wsrep_cluster_address", "gcomm://n1")
    seen = replace(facts(wiped(options_given=(left,))), members=(*NAMES, "new"))
    assert "new" not in check_of(seen, blocks=True).evidence
