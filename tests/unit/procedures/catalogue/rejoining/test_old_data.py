"""OLD-DATA on facts: what only the old data may hold is told, also where it is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.facts.galera.state_files import Grastate
from services.procedures.catalogue.checks.old_data import old_data
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Remembered
from services.procedures.plan.parts.galera.traces import Trace
from tests.faults.scripted.cluster import CLUSTER, whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.host_of import changed


def _told(**of_joiner: Any) -> Check:
    cluster = whole("n1", "n2", "n3")
    cluster.stop(cluster.hosts["n3"])
    facts = facts_of(cluster)
    hosts = tuple(changed(h, **of_joiner) if h.host == "n3" and of_joiner else h for h in facts.hosts)
    return old_data(replace(facts, hosts=hosts), "n3")


@pytest.mark.parametrize(
    ("of_joiner", "said"),
    [
        ({"data_folder_grastate": Grastate(CLUSTER, -1, safe_to_bootstrap=False)}, "has no seqno"),
        ({"remembered": (Remembered(CLUSTER, 2_000, 1.0),)}, "last seen at 2000"),
        ({"trace": Trace()}, "not known whether they share the members' history"),
        ({"data_folder_grastate": None, "data_folder_grastate_absent": True}, "their state UUID is not known"),
    ],
)
def test_that_a_past_that_is_not_known_is_never_told_as_none(of_joiner: dict[str, Any], said: str) -> None:
    """A killed node's grastate.dat says -1; our history saw it further than anybody is; its logs tell nothing."""
    check = _told(**of_joiner)
    assert (check.verdict, check.not_known) == (Verdict.WARN, True)
    assert said in check.evidence
    assert check.try_


def test_that_what_is_known_is_told_as_it_is() -> None:
    for check in (_told(), _told(data_folder_entries=0, data_folder_grastate=None)):
        assert (check.verdict, check.not_known) == (Verdict.PASS, False)
    ahead = _told(data_folder_grastate=Grastate(CLUSTER, 5_000, safe_to_bootstrap=False))
    assert (ahead.verdict, ahead.not_known) == (Verdict.BLOCK, False)
