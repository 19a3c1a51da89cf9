"""Recordings and inventories of earlier days are read whole: no name that was written is passed over in silence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import zstandard

from services.clock import ManualClock
from services.discovery.model import EstateSnapshot
from services.history.recordings.readable import read_snapshot
from services.inventory.toml_file import load_inventory
from services.json_text import stored_json
from services.procedures.report.topology import topology_picture
from services.sampling.replay import Replay
from tests.unit.old_files.kept import HERE, RECORDINGS, unpacked

_SNAPSHOTS = "SELECT s.data, k.data FROM snapshot s LEFT JOIN snapshot k ON k.id = s.base ORDER BY s.at"
EXPECTED = {
    "incident-2026-11-21": ({"n1", "n2", "n3"}, {"restart", "state", "transfer", "view"}, 35, {"synced"}),
    "conversion-2026-11-26": (
        {"c1", "c2", "c3", "d1", "d2", "d3", "n1", "n2", "n3", "r1", "r2"},
        {"restart", "run", "state", "step", "view"},
        69,
        {"mongodb-primary", "mongodb-secondary", "mongodb-router", "not-running"},
    ),
}
"""Servers, kinds of events, how many events, and the states of the last snapshot."""


@pytest.fixture(params=RECORDINGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(name: str, tmp_path: Path) -> Path:
    return unpacked(f"{name}.pilothouse", tmp_path)


@pytest.fixture
def replay(file: Path) -> Iterator[Replay]:
    opened = Replay(file, ManualClock())
    yield opened
    opened.close()


def test_that_servers_events_and_every_metric_of_an_old_recording_are_there(name: str, replay: Replay) -> None:
    servers, kinds, events, _ = EXPECTED[name]
    assert set(replay.servers()) == servers
    assert {event.kind for event in replay.all_events()} == kinds
    assert len(replay.all_events()) == events
    start, end = replay.span()
    for server in replay.servers():
        drawn = [replay.series(server, metric.key, start, end, 300) for metric in replay.catalogue()]
        assert sum(bool(np.isfinite(one.value).any()) for one in drawn) > 10, server


def test_that_the_first_and_the_last_snapshot_of_an_old_recording_are_drawn(name: str, replay: Replay) -> None:
    *_, states = EXPECTED[name]
    shown = [replay.snapshot_at(at) for at in replay.span()]
    for estate in shown:
        assert estate.problems == ()
        for cluster in estate.clusters:
            assert len(topology_picture(cluster.name, cluster).words.rows) == len(cluster.nodes) > 0
    assert {node.code for cluster in shown[-1].clusters for node in cluster.nodes} == states


def test_that_no_field_of_an_old_snapshot_is_lost_when_it_is_read(file: Path) -> None:
    lost: set[str] = set()
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(_SNAPSHOTS).fetchall()
    for data, key in rows[:: max(1, len(rows) // 40)]:
        text = _unpacked(data, key)
        estate: EstateSnapshot = read_snapshot(text)
        lost.update(_missing(json.loads(text), json.loads(stored_json(estate)), ""))
    assert len(rows) > 100
    assert lost == set()


def _unpacked(data: bytes, key: bytes | None) -> bytes:
    if key is None:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    known = zstandard.ZstdCompressionDict(_unpacked(key, None), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdDecompressor(dict_data=known).decompressobj().decompress(data)


def _missing(old: object, new: object, where: str) -> Iterator[str]:
    """Yield where something of `old` is not in `new`, or is another value."""
    if isinstance(old, dict) and isinstance(new, dict):
        for field, value in old.items():
            if field in new:
                yield from _missing(value, new[field], f"{where}.{field}")
            else:
                yield f"{where}.{field}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _missing(one, other, where)
    elif old != new:
        yield where


@pytest.mark.parametrize(
    ("day", "version", "hosts", "instances", "kinds"),
    [
        ("2026-11-21", 1, ("n1",), 0, {"mysql"}),
        ("2026-11-24", 2, ("n1",), 1, {"mysql"}),
        ("2026-11-28", 2, ("n1", "m1"), 1, {"mysql", "mongodb"}),
    ],
)
def test_that_the_inventory_of_an_old_manual_is_read(
    day: str, version: int, hosts: tuple[str, ...], instances: int, kinds: set[str]
) -> None:
    inventory = load_inventory(HERE / f"inventory-{day}.toml")
    assert inventory.version == version
    assert tuple(host.name for host in inventory.hosts) == hosts
    first = inventory.hosts[0]
    assert len(first.beside) == instances
    assert {host.kind for host in inventory.hosts} == kinds
    assert first.ssh is not None
    assert (first.ssh.sudo, first.ssh.jump, first.ssh.certificate) == (
        "nopasswd", "dba@gate:22", "~/.ssh/id_ed25519-cert.pub",
    )  # fmt: skip
    assert first.sql is not None
    assert (first.sql.tls, first.sql.ca, first.sql.operator_user) == ("verify", "/etc/ssl/db-ca.pem", "pilot")
    (cluster,) = inventory.clusters
    assert (cluster.name, cluster.seeds, cluster.expected) == ("galera", ("n1",), 3)
