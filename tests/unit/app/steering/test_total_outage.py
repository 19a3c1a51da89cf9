"""All servers of a cluster are stopped: who was ever known as a member is a member that is down, and no spare."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from app.cli.one_look import look, past_of
from services.clock import ManualClock
from services.discovery.families.galera.kind import GALERA
from services.discovery.model import ALL_DOWN, NO_PRIMARY_HEARD, SPARE, ClusterSnapshot, EstateSnapshot
from services.events import Bus
from services.facts.model import NodeFacts
from services.history.state.positions import PositionSeen
from services.history.state.store import StateStore
from services.sampling.hub import Hub
from services.types import Health, Reach
from tests.unit.discovery.scenes import AT, STATE, address, estate, machine, member, only

DOWN_AT = AT + 3600.0
WRITTEN = {f"db{n}": "shop" for n in (1, 2, 3)}


def stopped(number: int) -> NodeFacts:
    """Return what a host tells a console that asks it for the first time, its server being stopped."""
    host = machine(number, process_state="", process_pid=None, unit_state="inactive/dead")
    return NodeFacts(
        f"db{number}", DOWN_AT, Reach.SSH_ONLY, address(number), machine=host, ssh_at=DOWN_AT
    )  # fmt: skip


def looked(folder: Path, *numbers: int, written: Mapping[str, str] | None = None) -> EstateSnapshot:
    options = Namespace(data=folder)
    told = {f"db{n}": stopped(n) for n in numbers}
    past = past_of(options)(told)
    return look(options, "topology", lambda: estate(*told.values(), previous=past, at=DOWN_AT, written=written or {}))


def _seen_before(folder: Path) -> None:
    alive = estate(*(member(n, last_committed=120 + n) for n in (1, 2, 3)))
    assert look(Namespace(data=folder), "check", lambda: alive) == alive


def _is_down(cluster: ClusterSnapshot) -> None:
    assert (cluster.kind, cluster.cluster_id, cluster.health) == (GALERA, STATE, Health.BAD)
    assert not any(node.role == SPARE for node in cluster.nodes)


def test_that_a_cluster_that_was_looked_at_before_is_drawn_down_and_dated_when_all_its_servers_are_stopped(
    tmp_path: Path,
) -> None:
    _seen_before(tmp_path)
    cluster = only(looked(tmp_path, 1, 2, 3, written=WRITTEN))
    _is_down(cluster)
    assert {node.health for node in cluster.nodes} == {Health.BAD}
    assert {node.state for node in cluster.nodes} == {"not running"}
    assert [p.code for p in cluster.problems] == [ALL_DOWN]
    assert cluster.at == AT, "the age of what is known of its group"
    assert "; one was reported at" in cluster.agreement
    assert cluster.name == only(estate(*(member(n) for n in (1, 2, 3)))).name


def test_that_hosts_of_which_nothing_is_remembered_are_neither_members_nor_spares(tmp_path: Path) -> None:
    cluster = only(looked(tmp_path, 1, 2, 3, written=WRITTEN))
    assert {node.role for node in cluster.nodes} == {""}


def test_that_from_one_seed_the_members_that_only_our_memory_knows_are_drawn_too(tmp_path: Path) -> None:
    _seen_before(tmp_path)
    cluster = only(looked(tmp_path, 1))
    _is_down(cluster)
    assert [(n.name, n.health) for n in cluster.nodes] == [
        ("db1", Health.BAD), ("db2", Health.UNKNOWN), ("db3", Health.UNKNOWN),
    ]  # fmt: skip
    assert {n.state for n in cluster.nodes[1:]} == {"not seen by any node"}, "nobody asked them: they are not known"
    assert "; one was reported at" in cluster.agreement


def test_that_positions_and_the_plan_of_a_run_are_enough_to_know_members_and_name(tmp_path: Path) -> None:
    with StateStore.open(tmp_path / "state.sqlite") as state:
        state.remember_positions(PositionSeen(f"db{n}", STATE, "grastate", 7, AT, "plan") for n in (1, 2, 3))
        run = state.procedures().new_run("rolling-restart", STATE, "Restart db1")
        state.procedures().append(run, None, "planned", "", json.dumps({"plan": {"cluster_name": "matrix-b"}}))
    cluster = only(looked(tmp_path, 1, 2, 3, written=WRITTEN))
    _is_down(cluster)
    assert (cluster.name, len(cluster.nodes)) == ("matrix-b", 3)


def test_that_a_window_that_kept_no_picture_takes_the_members_from_what_is_remembered(tmp_path: Path) -> None:
    _seen_before(tmp_path)
    told = {f"db{n}": stopped(n) for n in (1, 2, 3)}
    hub = Hub(ManualClock(DOWN_AT), None, rates=dict, bus=Bus())
    hub.stand_as_written(WRITTEN)
    for one in told.values():
        hub.put(one)
    assert {node.role for node in only(hub.refresh()).nodes} == {""}
    past = past_of(Namespace(data=tmp_path))(told)
    assert past is not None
    hub.recall_late(past)
    _is_down(only(hub.refresh()))
    _is_down(only(hub.refresh()))


def test_that_a_window_that_found_members_by_a_seed_draws_them_when_the_seed_is_down(tmp_path: Path) -> None:
    """s2 and s3 were found by s1, every server was killed, the window was started again: it drew s1 alone."""
    _seen_before(tmp_path)
    hub = Hub(ManualClock(DOWN_AT), None, rates=dict, bus=Bus())
    hub.recall(estate(*(member(n) for n in (1, 2, 3))), {"db1": address(1)})
    hub.put(stopped(1))
    assert len(only(hub.refresh()).nodes) == 1
    past = past_of(Namespace(data=tmp_path))({"db1": stopped(1)})
    assert past is not None
    hub.recall_late(past)
    for _ in range(2):
        cluster = only(hub.refresh())
        assert [(n.name, n.health) for n in cluster.nodes] == [
            ("db1", Health.BAD), ("db2", Health.UNKNOWN), ("db3", Health.UNKNOWN),
        ]  # fmt: skip
        assert [p.code for p in cluster.problems] == [NO_PRIMARY_HEARD]
        assert "db2 and db3 were not queried: they may be a Primary Component" in cluster.problems[0].sentence
