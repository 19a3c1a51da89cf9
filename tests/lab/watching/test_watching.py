"""The live watcher on real hosts: every fault is drawn truthfully within three samples, and heals by itself."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.compose import session_opener
from app.written_estate import cluster_names
from services.clock import SystemClock
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ClusterSnapshot, NodeView
from services.history.store import HistoryStore
from services.inventory.toml_file import load_inventory
from services.inventory.trust import trust_of
from services.sampling.settings import WatchSettings
from services.sampling.watcher import Watcher
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers.load import Load
from tests.lab.estate.waiting import on_this_machine, while_asserts

SAMPLES_S = 3.0
"""Three samples of one second."""
SLACK_S = 0.8
"""The poll under way when the fault comes, and the hub's settling."""


@pytest.fixture
def watcher(galera: Estate, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that knows one seed only, and has found the other members."""
    galera.wait_synced(["n1", "n2", "n3"])
    inventory = load_inventory(galera.client_dir / "inventory.toml")
    watched = Watcher(
        "lab", inventory.hosts, session_opener(), HistoryStore.open(tmp_path / "history.sqlite"), SystemClock(),
        cluster_names=cluster_names(inventory),
    )  # fmt: skip
    watched.let_ask(trust_of(inventory))
    watched.start()
    try:
        while_asserts(lambda: _all_synced(watched), limit_s=on_this_machine(15))
        yield watched
    finally:
        watched.stop()


def _cluster(watcher: Watcher) -> ClusterSnapshot:
    clusters = [c for c in watcher.snapshot().clusters if c.kind == GALERA]
    assert len(clusters) == 1, [c.name for c in watcher.snapshot().clusters]
    return clusters[0]


def _node(watcher: Watcher, name: str) -> NodeView:
    found = [n for n in _cluster(watcher).nodes if n.name == name]
    assert len(found) == 1, [n.name for n in _cluster(watcher).nodes]
    return found[0]


def _all_synced(watcher: Watcher) -> None:
    cluster = _cluster(watcher)
    states = {n.name: n.state for n in cluster.nodes}
    assert states == {"n1": "Synced", "n2": "Synced", "n3": "Synced"}
    assert cluster.observers_agree


def _primary(watcher: Watcher) -> set[str]:
    cluster = _cluster(watcher)
    names = {n.node_id: n.name for n in cluster.nodes}
    return {names[m] for c in cluster.components if c.primary for m in c.members}


def _soon(check: Callable[[], object]) -> float:
    return while_asserts(check, limit_s=on_this_machine(SAMPLES_S + SLACK_S), every_s=0.05)


def test_that_one_seed_shows_the_whole_cluster_by_the_inventorys_name(watcher: Watcher) -> None:
    cluster = _cluster(watcher)
    assert cluster.name == "galera"
    assert _primary(watcher) == {"n1", "n2", "n3"}
    while_asserts(lambda: _expect(sorted(watcher.servers()) == ["n1", "n2", "n3"]), limit_s=on_this_machine(5))


def test_that_a_killed_node_is_drawn_as_not_running_within_three_samples(galera: Estate, watcher: Watcher) -> None:
    galera.kill9("n3")

    def drawn() -> None:
        node = _node(watcher, "n3")
        assert "not running" in node.state, (node.state, node.reason)
        assert node.health is Health.BAD

    _soon(drawn)
    while_asserts(lambda: _expect(_primary(watcher) == {"n1", "n2"}), limit_s=on_this_machine(15))
    galera.start("n3")
    while_asserts(lambda: _all_synced(watcher), limit_s=60)
    states = [e for e in watcher.events() if e.node_id == _node(watcher, "n3").node_id and e.kind == "state"]
    assert len(states) >= 2


def _expect(truth: bool) -> None:
    assert truth


def test_that_a_paused_server_is_told_from_a_dead_one_within_three_samples(galera: Estate, watcher: Watcher) -> None:
    galera.pause("n2")
    try:

        def drawn() -> None:
            node = _node(watcher, "n2")
            assert "SIGSTOP" in node.state, (node.state, node.reason)

        _soon(drawn)
        assert _node(watcher, "n1").state == "Synced"
    finally:
        galera.resume("n2")
    while_asserts(lambda: _all_synced(watcher), limit_s=60)


def test_that_a_partition_is_drawn_as_two_islands_with_who_sees_whom(galera: Estate, watcher: Watcher) -> None:
    galera.partition(["n3"])
    try:

        def said_by_the_server() -> None:
            # Galera itself needs evs.suspect_timeout (5 s) before any node knows; the drawing follows the servers.
            state = dict(galera.sql("n3", "SHOW STATUS LIKE 'wsrep_cluster_status'"))
            assert state["wsrep_cluster_status"] == "non-Primary"

        while_asserts(said_by_the_server, limit_s=30, every_s=0.05)

        def drawn() -> None:
            cluster = _cluster(watcher)
            assert not cluster.observers_agree
            assert _primary(watcher) == {"n1", "n2"}
            assert _node(watcher, "n3").state == "non-Primary"
            assert len(cluster.components) == 2

        _soon(drawn)
        cluster = _cluster(watcher)
        document = snapshot_from_json(snapshot_to_json(watcher.snapshot()))
        assert document.cluster(cluster.cluster_id) is not None
        assert len(cluster.views) == 2
        assert all("n3" in view.sentence or "n1" in view.sentence for view in cluster.views)
    finally:
        galera.heal()
    while_asserts(lambda: _all_synced(watcher), limit_s=60)


def test_that_a_full_data_disk_is_drawn_within_three_samples(galera: Estate, watcher: Watcher) -> None:
    galera.fill("n2")
    try:

        def drawn() -> None:
            node = _node(watcher, "n2")
            assert "disk full" in f"{node.state} {node.reason}", (node.state, node.reason)
            assert node.health is Health.BAD

        # The file system is asked every third second: a sample of it may be two seconds away.
        while_asserts(drawn, limit_s=on_this_machine(SAMPLES_S + SLACK_S + 2.0), every_s=0.05)
    finally:
        galera.unfill("n2")


def test_that_a_host_nobody_reaches_is_unknown_and_its_numbers_grow_old(galera: Estate, watcher: Watcher) -> None:
    galera.cut(["n3"])
    try:

        def drawn() -> None:
            node = _node(watcher, "n3")
            assert node.state not in {"Synced", ""}, node.state
            assert node.facts is not None
            assert node.facts.sql_at is not None
            assert watcher.now() - node.facts.sql_at > 2.0

        while_asserts(drawn, limit_s=on_this_machine(12), every_s=0.1)
        assert _node(watcher, "n1").state == "Synced"
    finally:
        galera.heal()
    while_asserts(lambda: _all_synced(watcher), limit_s=90)


def test_that_ssh_lost_and_regained_leaves_sql_watching(galera: Estate, watcher: Watcher) -> None:
    galera.sshd_stop("n2")
    galera.host("n2").sh("pkill -f '[s]shd: dba' || true")
    time.sleep(4)
    assert _node(watcher, "n2").state == "Synced"
    galera.sshd_start("n2")

    def back() -> None:
        facts = _node(watcher, "n2").facts
        assert facts is not None
        assert facts.ssh_at is not None
        assert watcher.now() - facts.ssh_at < 2.5

    while_asserts(back, limit_s=120)


def test_that_a_setting_changed_under_us_is_told_with_both_values(galera: Estate, tmp_path: Path) -> None:
    galera.wait_synced(["n1", "n2", "n3"])
    inventory = load_inventory(galera.client_dir / "inventory.toml")
    store = HistoryStore.open(tmp_path / "history.sqlite")
    watched = Watcher("lab", inventory.hosts, session_opener(), store, SystemClock(), WatchSettings(variables_s=1.0))
    watched.let_ask(trust_of(inventory))
    watched.start()
    try:
        while_asserts(lambda: _all_synced(watched), limit_s=on_this_machine(15))
        time.sleep(2)
        galera.sql("n1", "SET GLOBAL long_query_time = 7")

        def told() -> None:
            texts = [event.text for event in watched.events() if event.kind == "variable"]
            assert any(text.startswith("n1: long_query_time: 10") and "7" in text for text in texts), texts

        while_asserts(told, limit_s=on_this_machine(6))
    finally:
        watched.stop()
        galera.sql("n1", "SET GLOBAL long_query_time = 10")


@pytest.mark.slow
def test_that_twenty_seconds_of_load_have_no_hole_in_any_nodes_history(galera: Estate, watcher: Watcher) -> None:
    galera.load_start(Load(seconds=30, rate=40, threads=4), ["n1"])
    began = time.time()
    time.sleep(22)
    for server in watcher.servers():
        series = watcher.series(server, "load.questions", began + 1, began + 20, 1000)
        steps = np.diff(series.t)
        assert len(series.t) >= 17, (server, len(series.t))
        assert steps.max() < 2.0, (server, steps.max())
        assert not np.isnan(series.value[2:]).any(), server
        for metric in ("cpu.available", "innodb.checkpoint_age", "galera.recv_queue", "galera.paused"):
            values = watcher.series(server, metric, began + 1, began + 20, 1000).value
            assert np.isnan(values).mean() < 0.15, (server, metric)
    cost = watcher.cost()
    assert cost.missed_polls <= 2
    assert not math.isnan(cost.poll_ms_p95)


def test_that_the_watching_account_cannot_write(galera: Estate) -> None:
    """The least account of the inventory suffices for everything above, and can change nothing."""
    grants = galera.sql("n1", "SHOW GRANTS FOR observer")
    words = " ".join(row[0] for row in grants)
    assert "ALL PRIVILEGES" not in words
    assert not any(word in words for word in ("INSERT", "UPDATE", "DELETE", "SUPER", "DROP", "CREATE"))
    assert os.environ["PILOTHOUSE_LAB_OBSERVER_PASSWORD"] not in words
