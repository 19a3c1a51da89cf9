"""Blocking checks whose obstacle no host of the lab can have; each test's name says why."""

from __future__ import annotations

from dataclasses import replace

from services.facts.model import NodeFacts, ServerFacts
from services.procedures.catalogue.galera.add_node.procedure import AddNode
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import HostFacts
from services.types import Flavour, Reach
from tests.unit.procedures.facts_of_three import NAMES, facts, galera, host
from tests.unit.procedures.host_of import changed

OWN, OTHER = "8a94f357-aab4-11df-86ab-c80aa9429562", "3e11fa47-71ca-11e1-9e33-c80aa9429562"
"""As @@server_uuid of MySQL 8.0 gives them (MySQL manual, "Replication and Binary Logging Options")."""


def _mysql(name: str, uuid: str, flavour: Flavour = Flavour.PXC) -> HostFacts:
    server = ServerFacts(flavour=flavour, version_key=(8, 0, 36), version_text="8.0.36-28.1", server_uuid=uuid)
    group = galera(name, provider_vendor="Codership Oy <info@codership.com> (modified by Percona)")
    node = NodeFacts(name, 1.0, Reach.FULL, server=server, galera=group)
    return changed(host(name), node=node, program_text="mysqld Ver 8.0.36-28.1", program_version=(8, 0, 36))


def _check(code: str, joiner_uuid: str, flavour: Flavour = Flavour.PXC) -> Check:
    joiner = replace(_mysql("new", joiner_uuid), address="10.0.0.4")
    assert joiner.node is not None
    joiner = replace(joiner, node=replace(joiner.node, galera=None))
    members = tuple(_mysql(name, f"{OWN[:-1]}{i}", flavour) for i, name in enumerate(NAMES))
    seen = facts(*members, joiner, candidates=("new",))
    (check,) = [c for c in AddNode().preflight(seen, {"joiner": "new"}) if c.code == code]
    return check


def test_that_a_cloned_server_uuid_blocks_on_recorded_facts_because_the_lab_has_no_mysql_and_mariadb_no_uuid() -> None:
    check = _check("SERVER-UUID", f"{OWN[:-1]}1")
    assert check.verdict is Verdict.BLOCK
    assert "the same as n2" in check.evidence
    assert _check("SERVER-UUID", OTHER).verdict is Verdict.PASS


def test_that_an_untried_product_blocks_on_recorded_facts_because_the_lab_has_only_mariadb() -> None:
    check = _check("PRODUCT", OTHER, Flavour.CODERSHIP)
    assert check.verdict is Verdict.BLOCK
    assert "n1: MySQL-wsrep 8.0.36-28.1" in check.evidence
    assert _check("PRODUCT", OTHER).verdict is Verdict.PASS
