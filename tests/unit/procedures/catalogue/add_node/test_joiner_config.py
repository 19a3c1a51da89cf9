"""Where a member's list of addresses stands, and what becomes of it: the right section, its own parameters, IPv6."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.procedures.catalogue import procedure_named
from services.procedures.catalogue.galera.shared import joining as own
from services.procedures.catalogue.galera.shared.joiner_config import (
    address_of,
    address_place,
    cluster_address,
    extended_address,
)
from services.procedures.conditions.server.option import OptionIs
from services.procedures.plan.actions import EditOptions
from services.procedures.plan.checks import Verdict
from services.procedures.plan.forms.inputs import filled
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.procedure import Procedure
from tests.faults.scripted.cluster import whole
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.facts_of_three import down, facts, galera, host
from tests.unit.procedures.host_of import changed, host_of

DEBIAN = "/etc/mysql/mariadb.conf.d/60-galera.cnf"
ADD: Procedure = procedure_named("add-node")


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("[mysqld]\nwsrep_on=1\n[galera]\nwsrep-cluster-address = gcomm://a\n", "galera"),
        ("[mysqld]\nwsrep_cluster_address=gcomm://a\n[mariadb-10.11]\n", "mysqld"),
        (
            "[mysqld]\nwsrep_cluster_address=gcomm://a\n[mariadb-10.11]\nwsrep_cluster_address=gcomm://b\n",
            "mariadb-10.11",
        ),
        ("[mysqld]\n#wsrep_cluster_address=gcomm://a\n[client]\nwsrep_cluster_address=gcomm://b\n", ""),
    ],
)
def test_that_the_address_is_changed_in_the_section_where_it_stands_last(text: str, section: str) -> None:
    found = address_place(host_of("n1", options_files=(("/etc/mysql/my.cnf", "[mysqld]\n"), (DEBIAN, text))))
    assert found == ((DEBIAN, section) if section else ("", ""))


def test_that_a_member_keeps_the_parameters_of_its_own_address() -> None:
    member = host_of("n1", options_given=(("mysqld", "wsrep_cluster_address", "gcomm://a,b?pc.wait_prim=no"),))
    assert extended_address(member, "gcomm://a,b,c") == "gcomm://a,b,c?pc.wait_prim=no"
    assert extended_address(HostFacts("n2"), "gcomm://a,b,c") == "gcomm://a,b,c"


@pytest.mark.parametrize(
    ("given", "address"),
    [("10.0.0.1", "10.0.0.1"), ("10.0.0.1:4567", "10.0.0.1"), ("[fd00::1]:4567", "fd00::1"), ("fd00::1", "fd00::1")],
)
def test_that_an_address_is_told_without_its_port_and_an_ipv6_one_stays_whole(given: str, address: str) -> None:
    assert address_of(HostFacts("n1", address=given)) == address


def test_that_a_joiner_is_listed_once_and_in_brackets_where_its_address_needs_them() -> None:
    option = (("mysqld", "wsrep_cluster_address", "gcomm://[fd00::1]:4567,[fd00::2]"),)
    members = tuple(host_of(f"n{n}", address=f"fd00::{n}", options_given=option) for n in (1, 2))
    seen = Facts(1.0, "u", "lab", members=("n1", "n2"), hosts=(*members, HostFacts("new", address="fd00::3")))
    assert cluster_address(seen, ("n1", "n2"), "new") == "gcomm://[fd00::1]:4567,[fd00::2],[fd00::3]"
    assert cluster_address(seen, ("n1", "n2"), "n1") == "gcomm://[fd00::1]:4567,[fd00::2]"


def test_that_a_new_nodes_configuration_is_read_where_the_server_reads_it_before_it_starts() -> None:
    seen = facts_of(whole("n1", "n2", "n3", spare="new"))
    given = {"joiner": "new"}
    plan = ADD.plan(seen, filled(ADD.fields(seen, given), given))
    read = [c.option for c in plan.step("configure-new").proof if isinstance(c, OptionIs)]
    assert read == ["wsrep_cluster_address", "wsrep_node_name"]


def test_that_a_members_file_is_changed_in_its_own_section() -> None:
    seen = facts_of(whole("n1", "n2", "n3", spare="new"))
    text = "[galera]\nwsrep_cluster_address = gcomm://10.0.0.1,10.0.0.2,10.0.0.3\n"
    hosts = tuple(changed(h, options_files=((DEBIAN, text),)) if h.host == "n2" else h for h in seen.hosts)
    seen = replace(seen, hosts=hosts)
    given = {"joiner": "new"}
    action = ADD.plan(seen, filled(ADD.fields(seen, given), given)).step("extend-n2").action
    assert isinstance(action, EditOptions)
    assert (action.path, action.section) == (DEBIAN, "galera")


def _joiner(address: str, name: str | None) -> Facts:
    options = [("mysqld", "wsrep_cluster_address", address)]
    options += [("mysqld", "wsrep_cluster_name", name)] if name is not None else []
    members = (host(n, group=galera(n, cluster_name="orders"), address=f"10.0.0.{n[1]}") for n in ("n1", "n2"))
    return facts(*members, down("n3", options_given=tuple(options)))


@pytest.mark.parametrize(
    ("address", "name", "verdict"),
    [
        ("gcomm://10.0.0.1,10.0.0.3", "orders", Verdict.PASS),
        ("gcomm://n2:4567", "orders", Verdict.PASS),
        ("gcomm://10.0.0.1", "others", Verdict.BLOCK),
        ("gcomm://10.9.9.9", "orders", Verdict.WARN),
        ("gcomm://10.0.0.1", None, Verdict.WARN),
    ],
)
def test_that_a_node_that_was_away_still_looks_for_this_cluster(
    address: str, name: str | None, verdict: Verdict
) -> None:
    assert own.own_cluster(_joiner(address, name), "n3", ("n1", "n2")).verdict is verdict


def test_that_a_node_of_its_own_configuration_is_not_given_another_name_in_vain() -> None:
    down_n3 = whole("n1", "n2", "n3")
    down_n3.stop(down_n3.hosts["n3"])
    seen = facts_of(down_n3)
    assert ADD.faults(seen, {"joiner": "n3"}) == ()
    assert [f.field for f in ADD.faults(seen, {"joiner": "n3", "node_name": "other"})] == ["node_name"]
