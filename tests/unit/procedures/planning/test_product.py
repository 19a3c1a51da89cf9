"""Which servers may be changed at all: two products with their own provider, never one that could not be told."""

from __future__ import annotations

import pytest

from services.facts.model import GaleraFacts, NodeFacts, ServerFacts
from services.procedures.catalogue.checks.product import foreign_provider, known_product
from services.procedures.plan.checks import Verdict
from services.procedures.plan.host_facts import Facts, HostFacts
from services.types import Flavour, Reach

CODERSHIP = "Codership Oy <info@codership.com>"
PASS, WARN, BLOCK = Verdict.PASS, Verdict.WARN, Verdict.BLOCK


def _facts(flavour: Flavour, vendor: str = "Codership Oy <info@codership.com>") -> Facts:
    galera = GaleraFacts(provider_vendor=vendor, provider_version="26.4.23")
    node = NodeFacts("n1", 1.0, Reach.FULL, server=ServerFacts(flavour=flavour, version="8.0.36"), galera=galera)
    return Facts(1.0, "uuid", "lab", members=("n1",), hosts=(HostFacts("n1", node=node, server_up=True),))


@pytest.mark.parametrize(
    ("flavour", "verdict"),
    [(Flavour.MARIADB, PASS), (Flavour.PXC, PASS), (Flavour.CODERSHIP, BLOCK), (Flavour.UNKNOWN, WARN)],
)
def test_that_a_galera_server_of_an_untried_product_is_only_read(flavour: Flavour, verdict: Verdict) -> None:
    check = known_product(_facts(flavour), ("n1",))
    assert (check.verdict, check.absolute) == (verdict, False)
    assert "n1" in check.evidence


def test_that_servers_that_are_down_are_no_untried_product() -> None:
    assert known_product(Facts(1.0, "uuid", "lab", members=("n1",)), ("n1",)).verdict is PASS


def test_that_a_provider_that_tells_no_vendor_is_not_taken_for_the_right_one() -> None:
    (check,) = foreign_provider(_facts(Flavour.MARIADB, ""), ("n1",))
    assert (check.verdict, check.absolute) == (WARN, False)
    assert "provider" in check.evidence


OWN = "Codership Oy <info@codership.com> (modified by Percona <https://percona.com/>)"  # PXC 8.0.35 and others


@pytest.mark.parametrize(
    ("flavour", "key", "vendor", "verdict"),
    [
        (Flavour.PXC, (8, 0, 35), OWN, PASS),
        (Flavour.PXC, (8, 0, 36), CODERSHIP, BLOCK),
        (Flavour.PXC, (), CODERSHIP, BLOCK),
        (Flavour.PXC, (5, 7, 44), CODERSHIP, PASS),
        (Flavour.PXC, (5, 5, 28), CODERSHIP, PASS),
        (Flavour.MARIADB, (10, 11, 18), CODERSHIP, PASS),
        (Flavour.MARIADB, (10, 11, 18), OWN, BLOCK),
    ],
)
def test_that_each_product_is_let_its_own_provider_alone(
    flavour: Flavour, key: tuple[int, ...], vendor: str, verdict: Verdict
) -> None:
    """Percona names itself in its provider since 8.0; what came with 5.5 to 5.7 was called Codership's."""
    galera = GaleraFacts(provider_vendor=vendor, provider_version="4.15(6983fb2)")
    node = NodeFacts("n1", 1.0, Reach.FULL, server=ServerFacts(flavour=flavour, version_key=key), galera=galera)
    facts = Facts(1.0, "uuid", "lab", members=("n1",), hosts=(HostFacts("n1", node=node, server_up=True),))
    assert foreign_provider(facts, ("n1",))[0].verdict is verdict
