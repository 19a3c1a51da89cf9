"""Real sharded clusters, found from one mongos: config servers of either kind, one changed by hand, servers lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from services.discovery.families.mongodb.kind import SHARDED
from services.discovery.families.mongodb.problems import OLD_PROTOCOL
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot
from services.inventory.toml_file import load_inventory
from services.sampling.watcher import Watcher
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import mongodb
from tests.lab.mysql.watching import becomes, watched


@pytest.fixture
def watcher(mongo_sccc: Estate, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that knows one mongos, and has found shard and config servers."""
    with watched(mongo_sccc, tmp_path) as found:
        becomes(lambda: len(_names(found)) >= 7, limit_s=30)
        yield found


def _cluster(watcher: Watcher) -> ClusterSnapshot:
    found = [c for c in watcher.snapshot().clusters if c.kind == SHARDED]
    assert len(found) == 1, [(c.name, c.kind.code) for c in watcher.snapshot().clusters]
    return found[0]


def _names(watcher: Watcher) -> set[str]:
    return {n.name.partition(":")[0] for c in watcher.snapshot().clusters for n in c.nodes if n.host}


def _all_good(watcher: Watcher) -> bool:
    return all(node.health is Health.GOOD for node in _cluster(watcher).nodes if node.host)


def _codes(watcher: Watcher) -> list[str]:
    return [problem.code for problem in _cluster(watcher).problems]


def test_that_one_mongos_leads_to_shard_and_mirrors_and_the_other_mongos_is_only_named(
    mongo_sccc: Estate, watcher: Watcher
) -> None:
    cluster = _cluster(watcher)
    assert cluster.name == mongo_sccc.spec.name
    assert {"d1", "d2", "d3", "c1", "c2", "c3", "r1"} == _names(watcher)
    assert [(c.title, c.primary, c.votes) for c in cluster.components] == [("shard rs0", True, 3)]
    assert {n.role for n in cluster.nodes if n.name.startswith("c")} == {"mirrored"}
    assert _codes(watcher) == [OLD_PROTOCOL]
    assert [one.place for one in watcher.snapshot().unasked] == ["r2:27017"]  # by its host's name, which nobody covers


def test_that_a_mirror_that_was_changed_by_hand_is_told(mongo_sccc: Estate, capsys: pytest.CaptureFixture[str]) -> None:
    """Looked at once, by `check`: the watcher reads these hashes each five minutes only."""
    inventory = str(mongo_sccc.client_dir / "inventory-all.toml")
    assert main(["check", "--inventory", inventory]) == 0
    capsys.readouterr()
    row = {"_id": {"ns": "shop.orders", "min": {"_id": 1}}, "ns": "shop.orders", "tag": "lost"}
    mongodb.ask(mongo_sccc.spec, "c2", {"insert": "tags", "documents": [row]}, database="config")
    try:
        assert main(["check", "--inventory", inventory]) == 1
        assert "differ in config.tags" in capsys.readouterr().out
    finally:
        wanted = [{"q": {"tag": "lost"}, "limit": 0}]
        mongodb.ask(mongo_sccc.spec, "c2", {"delete": "tags", "deletes": wanted}, database="config")
    assert main(["check", "--inventory", inventory]) == 0


def test_that_a_killed_mongos_and_a_killed_mirror_are_told_and_the_shard_is_whole(
    mongo_sccc: Estate, watcher: Watcher
) -> None:
    mongo_sccc.kill9("c3")
    mongo_sccc.kill9("r1")

    def gone() -> bool:
        found = {n.name.partition(":")[0]: n for n in _cluster(watcher).nodes}
        return found["r1"].code == states.NOT_RUNNING.code and found["c3"].health is not Health.GOOD

    becomes(gone, limit_s=15)
    assert [(c.title, c.primary) for c in _cluster(watcher).components] == [("shard rs0", True)]
    mongo_sccc.start("c3")
    mongo_sccc.start("r1")
    becomes(lambda: _all_good(watcher), limit_s=60)


def test_that_a_config_replica_set_is_a_group_of_its_own(mongo_csrs_estate: Estate, tmp_path: Path) -> None:
    with watched(mongo_csrs_estate, tmp_path) as watcher:
        becomes(lambda: len(_names(watcher)) >= 7 and len(_cluster(watcher).components) == 2, limit_s=30)
        assert [(c.title, c.primary, c.votes) for c in _cluster(watcher).components] == [
            ("shard rs0", True, 3),
            ("config servers csrs", True, 3),
        ]
        assert _codes(watcher) == []
        becomes(lambda: _all_good(watcher), limit_s=20)
        assert _cluster(watcher).health is Health.UNKNOWN  # one mongos is named, and nobody said that it may be asked
    assert len(load_inventory(mongo_csrs_estate.client_dir / "inventory-all.toml").hosts) == 8
