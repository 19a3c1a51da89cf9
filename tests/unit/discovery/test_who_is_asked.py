"""A server names others: a secret goes only where a person said that it may, and everybody else is drawn, not asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.clock import SystemClock
from services.connections.ssh.config import target_for
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.judgement.states import UNASKED
from services.discovery.looks.crawl import MOST_UNASKED, CrawlResult, crawl
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.inventory.model import ClusterEntry, HostEntry, Instance, Inventory, SqlAccess, SshAccess
from services.inventory.trust import Trust, is_covered, is_place, trust_of
from services.procedures.journal.finding import nothing_found
from services.secrets import SecretRef
from services.types import Health
from tests.unit.recorded.replies import ReplaySession, load

GALERA = load("situations/galera-healthy.json")["hosts"]
ASYNC = load("situations/async-healthy.json")["hosts"]
OPERATED = SqlAccess("observer", operator_user="pilot", operator_password=SecretRef("env", "PILOT"))


def _entry(name: str, address: str) -> HostEntry:
    return HostEntry(name, address, ssh=SshAccess("dba"), sql=OPERATED)


class Estate:
    """The recorded hosts by address; keeps who was asked, and with what."""

    def __init__(self, hosts: dict[str, Any]) -> None:
        self.by_address = {host["address"]: host for host in hosts.values()}
        self.asked: list[HostEntry] = []

    def open(self, entry: HostEntry) -> ReplaySession:
        self.asked.append(entry)
        return ReplaySession(entry.name, self.by_address.get(entry.address, {"ssh": False}))

    @property
    def addresses(self) -> list[str]:
        return sorted(entry.address for entry in self.asked)


def _found(estate: Estate, inventory: Inventory, *seeds: str) -> CrawlResult:
    chosen = [host for host in inventory.hosts if host.name in seeds] if seeds else inventory.hosts
    return crawl(chosen, estate.open, SystemClock(), trust=trust_of(inventory))


def _drawn(found: CrawlResult) -> EstateSnapshot:
    return updated_estate(None, found.facts, SystemClock().wall(), unasked=found.unasked)


def test_that_members_that_nobody_wrote_down_get_no_account_and_are_drawn() -> None:
    estate = Estate(GALERA)
    found = _found(estate, Inventory(hosts=(_entry("n1", "10.213.1.11"),)))
    assert estate.addresses == ["10.213.1.11"]
    assert [(one.name, one.address, one.by, one.ways_of, one.sure) for one in found.unasked] == [
        ("n2", "10.213.1.12", ("n1",), "n1", True),
        ("n3", "10.213.1.13", ("n1",), "n1", True),
    ]
    (cluster,) = _drawn(found).clusters
    assert {node.name: node.state for node in cluster.nodes}["n2"] == UNASKED.word
    unasked = [node for node in cluster.nodes if node.code == UNASKED.code]
    assert {node.name for node in unasked} == {"n2", "n3"}
    assert {node.health for node in unasked} == {Health.UNKNOWN}
    assert cluster.health is Health.UNKNOWN
    assert {node.reason for node in unasked} == {"named by n1; no login is sent there without your consent"}


def test_that_a_source_and_its_other_replicas_are_drawn_and_not_asked() -> None:
    estate = Estate(ASYNC)
    found = _found(estate, Inventory(hosts=(_entry("src", "10.213.2.21"),)))
    assert estate.addresses == ["10.213.2.21"]
    (cluster,) = _drawn(found).clusters
    assert sorted(node.address for node in cluster.nodes if node.code == UNASKED.code) == ["10.213.2.22", "10.213.2.23"]
    from_replica = _found(estate, Inventory(hosts=(_entry("r1", "10.213.2.22"),)))
    (cluster,) = _drawn(from_replica).clusters
    assert [node.state for node in cluster.nodes if not node.host] == [UNASKED.word]


def test_that_a_declared_network_lets_members_be_asked_without_the_account_for_changes() -> None:
    estate = Estate(GALERA)
    cluster = ClusterEntry("shop", ("n1",), networks=("10.213.1.0/24",))
    found = _found(estate, Inventory(hosts=(_entry("n1", "10.213.1.11"),), clusters=(cluster,)))
    assert estate.addresses == ["10.213.1.11", "10.213.1.12", "10.213.1.13"]
    assert found.unasked == ()
    given = {entry.name: entry for entry in estate.asked}
    assert given["n1"].sql == OPERATED
    assert given["n2"].sql == SqlAccess("observer")
    assert (given["n2"].ways_of, given["n3"].ways_of) == ("n1", "n1")


def test_that_networks_speak_for_the_members_that_their_own_seeds_name() -> None:
    estate = Estate(GALERA)
    other = ClusterEntry("archive", ("n9",), networks=("10.213.1.0/24",))
    hosts = (_entry("n1", "10.213.1.11"), _entry("n9", "10.213.9.9"))
    found = _found(estate, Inventory(hosts=hosts, clusters=(other,)), "n1")
    assert estate.addresses == ["10.213.1.11"]
    assert len(found.unasked) == 2


def test_that_a_host_that_is_written_down_is_asked_as_it_was_written() -> None:
    estate = Estate(GALERA)
    own = HostEntry("second", "10.213.1.12", sql=SqlAccess("other"))
    found = _found(estate, Inventory(hosts=(_entry("n1", "10.213.1.11"), own)), "n1")
    assert estate.addresses == ["10.213.1.11", "10.213.1.12"]
    assert own in estate.asked
    (left,) = found.unasked
    assert (left.address, left.by) == ("10.213.1.13", ("n1", "second"))


def test_that_one_run_may_ask_more() -> None:
    estate = Estate(GALERA)
    found = _found(estate, Inventory(hosts=(_entry("n1", "10.213.1.11"),), also=("10.213.1.13",)))
    assert estate.addresses == ["10.213.1.11", "10.213.1.13"]
    assert [one.address for one in found.unasked] == ["10.213.1.12"]


def test_that_another_address_of_a_host_that_answers_is_not_drawn_as_one_more() -> None:
    hosts = {name: {**host, "address": f"db{name[1]}.example.com"} for name, host in GALERA.items()}
    estate = Estate(hosts)
    inventory = Inventory(hosts=tuple(_entry(name, host["address"]) for name, host in hosts.items()))
    found = _found(estate, inventory)
    assert found.unasked == ()
    assert len(estate.asked) == 3


def test_that_unasked_hosts_stand_in_recordings_and_keep_their_since() -> None:
    found = _found(Estate(GALERA), Inventory(hosts=(_entry("n1", "10.213.1.11"),)))
    first = _drawn(found)
    assert snapshot_from_json(snapshot_to_json(first)) == first
    later = updated_estate(first, found.facts, first.at + 7, unasked=found.unasked)
    sinces = {node.state_since for c in later.clusters for node in c.nodes if node.code == UNASKED.code}
    assert sinces == {first.at}


def test_that_a_flood_of_names_is_bounded() -> None:
    flood = ",".join(f"10.7.{n // 250}.{n % 250}:0" for n in range(3000))
    status = {**GALERA["n1"]["status"], "wsrep_incoming_addresses": flood}
    found = _found(Estate({"n1": {**GALERA["n1"], "status": status}}), Inventory(hosts=(_entry("n1", "10.213.1.11"),)))
    assert len(found.unasked) == MOST_UNASKED
    assert "too-many-hosts" in {problem.code for problem in found.problems}


def test_that_a_cluster_of_billions_takes_no_memory() -> None:
    """Each node that nobody names was one entry of a list: a size of ten digits took 40 GB."""
    said = {**GALERA["n1"], "status": {**GALERA["n1"]["status"], "wsrep_cluster_size": "5000000000"}}
    drawn = _drawn(_found(Estate({"n1": said}), Inventory(hosts=(_entry("n1", "10.213.1.11"),))))
    assert [cluster.size for cluster in drawn.clusters] == [None]


@pytest.mark.parametrize(
    ("address", "places", "covered"),
    [
        ("10.0.3.7", ("10.0.3.0/24",), True),
        ("10.0.4.7", ("10.0.3.0/24",), False),
        ("10.0.3.7", ("10.0.3.7",), True),
        ("::ffff:10.0.3.7", ("10.0.3.0/24",), True),
        ("fd00::7", ("fd00::/64",), True),
        ("fd00::7%eth0", ("fd00::/64",), True),
        ("fd01::7", ("fd00::/64", "10.0.0.0/8"), False),
        ("db4.example.com", ("DB4.example.com",), True),
        ("db4.example.com", ("example.com", "10.0.0.0/8"), False),
        ("db4.example.com.", ("db4.example.com",), True),
        ("10.0.3.7", ("db4",), False),
    ],
)
def test_that_an_address_is_covered_by_its_network_and_a_name_by_itself(
    address: str, places: tuple[str, ...], covered: bool
) -> None:
    assert is_covered(address, places) is covered


@pytest.mark.parametrize(
    ("text", "good"),
    [("10.0.3.0/24", True), ("10.0.0.0/8", True), ("0.0.0.0/0", False), ("0.0.0.0/1", False), ("::/0", False),
     ("fd00::/32", True), ("fd00::/16", False), ("db4", True), ("*", False), ("10.0.3.0/99", False), ("x y", False)],
)  # fmt: skip
def test_that_anybody_is_no_network(text: str, good: bool) -> None:
    assert is_place(text) is good


def test_that_a_host_taken_out_is_no_longer_written() -> None:
    host = _entry("n2", "10.0.0.2")
    seed = _entry("n1", "10.0.0.1")
    trust = Trust().with_host(seed).with_host(host)
    assert trust.entry(seed, "x", "10.0.0.2") == host
    assert trust.without_host("n2").entry(seed, "x", "10.0.0.2") is None


def test_that_a_found_host_of_a_found_host_has_the_ways_of_the_written_one() -> None:
    second = _entry("n1", "10.0.0.1").for_member("n2", "10.0.0.2").for_member("n3", "10.0.0.3")
    assert (second.ways_of, second.sql) == ("n1", SqlAccess("observer"))
    trust = Trust(places={"n1": ("10.0.0.0/24",)})
    assert trust.entry(second, "n4", "10.0.0.4") is not None


def test_that_an_instance_s_account_stays_out_of_the_networks_of_its_host_s_cluster() -> None:
    """Each hop is one more server that names the next: whose account goes there is carried through all of them."""
    account = SqlAccess("inst", port=3307)
    host = replace(_entry("n1", "10.0.0.1"), beside=(Instance("n1", "mysql", 3307, account),))
    trust = trust_of(Inventory(hosts=(host,), clusters=(ClusterEntry("c", ("n1",), networks=("10.0.0.3",)),)))
    instance = host.of_instance(host.beside[0])
    assert trust.entry(instance, "m3", "10.0.0.3") is None
    second = replace(trust, also=("10.0.0.2",)).entry(instance, "m2", "10.0.0.2")
    assert second is not None
    assert (second.ways_of, second.sql) == ("n1:3307", account)
    assert trust.entry(second, "m3", "10.0.0.3") is None
    assert trust.entry(host.for_member("m2", "10.0.0.2"), "m3", "10.0.0.3") is not None


def test_that_a_member_found_by_an_instance_is_remembered_with_the_instance_s_account() -> None:
    account = SqlAccess("inst", port=3307)
    host = replace(_entry("n1", "10.0.0.1"), beside=(Instance("n1", "mysql", 3307, account),))
    inventory = Inventory(hosts=(host,), also=("10.0.0.0/24",))
    found = nothing_found(inventory).entry("m2", {"m2": ("10.0.0.2", "n1:3307")})
    assert found is not None
    assert found.sql == account


def test_that_a_person_s_accept_new_is_not_for_found_hosts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mock: the login is not made; what is asked of the host key is taken where the connection would begin."""
    from services.connections.ssh import connection as ssh

    config = tmp_path / "config"
    config.write_text("Host *\n  StrictHostKeyChecking accept-new\n", encoding="utf-8")
    seen: list[str] = []

    class Opener:
        def __init__(self, *_: object) -> None:
            pass

        def open(self, target: Any, *, depth: int) -> None:
            del depth
            seen.append(target.strict)

    monkeypatch.setattr(ssh, "_Opener", Opener)
    written = HostEntry("n1", "10.0.0.1", ssh=SshAccess("dba", config=str(config)))
    assert target_for(written.ssh or SshAccess(""), "10.0.0.1").strict == "accept-new"
    for entry in (
        written,
        written.for_member("n2", "10.0.0.2"),
        replace(written.for_member("n2", "10.0.0.2"), ways_of=""),
    ):
        ssh.SshLink.open(entry, None, policy=None, limits=None)  # type: ignore[arg-type]
    assert seen == ["accept-new", "ask", "accept-new"]
