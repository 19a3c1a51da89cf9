"""A host of ssh_config is written by its alias and known to its cluster by its address: one card, offered once."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.connections.ssh import connection as ssh
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.known_as import addresses_among
from services.discovery.looks import crawl as searching
from services.discovery.looks.crawl import CrawlResult, crawl
from services.discovery.snapshot import updated_estate
from services.errors import TimedOut
from services.facts.model import NodeFacts, Problem
from services.inventory.model import ClusterEntry, HostEntry, Inventory, SqlAccess, SshAccess
from services.inventory.trust import trust_of
from services.sampling.facts_of_host import HostState
from services.secrets import MemoryVault
from services.types import Reach
from tests.unit.discovery import scenes as s
from tests.unit.recorded.replies import ReplaySession, load

GALERA = load("situations/galera-healthy.json")["hosts"]
SILENT = (Problem("sql", "No answer.", "timed-out"),)


def alias(name: str, *reached: str, **more: Any) -> NodeFacts:
    """Return a host that never answered, and where SSH leads to it."""
    return replace(NodeFacts(name, s.AT, Reach.NONE, name, problems=SILENT), reached=reached, **more)


def known(*hosts: NodeFacts) -> dict[str, set[str]]:
    found = addresses_among({one.host: one for one in hosts})
    return {host: set(addresses) - {host} for host, addresses in found.items()}


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("10.20.0.13", "10.20.0.13"),
        ("DB3.Prod.Example.", "db3.prod.example"),
        ("FD00:0:0::3", "fd00::3"),
        ("::ffff:10.20.0.13", "10.20.0.13"),
    ],
)
def test_that_an_address_counts_in_the_form_in_which_others_say_it(told: str, address: str) -> None:
    assert known(alias("third", told)) == {"third": {address}}


@pytest.mark.parametrize("told", ["127.0.0.1", "127.0.1.1", "localhost", "::1", "0.0.0.0", "10.1", "0x7f.1", "a b"])
def test_that_this_machine_and_what_is_no_address_lead_to_no_member(told: str) -> None:
    assert known(alias("third", told)) == {"third": set()}


def test_that_an_address_that_leads_to_several_hosts_says_of_none_which_it_is() -> None:
    forwarded = (alias("one", "203.0.113.5"), alias("two", "203.0.113.5"), alias("three", "203.0.113.6"))
    assert known(*forwarded) == {"one": set(), "two": set(), "three": {"203.0.113.6"}}


def test_that_an_address_that_another_host_is_written_by_stays_that_host_s() -> None:
    written = NodeFacts("gate", s.AT, Reach.NONE, "203.0.113.5")
    assert known(alias("one", "203.0.113.5"), written) == {"one": set(), "gate": {"203.0.113.5"}}


def test_that_two_servers_of_one_machine_share_where_ssh_leads() -> None:
    beside = alias("one:3307", "10.20.0.11", on="one")
    assert known(alias("one", "10.20.0.11"), beside) == {"one": {"10.20.0.11"}, "one:3307": {"one", "10.20.0.11"}}
    same = [alias(name, "10.20.0.11", machine=s.machine(1)) for name in ("one", "again")]
    assert all("10.20.0.11" in addresses for addresses in known(*same).values())
    other = alias("again", "10.20.0.11", machine=s.machine(2))
    assert all("10.20.0.11" not in addresses for addresses in known(same[0], other).values())


def test_that_a_member_that_is_down_is_drawn_once_under_the_alias_it_is_written_by() -> None:
    others = [s.member(1), s.member(2)]
    drawn = s.only(s.estate(*others, alias("third", "10.20.0.13"), names={"third": "third"}))
    assert sorted(node.name for node in drawn.nodes) == ["db1", "db2", "third"]
    beside = s.estate(*others, alias("third"), names={"third": "third"})
    assert sorted(node.name for c in beside.clusters for node in c.nodes) == ["db1", "db2", "db3", "third"]


def test_that_a_source_that_is_written_by_its_alias_is_no_stranger_to_its_replica() -> None:
    source = replace(s.plain(1, host="first"), address="first", reached=("10.20.0.11",))
    source = replace(source, server=s.server(1, hostname="srv-17"), machine=s.machine(1, hostname="srv-17"))
    drawn = s.only(s.estate(source, s.plain(2, s.channel(1))))
    assert sorted(node.node_id for node in drawn.nodes) == ["db2", "first"]
    assert [edge.source_id for edge in drawn.replication] == ["first"]


def test_that_where_ssh_leads_is_kept_with_a_picture() -> None:
    drawn = s.estate(alias("third", "db3.example", "10.20.0.13"))
    again = snapshot_from_json(snapshot_to_json(drawn))
    assert again == drawn


class Estate:
    """The recorded hosts by address; aliases lead to one, and who is silent says nothing."""

    def __init__(self, leads: dict[str, str], *silent: str) -> None:
        self.by_address = {host["address"]: host for host in GALERA.values()}
        self._leads, self._silent = leads, silent
        self.asked: list[str] = []

    def open(self, entry: HostEntry) -> ReplaySession:
        self.asked.append(entry.address)
        address = self._leads.get(entry.address, entry.address)
        told = {"ssh": False} if address in self._silent else self.by_address[address]
        return ReplaySession(entry.name, {**told, "reached": (address,)})


def host(name: str, address: str = "") -> HostEntry:
    return HostEntry(name, address or name, ssh=SshAccess("dba"), sql=SqlAccess("observer"))


def found(estate: Estate, *hosts: HostEntry, networks: tuple[str, ...] = (), **more: Any) -> CrawlResult:
    cluster = ClusterEntry("shop", (hosts[0].name,), networks=networks)
    inventory = Inventory(hosts=hosts, clusters=(cluster,))
    return crawl(hosts, estate.open, SystemClock(), trust=trust_of(inventory), **more)


@pytest.mark.parametrize("silent", [(), ("10.213.1.13",)])
def test_that_a_member_that_is_written_by_its_alias_is_not_offered_again(silent: tuple[str, ...]) -> None:
    estate = Estate({"third": "10.213.1.13"}, *silent)
    result = found(estate, host("n1", "10.213.1.11"), host("n2", "10.213.1.12"), host("third"))
    assert result.unasked == ()
    drawn = updated_estate(None, result.facts, SystemClock().wall(), {"third": "third"}, unasked=result.unasked)
    assert sorted(node.host for node in s.only(drawn).nodes) == ["n1", "n2", "third"]


def test_that_a_member_behind_an_address_of_two_hosts_is_offered_as_before() -> None:
    estate = Estate({"third": "10.213.1.13", "fourth": "10.213.1.13"}, "10.213.1.13")
    result = found(estate, host("n1", "10.213.1.11"), host("n2", "10.213.1.12"), host("third"), host("fourth"))
    assert [one.address for one in result.unasked] == ["10.213.1.13"]


def test_that_a_silent_member_of_a_declared_network_is_not_kept_beside_its_alias() -> None:
    estate = Estate({"third": "10.213.1.13"}, "10.213.1.13")
    hosts = (host("n1", "10.213.1.11"), host("third"))
    result = found(estate, *hosts, networks=("10.213.1.0/24",))
    assert sorted(result.facts) == ["n1", "n2", "third"]
    assert result.unasked == ()
    again = Estate({"third": "10.213.1.13"}, "10.213.1.13")
    result = found(again, *hosts, networks=("10.213.1.0/24",), known=result.facts)
    assert again.asked == ["10.213.1.12"]  # once it is known where SSH leads, nobody knocks there a second time
    assert sorted(result.facts) == ["n1", "n2", "third"]


def test_that_a_host_that_does_not_answer_in_time_is_known_by_where_ssh_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    def probed(session: Any, *_: Any, **__: Any) -> NodeFacts:
        time.sleep(0.3 if session.host == "third" else 0.0)
        return NodeFacts(session.host, 1.0, Reach.NONE, session.host, reached=session.reached)

    monkeypatch.setattr(searching, "probe", probed)
    result = found(Estate({"third": "10.213.1.13"}, "10.213.1.13"), host("third"), limit_s=0.05)
    assert [problem.code for problem in result.problems] == ["timed-out"]
    assert result.facts["third"].reached == ("10.213.1.13",)


def test_that_a_watched_host_tells_where_ssh_leads_as_soon_as_it_is_known() -> None:
    leads: list[str] = []
    state = HostState(host("third"), SystemClock(), None, "", lambda: tuple(leads))
    assert state.facts().reached == ()
    leads.append("10.213.1.13")
    assert state.ssh_failed(TimedOut("No answer.")).reached == ("10.213.1.13",)


@pytest.mark.parametrize("way", ["", "ProxyJump gate", "ProxyCommand nc %h %p"])
def test_that_a_session_tells_the_host_name_of_ssh_config_whatever_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Mock: nobody is dialled; what ssh_config says is known before."""

    def dialled(*_: object, **__: object) -> None:
        raise TimedOut("No answer.")

    monkeypatch.setattr(ssh._Opener, "open", dialled)
    config = tmp_path / "config"
    config.write_text(f"Host third\n  HostName 10.20.0.13\n  Port 2222\n  {way}\n", encoding="utf-8")
    entry = HostEntry("third", "third", ssh=SshAccess("dba", config=str(config)))
    with HostSession(entry, MemoryVault(), clock=SystemClock()) as session:
        assert session.reached == ()
        with pytest.raises(TimedOut):
            session._links.ssh()
        assert session.reached == ("10.20.0.13",)
