"""Whom a file or a log names is asked where the inventory says so, with a seed's ways in, and nobody else ever is."""

from __future__ import annotations

import pytest

from services.inventory.model import ClusterEntry, HostEntry, Inventory, SqlAccess, SshAccess
from services.procedures.journal.finding import nothing_found, with_named
from services.procedures.plan.host_facts import Facts, Named

PAIR = tuple(
    HostEntry(name, f"10.0.0.{n}", SshAccess("dba"), SqlAccess("observer", operator_user="pilot"))
    for n, name in enumerate(("n1", "n2"), 1)
)


def asked(*named: Named, networks: tuple[str, ...] = ("10.0.0.0/24",)) -> tuple[HostEntry, ...]:
    """Return the hosts that are asked besides the two that are written down."""
    inventory = Inventory(hosts=PAIR, clusters=(ClusterEntry("pair", ("n1", "n2"), networks=networks),))
    facts = Facts(1.0, "", "pair", members=("n1", "n2"), named=named)
    return with_named(nothing_found(inventory), facts).inventory.hosts[len(PAIR) :]


def test_that_a_named_member_in_a_network_of_the_cluster_is_asked_without_the_account_for_changes() -> None:
    (found,) = asked(Named("n3", addresses=("10.0.0.3",)))
    assert (found.name, found.address, found.ways_of) == ("n3", "10.0.0.3", "n1")
    assert found.sql is not None
    assert (found.sql.user, found.sql.operator_user) == ("observer", None)


@pytest.mark.parametrize(
    "named",
    [
        Named("n3", addresses=("192.168.0.3",)),
        Named("n3"),
        Named("n3", addresses=("0x0a.0.0.3",)),
        Named("n3", addresses=("10.0.0.3",), retired=True),
    ],
    ids=["elsewhere", "no address", "none that is one", "retired"],
)
def test_that_nobody_else_is_sent_an_account(named: Named) -> None:
    assert asked(named) == ()
    assert asked(Named("n3", addresses=("10.0.0.3",)), networks=()) == ()


def test_that_a_name_that_looks_like_a_hosts_own_goes_by_its_address() -> None:
    (found,) = asked(Named("N1", addresses=("10.0.0.3",)))
    assert found.name == "10.0.0.3"
