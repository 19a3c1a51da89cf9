"""`SET GLOBAL wsrep_on=OFF` on a member: the cause is named everywhere, and nothing is told as None."""

from __future__ import annotations

from services.facts.galera.status import OFF_SENTENCE, galera_problems, parse_galera
from services.procedures.catalogue.checks import health_gate
from services.types import Health
from tests.unit.discovery.scenes import STATE, estate, member, node
from tests.unit.procedures.facts_of_three import BLOCK, NAMES, facts, galera, host

STATUS = {"wsrep_cluster_state_uuid": STATE, "wsrep_cluster_status": "Primary", "wsrep_cluster_size": "3"}
VARIABLES = {"wsrep_provider": "/usr/lib/galera/libgalera_smm.so", "wsrep_on": "OFF"}
SILENT = {"off": True, "local_state": None, "local_state_comment": "", "ready": None, "conf_id": None}


def test_that_a_server_with_wsrep_on_off_gives_the_cause_and_not_only_what_is_missing() -> None:
    found = parse_galera(STATUS, VARIABLES)
    assert found is not None
    assert found.off
    assert [p.code for p in galera_problems(STATUS, VARIABLES, found) if p.code.startswith("wsrep")] == ["wsrep-off"]
    on = parse_galera(STATUS, {**VARIABLES, "wsrep_on": "ON"})
    assert on is not None
    assert not on.off


def test_that_the_node_is_judged_bad_by_its_cause() -> None:
    off = node(estate(member(1), member(2), member(3, **SILENT)), "db3")
    assert (off.state, off.health) == ("wsrep_on is OFF", Health.BAD)
    assert OFF_SENTENCE in off.reason


def test_that_the_health_gate_names_the_cause_and_never_none() -> None:
    third = host("n3", group=galera("n3", **{**SILENT, "cluster_size": None}))
    check = health_gate(facts(host("n1"), host("n2"), third), NAMES)
    assert check.verdict is BLOCK
    assert check.evidence == f"n3: {OFF_SENTENCE}"
    mute = host("n3", group=galera("n3", local_state=None, local_state_comment="", conf_id=None, cluster_size=None))
    told = health_gate(facts(host("n1"), host("n2"), mute), NAMES)
    assert told.verdict is BLOCK
    assert "None" not in told.evidence
