"""A host that never was a member gets a donor's snapshot: its option file first, after the donor's, and no SST."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.plan.actions import PutFile
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.invariants.plans import violations
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.snapshot_node.test_snapshot_plan import given
from tests.unit.procedures.facts_of_three import BLOCK, PASS, WARN
from tests.unit.procedures.host_of import changed

PROCEDURE = procedure_named("snapshot-node")


def seen(**of_donor: Any) -> Facts:
    facts = facts_of(whole("n1", "n2", "n3", spare="new"))
    hosts = tuple(changed(host, **of_donor) if host.host == "n1" and of_donor else host for host in facts.hosts)
    return replace(facts, hosts=hosts)


def check_of(facts: Facts, code: str, **inputs: str) -> Any:
    return next(c for c in PROCEDURE.preflight(facts, given(joiner="new", **inputs)) if c.code == code)


def test_that_a_new_host_is_configured_and_its_ports_are_tried_before_the_lock_and_the_others_name_it_at_the_end() -> (
    None
):
    assert PROCEDURE.faults(seen(), given(joiner="new")) == ()
    plan = PROCEDURE.plan(seen(), given(joiner="new"))
    assert violations(plan) == ()
    order = [step.step_id for step in plan.steps]
    assert order[:10] == [
        "own-path-new", "restart-off-new", "down-new", "hold-new", "held-out-new", "configure-new", "config-new",
        "listen-new", "unlisten-new", "desync",
    ]  # fmt: skip
    compared, named = (
        ["same-defined-new", "same-rows-new", "let-in-new"],
        [f"extend-{name}" for name in ("n1", "n2", "n3")],
    )
    assert order[order.index("ist-from-new") + 1 :][:6] == [*compared, *named]
    written = plan.step("configure-new").action
    assert isinstance(written, PutFile)
    text = "".join(part for part in written.content if isinstance(part, str))
    assert "wsrep_cluster_address = gcomm://10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4" in text
    assert "wsrep_node_name = new" in text
    assert plan.step("configure-new").undo is not None


def test_that_nothing_stands_in_a_new_hosts_way_and_an_empty_folder_is_as_good_as_a_packages_data() -> None:
    assert not [c for c in PROCEDURE.preflight(seen(), given(joiner="new")) if c.verdict is BLOCK]
    facts = seen()
    bare = tuple(
        changed(one, data_folder_entries=0, grastate=None) if one.host == "new" else one for one in facts.hosts
    )
    empty = replace(facts, hosts=bare)
    assert not [c for c in PROCEDURE.preflight(empty, given(joiner="new")) if c.verdict is BLOCK]


def test_that_a_cache_elsewhere_or_an_encrypted_donor_is_not_carried_over_to_a_new_host() -> None:
    assert check_of(seen(), "JOINER-CONFIGURED").verdict is PASS
    away = seen(options_given=(("mysqld", "wsrep_provider_options", "gcache.size=1G; gcache.dir=/cache"),))
    check = check_of(away, "JOINER-CONFIGURED")
    assert (check.verdict, check.absolute) == (BLOCK, True)
    assert "/cache" in check.evidence
    sealed = seen(options_given=(("mysqld", "file_key_management_filename", "/etc/keys"),))
    assert check_of(sealed, "SAME-SERVER").absolute
    pages = seen(options_given=(("mysqld", "innodb_page_size", "32768"),))
    assert check_of(pages, "SAME-SERVER").verdict is PASS  # it is copied


@pytest.mark.parametrize(("name", "field"), [("n 1", "node_name"), ("", "")])
def test_that_a_new_nodes_name_is_plain_and_is_the_hosts_where_none_is_typed(name: str, field: str) -> None:
    found = PROCEDURE.faults(seen(), given(joiner="new", **({"node_name": name} if name else {})))
    assert [fault.field for fault in found] == ([field] if field else [])
    assert check_of(seen(), "NODE-NAME", node_name="n1").verdict is BLOCK


def test_that_a_node_that_was_a_member_keeps_its_own_name() -> None:
    cluster = whole("n1", "n2", "n3", "n4")
    cluster.stop(cluster.hosts["n4"])
    facts = facts_of(cluster)
    assert [fault.field for fault in PROCEDURE.faults(facts, given(node_name="other"))] == ["node_name"]
    assert PROCEDURE.faults(facts, given(node_name="n4")) == ()


def test_that_a_new_host_whose_server_runs_is_stopped_first_and_started_again_by_undo_and_one_unheard_is_refused() -> (
    None
):
    cluster = whole("n1", "n2", "n3", spare="new")
    cluster.hosts["new"].running = True
    facts = facts_of(cluster)
    assert PROCEDURE.faults(facts, given(joiner="new")) == ()
    assert check_of(facts, "JOINER-RUNS").verdict is WARN
    assert PROCEDURE.plan(facts, given(joiner="new")).step("down-new").undo is not None
    cluster.hosts["new"].reachable = False
    (fault,) = PROCEDURE.faults(facts_of(cluster), given(joiner="new"))
    assert fault.sentence == "new cannot join: no answer: its state is not known."
