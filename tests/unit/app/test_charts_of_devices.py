"""Charts of each disk and each network device: beside the sums, and of names that a host gives."""

from __future__ import annotations

from dataclasses import replace

from app.window.charts.chart_plan import ChartPlan, chart_plan
from services.facts.machine.os_stream import MOST_DRAWN, OsParser
from services.facts.model import MachineFacts
from services.sampling.metrics.catalogue import load_catalogue
from tests.unit.discovery.scenes import estate, member

LINE = (
    b"t 1795253256631664;@disk;9 0 md0 1 1 1 1 1 1 1 1 0 1 1;259 0 nvme1n1 1 1 1 1 1 1 1 1 0 1 1;"
    b"259 1 nvme1n1p1 1 1 1 1 1 1 1 1 0 1 1;@net; bond0: 5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0;"
    b" eth2: 5 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0;@proc;- -"
)


def plan_of(machine: MachineFacts | None) -> ChartPlan:
    (cluster,) = estate(*(member(n) for n in (1, 2, 3))).clusters
    first = cluster.nodes[0]
    assert first.facts is not None
    shown = replace(first, facts=replace(first.facts, machine=machine))
    return chart_plan(cluster, shown, None)


def test_that_each_device_has_its_curves_those_of_the_sums_first() -> None:
    reading = OsParser().feed(LINE)
    assert reading is not None
    assert (reading.disk_devices, reading.net_devices) == (("nvme1n1", "md0"), ("eth2", "bond0"))
    plan = plan_of(MachineFacts(disk_devices=reading.disk_devices, net_devices=reading.net_devices))
    charts = {spec.key: [curve.label for curve in spec.curves] for spec in plan.specs}
    assert charts["disk-each"] == ["nvme1n1", "md0"]
    assert charts["net-each"] == ["eth2 received", "eth2 sent", "bond0 received", "bond0 sent"]


def test_that_the_curves_are_formulas_over_the_devices_own_numbers() -> None:
    plan = plan_of(MachineFacts(disk_devices=("dm-0", "cciss/c0d0"), net_devices=("br-lan", "eth0.7")))
    keys = {
        key
        for (chart, _), (_, metric) in plan.places.items()
        if chart in {"disk-each", "net-each"}
        for key in load_catalogue().formula(metric).keys
    }
    assert keys == {
        "os.disk.dm-0.ms_busy", "os.disk.cciss/c0d0.ms_busy", "os.net.br-lan.rx_bytes", "os.net.br-lan.tx_bytes",
        "os.net.eth0.7.rx_bytes", "os.net.eth0.7.tx_bytes",
    }  # fmt: skip


def test_that_a_node_whose_devices_are_not_known_has_no_such_chart() -> None:
    for machine in (None, MachineFacts()):
        assert not {spec.key for spec in plan_of(machine).specs} & {"disk-each", "net-each"}


def test_that_names_that_a_host_makes_up_are_no_formulas_and_do_not_grow() -> None:
    odd = b";".join(b'8 0 x")+raw("a%d 1 1 1 1 1 1 1 1 0 1 1' % n for n in range(9))
    many = b";".join(b"8 0 disk%c%c 1 1 1 1 1 1 1 1 0 1 1" % (97 + n // 26, 97 + n % 26) for n in range(60))
    reading = OsParser().feed(b"t 1795253256631664;@disk;" + odd + b";" + many + b";@proc;- -")
    assert reading is not None
    assert len(reading.disk_devices) == MOST_DRAWN
    assert all(name.startswith("disk") for name in reading.disk_devices)
