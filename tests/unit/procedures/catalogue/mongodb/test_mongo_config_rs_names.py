"""mongo-config-rs: the order and the names of config servers are those of configDB, however it writes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.mongodb.sharding import parse_cluster
from services.procedures.catalogue.mongodb.config_servers.party import party_of
from services.procedures.catalogue.mongodb.shared.order import order_of
from services.procedures.catalogue.mongodb.shared.sets import mongo_of
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.mongodb.process import MongoProcess
from tests.faults.scripted.config_servers import ROUTERS
from tests.unit.procedures.catalogue.mongodb.test_mongo_config_rs import ROLLING, _blocks, _facts, _server, _told, _with

_ADDRESSES = {"c1": "fd00::1", "c2": "fd00::2", "c3": "fd00::3"}


def _named(string: str, facts: Facts) -> Facts:
    """The same estate with another string of config servers; a mongos tells in getShardMap what it made of it."""
    for router in ROUTERS:
        facts = _server(facts, router, config_string=string)
        settings = (("sharding.configDB", string),)
        facts = _with(
            facts, router, lambda one, kept=settings: one.with_part(replace(one[MongoProcess], settings=kept))
        )
    for host in facts.members:
        mongo = mongo_of(facts.host(host))
        if mongo is not None and mongo.cluster is not None:
            used = parse_cluster(shard_map={"map": {"config": string}}).config
            facts = _told(facts, host, cluster=replace(mongo.cluster, config=used))
    return facts


@pytest.mark.parametrize(
    ("string", "places"),
    [
        ("c2:27019,c3:27019,c1:27019", ("c2:27019", "c3:27019", "c1:27019")),
        ("C2:27019,C3:27019,C1:27019", ("C2:27019", "C3:27019", "C1:27019")),
        ("c2.:27019,c3.:27019,c1.:27019", ("c2.:27019", "c3.:27019", "c1.:27019")),
        ("c2,c3,c1", ("c2:27019", "c3:27019", "c1:27019")),
    ],
)
def test_that_they_are_converted_in_the_order_of_the_string_however_it_writes_them(
    string: str, places: tuple[str, ...]
) -> None:
    """By the letters of a name the order was that of the inventory: another server than the first became the set. One
    without a port has 27019, and as a member of a set it is written with it."""
    facts = _named(string, _facts())
    party = party_of(facts, {**ROLLING, "way": "rolling"})
    assert (party.servers, party.places) == (("c2", "c3", "c1"), places)
    assert party.new_string.startswith(f"cfg/{places[0]},")
    assert order_of(facts).mirrors == ("c1", "c3", "c2"), "mongo-rolling-upgrade replaces them last first"
    assert _blocks(facts) == []


def test_that_they_are_known_by_addresses_of_ipv6_too() -> None:
    facts = _facts()
    for host, address in _ADDRESSES.items():
        facts = _with(facts, host, lambda one, at=address: replace(one, address=at))
    string = ",".join(f"[{_ADDRESSES[host]}]:27019" for host in ("c2", "c3", "c1"))
    party = party_of(_named(string, facts), {**ROLLING, "way": "rolling"})
    assert (party.servers, ",".join(party.places)) == (("c2", "c3", "c1"), string)
