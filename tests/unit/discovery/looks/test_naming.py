"""What a host is called: its name in the inventory, else its own, else its address; no two the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock, SystemClock
from services.discovery.looks.crawl import CrawlResult
from services.discovery.looks.probe import probe
from services.discovery.model import Unasked
from services.discovery.naming import name_of, names_of, names_of_clusters, shown_names
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.inventory.model import HostEntry, Inventory, SqlAccess
from services.inventory.trust import Trust
from services.procedures.journal import finding
from services.secrets import MemoryVault
from services.types import Reach
from tests.unit.discovery import scenes as s
from tests.unit.recorded.replies import ReplaySession, load


def found(number: int, key: str, hostname: str) -> NodeFacts:
    """Facts of a server that goes by `key` and calls itself `hostname`."""
    one = s.facts(number, host=key, view=s.galera(number))
    assert one.machine is not None
    return replace(one, server=s.server(number, hostname=hostname), machine=replace(one.machine, hostname=hostname))


ALL = {
    "n1": found(1, "n1", "srv-a"),
    s.address(2): found(2, s.address(2), "srv-b"),
    s.address(3): found(3, s.address(3), "srv-c"),
}


@pytest.mark.parametrize(
    ("key", "hostname", "written", "name"),
    [
        ("n1", "srv-a", True, "n1"),
        ("10.0.0.2", "srv-b", True, "10.0.0.2"),  # somebody wrote that down as its name
        ("10.0.0.2", "srv-b", False, "srv-b"),
        ("fd00::2", "srv-b", False, "srv-b"),
        ("10.0.0.2", "localhost.localdomain", False, "10.0.0.2"),
        ("10.0.0.2", "", False, "10.0.0.2"),
        ("db2", "srv-b", False, "db2"),  # its group calls it so
    ],
)
def test_that_the_inventory_goes_before_the_hosts_own_name_and_that_before_the_address(
    key: str, hostname: str, written: bool, name: str
) -> None:
    assert name_of(key, found(2, key, hostname), written=written) == name
    assert name_of(key, None) == key


def test_that_a_machine_without_sql_is_called_as_it_calls_itself() -> None:
    assert name_of("10.0.0.2", replace(found(2, "10.0.0.2", "srv-b"), server=None)) == "srv-b"


def test_that_two_of_one_name_are_told_apart() -> None:
    twins = {"10.0.0.2": found(2, "10.0.0.2", "debian"), "10.0.0.3": found(3, "10.0.0.3", "Debian")}
    assert names_of(twins) == {"10.0.0.2": "debian (10.0.0.2)", "10.0.0.3": "Debian (10.0.0.3)"}
    written = {"debian": found(1, "debian", "x"), "10.0.0.2": found(2, "10.0.0.2", "debian")}
    assert names_of(written, {"debian"}) == {"debian": "debian", "10.0.0.2": "debian (10.0.0.2)"}


@pytest.mark.parametrize("own", ["N1:6032", "n1\u22366032", "n\uff11"])
def test_that_nobody_is_shown_by_a_name_that_looks_like_one_of_the_inventory(own: str) -> None:
    silent = {"10.0.0.2": found(2, "10.0.0.2", own)}
    assert names_of(silent, {"n1", "n1:6032"}) == {"10.0.0.2": f"{own} (10.0.0.2)"}


def test_that_nobody_takes_the_name_of_a_host_of_the_inventory_by_calling_himself_so() -> None:
    silent = {"10.0.0.2": found(2, "10.0.0.2", "n1")}
    assert names_of(silent, {"n1"}) == {"10.0.0.2": "n1 (10.0.0.2)"}


def test_that_a_run_goes_on_at_the_address_it_began_with_whoever_calls_himself_so_by_now() -> None:
    n1 = HostEntry("n1", "10.0.0.1", None, SqlAccess("observer"))
    inventory = Inventory(hosts=(n1, n1.for_member("srv-c", "10.0.0.66")))
    begun = {"srv-c": ("10.0.0.3", "n1"), "n1": ("10.0.0.9", "n1")}
    here = finding.Found(inventory, Trust(places={"n1": ("10.0.0.0/24",)}))
    entry = here.entry("srv-c", begun)
    assert entry is not None
    assert entry.address == "10.0.0.3"
    assert here.entry("n1", begun) == n1  # the person's own word
    assert finding.Found(inventory, Trust()).entry("srv-c", begun) is None  # no leave to ask there


def test_that_a_snapshot_names_its_hosts_so_and_who_names_others_too() -> None:
    waiting = Unasked("10.0.0.9", "10.0.0.9", (s.address(3), "n1"), "n1")
    written = {name: name for name in ("n1", s.address(2))}
    estate = updated_estate(None, ALL, s.AT, written, unasked=(waiting,))
    assert shown_names(estate) == {"n1": "n1", s.address(2): s.address(2), s.address(3): "srv-c"}
    assert estate.unasked[0].by == ("srv-c", "n1")
    told = next(node for cluster in estate.clusters for node in cluster.nodes if node.address == "10.0.0.9")
    assert "srv-c" in told.reason


def test_that_procedures_call_a_found_host_as_the_window_does(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = SqlAccess("observer")
    inventory = Inventory(
        hosts=(HostEntry("n1", s.address(1), None, sql), HostEntry(s.address(2), s.address(2), None, sql))
    )
    entries = {h.name: h for h in inventory.hosts}
    entries[s.address(3)] = inventory.hosts[0].for_member(s.address(3), s.address(3))
    silent = NodeFacts("10.0.0.8", s.AT, Reach.NONE, "10.0.0.8")
    entries["10.0.0.8"] = inventory.hosts[0].for_member("10.0.0.8", "10.0.0.8")
    seen = {**ALL, "10.0.0.8": silent}
    monkeypatch.setattr(finding, "crawl", lambda *_given, **_named: CrawlResult(facts=seen, entries=entries))
    here = finding.find_hosts(inventory, SystemClock(), MemoryVault(), None)
    drawn = updated_estate(None, seen, s.AT, {h.name: h.name for h in inventory.hosts})
    assert {h.name for h in here.inventory.hosts} == set(shown_names(drawn).values())
    assert {n.name for c in here.clusters for n in c.nodes} == set(shown_names(drawn).values())
    named = here.inventory.host("srv-c")
    assert named is not None
    assert (named.address, named.ways_of) == (s.address(3), "n1")


@pytest.mark.parametrize(("recorded", "seed"), [("group-single-primary", "g2"), ("async-healthy", "a1")])
def test_that_a_cluster_has_the_inventorys_name_from_the_first_look_on_by_any_seed_in_it(
    recorded: str, seed: str
) -> None:
    """Of the replicas nobody says which cluster they are in: the picture tells."""
    found = load(f"mysql/9.7.4-{recorded}.json")
    clock = ManualClock(found["at"] + 1)
    facts = {h: probe(ReplaySession(h, a), clock, address=a["address"]) for h, a in found["hosts"].items()}
    first = updated_estate(None, facts, clock.wall())
    called = names_of_clusters({seed: "shop", "elsewhere": "stock"}, first, facts)
    assert [c.name for c in updated_estate(None, facts, clock.wall(), called).clusters] == ["shop"]
    assert names_of_clusters({}, first, facts) == {}
