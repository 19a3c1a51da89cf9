"""Whom the search asks that a MongoDB server names: by host and port, where a person said so, and never endlessly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from services.clock import SystemClock
from services.discovery.looks import crawl as searching
from services.discovery.looks.crawl import MOST_UNASKED, CrawlResult, crawl
from services.facts.model import NodeFacts
from services.facts.mongodb.sharding import Router, Shard, ShardedCluster
from services.inventory.model import ClusterEntry, HostEntry, Instance, Inventory, MongoAccess, SshAccess
from services.inventory.trust import trust_of
from services.types import Reach
from tests.unit.discovery import mongo_scenes as m


class ScriptedSession:
    """Only its end is asked for: what a host says is handed to the search itself."""

    has_ssh = False
    has_sql = True
    kind = "mongodb"
    reached = ()

    def __init__(self, entry: HostEntry) -> None:
        self.host = entry.name

    def close(self) -> None:
        pass


def entry(name: str, address: str, port: int = 27018, **more: Any) -> HostEntry:
    return HostEntry(name, address, sql=MongoAccess("watch", port=port, operator_user="root"), kind="mongodb", **more)


def search(
    monkeypatch: pytest.MonkeyPatch, said: Mapping[str, NodeFacts], hosts: tuple[HostEntry, ...], *networks: str
) -> tuple[CrawlResult, list[HostEntry]]:
    """Search from the first host; return what was found, and who was asked how."""
    asked: list[HostEntry] = []

    def opened(one: HostEntry) -> Any:
        asked.append(one)
        return ScriptedSession(one)

    def probed(session: Any, *_: Any, address: str, **__: Any) -> NodeFacts:
        by = next(one for one in asked if one.name == session.host)
        key = f"{address}:{by.port}"
        silent = NodeFacts(session.host, 1.0, Reach.NONE, address)
        return replace(said[key], host=session.host, address=address) if key in said else silent

    monkeypatch.setattr(searching, "probe", probed)
    inventory = Inventory(hosts=hosts, clusters=(ClusterEntry("shop", (hosts[0].name,), networks=networks),))
    found = crawl(hosts[:1], opened, SystemClock(), trust=trust_of(inventory), limit_s=5.0)
    return found, asked


def member(address: str, port: int, *others: str) -> NodeFacts:
    """A member at an address, whose set has these others."""
    rows = (m.row(1, "PRIMARY", place=m.place(f"{address}:{port}")),)
    rows += tuple(m.row(n, place=m.place(other)) for n, other in enumerate(others, 2))
    facts = m.member(1, m.view(1, rows))
    assert facts.mongo is not None
    server = replace(facts.mongo.server, host=f"{address}:{port}", port=port)
    assert facts.server is not None
    return replace(
        facts, mongo=replace(facts.mongo, server=server), server=replace(facts.server, hostname=address, port=port)
    )


def test_that_members_of_one_host_are_asked_each_at_its_port_and_the_machine_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = ("10.0.0.1:27019", "10.0.0.1:27020")
    said = {f"10.0.0.1:{port}": member("10.0.0.1", port, *others) for port in (27018, 27019, 27020)}
    seed = replace(entry("box", "10.0.0.1"), ssh=SshAccess("dba"))
    found, asked = search(monkeypatch, said, (seed,), "10.0.0.0/24")
    assert {one.name: (one.port, one.on) for one in asked} == {
        "box": (27018, ""),
        "10.0.0.1:27019": (27019, "box"),
        "10.0.0.1:27020": (27020, "box"),
    }
    assert all(one.sql is not None and one.sql.operator_user is None for one in asked if one.name != "box")
    assert found.unasked == ()


def test_that_nobody_is_asked_who_no_person_named_and_each_port_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"10.0.0.1:27018": member("10.0.0.1", 27018, "10.0.0.2:27018", "10.9.9.9:27018", "10.9.9.9:4444")}
    found, asked = search(monkeypatch, said, (entry("a", "10.0.0.1"),), "10.0.0.2")
    assert [one.address for one in asked] == ["10.0.0.1", "10.0.0.2"]
    assert [one.place for one in found.unasked] == ["10.9.9.9:27018", "10.9.9.9:4444"]


def test_that_a_written_host_is_asked_by_its_own_account_at_the_ports_that_are_written_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A person wrote b down with 27018: a server that names its port 4444 does not get an account there."""
    written = (
        entry("a", "10.0.0.1"),
        replace(
            entry("b", "10.0.0.2"),
            sql=MongoAccess("own", port=27018),
            beside=(Instance("b", "mongodb", 27019, MongoAccess("third", port=27019)),),
        ),
    )
    names = ("10.0.0.2:27018", "10.0.0.2:27019", "10.0.0.2:4444")
    found, asked = search(monkeypatch, {"10.0.0.1:27018": member("10.0.0.1", 27018, *names)}, written)
    users = {one.name: one.sql.user for one in asked if one.sql is not None}
    assert users == {"a": "watch", "b": "own", "b:27019": "third"}
    assert [one.place for one in found.unasked] == ["10.0.0.2:4444"]


def test_that_loopback_and_what_is_no_address_are_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = ("localhost:27018", "127.0.0.1:27017", "$(reboot):27018", "-oProxy=x:1", "[::1]:5")
    rows = tuple(replace(m.row(n), place=replace(m.place("x:1"), name=text, host="")) for n, text in enumerate(odd, 2))
    first = member("10.0.0.1", 27018)
    assert first.mongo is not None
    assert first.mongo.set is not None
    view = replace(first.mongo.set, members=(*first.mongo.set.members, *rows))
    said = {"10.0.0.1:27018": replace(first, mongo=replace(first.mongo, set=view))}
    found, asked = search(monkeypatch, said, (entry("a", "10.0.0.1"),), "10.0.0.0/8")
    assert [one.name for one in asked] == ["a"]
    assert found.unasked == ()


def test_that_a_mongos_that_names_thousands_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    shards = tuple(
        Shard(f"s{n}", m.hosts(f"s{n}/" + ",".join(f"10.{n % 200}.{i}.9:{1000 + i}" for i in range(50))))
        for n in range(100)
    )
    routers = tuple(Router(m.place(f"r{n}:27017")) for n in range(500))
    router = m.router(1, ShardedCluster("c", m.hosts("csrs/10.1.1.1:1"), shards, routers))
    assert router.mongo is not None
    found, asked = search(monkeypatch, {"10.0.0.1:27017": router}, (entry("r", "10.0.0.1", 27017),))
    assert len(asked) == 1
    assert len(found.unasked) <= MOST_UNASKED
    assert "too-many-hosts" in [problem.code for problem in found.problems]


def test_that_the_port_of_a_server_that_stands_alone_on_its_host_changes_nothing_for_sql() -> None:
    assert cast("Any", HostEntry("a", "10.0.0.1")).port is None
