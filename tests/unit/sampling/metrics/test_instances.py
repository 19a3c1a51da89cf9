"""Two servers on one host, both recorded: each is watched by its own account, the machine once, as the host's."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.proxysql.kind import PROXYSQL
from services.discovery.looks.crawl import crawl
from services.discovery.shared_hosts import of_entry, only_named
from services.discovery.snapshot import updated_estate
from services.errors import BadInput
from services.facts.model import MachineFacts, NodeFacts
from services.history.store import HistoryStore
from services.inventory.model import HostEntry, Instance, Inventory, SqlAccess, SshAccess, with_instances
from services.inventory.trust import Trust
from services.procedures.catalogue import all_procedures
from services.procedures.journal.finding import hosts_meant, refuse_shared_hosts
from services.procedures.service.offers import situations, why_none_fits
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.sampling.watcher import Watcher
from services.secrets import MemoryVault
from services.series import Sample
from services.types import Health, Reach
from tests.unit.recorded.replies import ReplaySession, load

FIRST: dict[str, Any] = load("situations/galera-healthy.json")["hosts"]["n1"]
SECOND: dict[str, Any] = load("situations/mysql-replica.json")["hosts"]
BESIDE = next(iter(SECOND.values()))
HOST = HostEntry(
    "n1",
    FIRST["address"],
    ssh=SshAccess("dba"),
    sql=SqlAccess("observer"),
    beside=(Instance("n1", "mysql", 3307, SqlAccess("other", port=3307)), Instance("n1", "proxysql", 6032)),
)

INVENTORY = Inventory(hosts=(HOST,))


def _open(entry: HostEntry) -> ReplaySession:
    return ReplaySession(entry.name, {**(BESIDE if entry.on else FIRST), "ssh": False})


def test_that_both_servers_of_a_host_are_found_and_the_machine_belongs_to_the_first() -> None:
    found = crawl(with_instances((HOST,)), _open, SystemClock(), trust=Trust(), limit_s=5.0)
    assert set(found.facts) == {"n1", "n1:3307"}  # in the order in which they answered
    assert (found.facts["n1"].on, found.facts["n1:3307"].on) == ("", "n1")
    estate = updated_estate(None, found.facts, time.time())
    kinds = {node.name: cluster.cluster_id for cluster in estate.clusters for node in cluster.nodes}
    assert kinds["n1"] != kinds["n1:3307"]


def test_that_an_instance_that_is_only_named_is_drawn_as_not_read_and_counts_as_no_silent_host() -> None:
    named = only_named((HOST,), 1.0)
    estate = updated_estate(None, named, 1.0, dict.fromkeys(named, "n1:6032"))
    (cluster,) = estate.clusters
    assert (cluster.kind, cluster.name, cluster.agreement) == (PROXYSQL, "n1:6032", "Listed in the inventory")
    (node,) = cluster.nodes
    assert (node.state, node.health, node.address) == ("not read yet", Health.UNKNOWN, "10.213.1.11:6032")
    assert (estate.hosts_total, estate.hosts_answering, cluster.problems) == (0, 0, ())
    assert snapshot_from_json(snapshot_to_json(estate)) == estate


def test_that_a_session_of_another_server_does_not_read_the_host_itself() -> None:
    first, second = (HostSession(one, MemoryVault(), clock=SystemClock()) for one in with_instances((HOST,)))
    assert (first.has_ssh, first.has_sql) == (True, True)
    assert (second.has_ssh, second.has_sql) == (False, True)


def test_that_a_host_is_watched_and_left_with_all_its_servers(tmp_path: Path) -> None:
    watcher = Watcher("lab", with_instances((HOST,)), _open, HistoryStore.open(tmp_path / "h.sqlite"), SystemClock())
    watcher.start()
    try:
        end = time.monotonic() + 10
        while not {"n1", "n1:3307"} <= {name for name, facts in watcher.hub.facts().items() if facts.sql_at}:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert "n1:6032" in watcher.hub.facts()
        facts = watcher.hub.facts()["n1:3307"]
        assert (facts.on, facts.reach) == ("n1", Reach.SQL_ONLY)
        watcher.remove("n1")
        assert not watcher.watches_any
        assert watcher.hub.facts() == {}
    finally:
        watcher.stop()


def test_that_the_machines_values_of_another_server_are_its_hosts(tmp_path: Path) -> None:
    store = HistoryStore.open(tmp_path / "h.sqlite")
    start = 1_700_000_000.0
    for second in range(20):
        host = {"os.cpu.user": 100.0 * second, "uptime": 10.0 + second, "os.loadavg_1": 3.0}
        store.append(Sample("n1", start + second, 100.0 + second, {**host, "threads_running": 1.0}, "1"))
        own = {"uptime": 5.0 + second, "threads_running": 7.0}
        store.append(Sample("n1:3307", start + second, 100.0 + second, own, "1"))
    store.flush()
    reader = SeriesReader(store, load_catalogue())
    assert set(reader.series("n1:3307", "load.threads_running", start, start + 19, 100).value) == {7.0}
    assert set(reader.series("n1:3307", "os.loadavg_1", start, start + 19, 100).value) == {3.0}
    assert set(reader.tail("n1:3307", "os.loadavg_1", start).value) == {3.0}
    store.close()


def test_that_of_two_servers_no_process_is_called_the_first_ones(tmp_path: Path) -> None:
    seen = NodeFacts("n1", 1.0, machine=MachineFacts(process_state="S", process_pid=7))
    told = of_entry(seen, HOST)
    assert told.machine is not None
    assert (told.machine.process_state, told.machine.process_pid, told.beside) == ("?", None, ("n1:3307",))
    none = of_entry(replace(seen, machine=MachineFacts(process_state="")), HOST)
    assert none.machine is not None
    assert none.machine.process_state == ""  # no server runs at all
    alone = replace(HOST, beside=())
    assert of_entry(seen, alone) == replace(seen, asked_port=alone.asked_port)


def test_that_no_procedure_is_offered_or_planned_where_a_step_might_mean_the_other_server() -> None:
    found = crawl(with_instances((HOST,)), _open, SystemClock(), trust=Trust(), limit_s=5.0)
    estate = updated_estate(None, found.facts, time.time())
    words = "n1 has more than one server; procedures support one server per host."
    for shared in estate.clusters:
        assert why_none_fits(shared, all_procedures()[0].about) == (
            "" if not any(n.host for n in shared.nodes) else words
        )
        assert all(situations(shared, node) == frozenset() for node in shared.nodes)
    with pytest.raises(BadInput) as refused:
        refuse_shared_hosts(INVENTORY, hosts_meant("", INVENTORY, estate.clusters))
    assert refused.value.sentence == words
    refuse_shared_hosts(INVENTORY, hosts_meant("another", INVENTORY, estate.clusters))
