"""A ProxySQL that the inventory names stands beside the cluster that it is written into, and judges nobody."""

from __future__ import annotations

import json

import pytest

from app.cli.commands import inventory as command
from app.cli.commands.topology import all_good
from app.cli.terminal import estate_text
from app.window.charts.chart_plan import chart_plan
from services.connections.probe.test import AccessReport, Step
from services.discovery.families.galera.kind import GALERA
from services.discovery.families.proxysql.kind import PROXYSQL
from services.discovery.model import EstateSnapshot
from services.discovery.shared_hosts import only_named
from services.inventory.model import HostEntry, Instance, Inventory
from services.types import Health
from tests.unit.discovery.scenes import AT, estate, member, node, unreached

HOST = HostEntry("db3", "10.20.0.13", beside=(Instance("db3", "proxysql", 6032),))
WRITTEN = {f"db{n}": "orders" for n in (1, 2, 3)} | {"db3:6032": "orders"}


def shown(previous: EstateSnapshot | None = None) -> EstateSnapshot:
    return estate(
        *(member(n) for n in (1, 2, 3)), *only_named((HOST,), AT).values(), previous=previous, written=WRITTEN
    )


def test_that_it_stands_beside_the_cluster_of_its_host_and_says_that_it_is_not_read() -> None:
    snapshot = shown(shown())
    assert [(c.kind, len(c.nodes), c.health) for c in snapshot.clusters] == [
        (GALERA, 3, Health.GOOD),
        (PROXYSQL, 1, Health.UNKNOWN),
    ]
    proxy = node(snapshot, "db3:6032")
    assert (proxy.code, proxy.role, proxy.spark_metric) == ("not-read", "ProxySQL", "")
    text = estate_text(snapshot)
    assert "db3:6032 (ProxySQL)  not read yet" in text
    assert "not contacted" not in text


def test_that_a_check_of_a_good_cluster_is_good_beside_it() -> None:
    assert all_good(shown())
    assert not all_good(estate(member(1), member(2), unreached(3), *only_named((HOST,), AT).values(), written=WRITTEN))
    assert not all_good(estate(*only_named((HOST,), AT).values())), "nothing was read that could be good"


def test_that_it_has_no_chart_and_its_hosts_cluster_no_curve_of_it() -> None:
    galera, proxy = shown().clusters
    assert chart_plan(proxy, proxy.nodes[0], None).specs == ()
    assert "db3:6032" not in {host for host, _ in chart_plan(galera, galera.nodes[0], None).places.values()}


@pytest.mark.parametrize("as_json", [False, True])
def test_that_a_check_of_the_ways_names_it_after_its_host(
    *, as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passed = (Step("tcp", "SSH port", "passed", "Told."),)
    monkeypatch.setattr(command, "probe_access", lambda host, _vault: AccessReport(host.name, passed))
    assert command._check(Inventory(hosts=(HOST,)), (), as_json=as_json) == 0
    *_, last = capsys.readouterr().out.splitlines()
    if as_json:
        assert json.loads(last) == {"host": "db3:6032", "kind": "proxysql", "read": False, "steps": []}
    else:
        assert last == "    ProxySQL: not read yet"
