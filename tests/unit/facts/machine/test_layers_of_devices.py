"""Sums over disks and network devices of real kinds of hosts: each request and each byte counts once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.facts.machine.block_devices import Busiest, devices_of
from services.facts.machine.net_devices import carrying
from services.facts.machine.os_stream import OsParser, OsReading
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.formula import Frame
from tests.examples import examples

WORK = "700 0 9000 350 1300 0 62000 910 0 {busy} 1260"
STILL = "0 0 0 0 0 0 0 0 0 0 0"


def told(
    *seconds: Mapping[str, str], nets: tuple[Mapping[str, tuple[int, int]], ...] = (), cards: str = ""
) -> list[OsReading]:
    """Return the readings of one stream. Each second gives a disk's counters by its name, and what was received."""
    parser, found = OsParser(), []
    nothing: Mapping[str, str] = {}
    still: Mapping[str, tuple[int, int]] = {}
    length = max(len(seconds), len(nets))
    both = zip((*seconds, *[nothing] * (length - len(seconds))), (*nets, *[still] * (length - len(nets))), strict=True)
    for at, (disks, devices) in enumerate(both):
        disk = ";".join(f"{n} 0 {name} {counters}" for n, (name, counters) in enumerate(disks.items()))
        net = ";".join(f" {name}: {rx} 1 0 0 0 0 0 0 {tx} 1 0 0 0 0 0 0" for name, (rx, tx) in devices.items())
        reading = parser.feed(f"t {at + 1}000000;@disk;{disk};@net;{net};@proc;9 S{cards}".encode())
        assert reading is not None
        found.append(reading)
    return found


def told_as(key: str, readings: list[OsReading]) -> float | None:
    """Return the newest value of a metric of the catalogue, None where it is not known."""
    at = np.array([reading.at_host for reading in readings])
    keys = {name for reading in readings for name in reading.values}
    columns = {name: np.array([r.values.get(name, np.nan) for r in readings]) for name in keys}
    value = float(load_catalogue().formula(key).evaluate(Frame(at, at, np.zeros(len(at)), columns))[-1])
    return None if np.isnan(value) else value


def moved(disks: tuple[str, ...], busy: int = 420) -> list[OsReading]:
    """Return two seconds in which each of the disks did the same."""
    return told(dict.fromkeys(disks, STILL), dict.fromkeys(disks, WORK.format(busy=busy)))


@pytest.mark.parametrize(
    ("disks", "counted"),
    [
        (("sda", "sda1", "sda2", "dm-0", "dm-1"), 1),  # LVM on a partition
        (("sda", "sdb", "md0", "md0p1"), 2),
        (("sda", "sdb", "md127", "dm-0"), 2),
        (("nvme0n1", "nvme0n1p1", "nvme0c0n1"), 1),
        (("nvme0n1", "nvme0c0n1", "nvme0c1n1", "nvme1n1", "nvme1c2n1"), 2),  # two ways to one disk
        (("nvme10n12", "nvme10c33n12", "nvme1n1"), 2),
        (("nvme5c5n1",), 1),  # a way whose disk is hidden
        (("vda", "drbd0", "drbd1000"), 1),
        (("sdb", "nvme0n1", "bcache0", "bcache0p1"), 2),  # what is cached is written to both
        (("sda", "zd0", "zd16", "zd16p1"), 1),
        (("sda", "loop0", "loop12p1", "ram0", "zram0", "sr0", "fd0"), 1),
        (("vda", "rbd0", "rbd0p1"), 2),  # a disk of another host's, as iSCSI's are
        (("rbd0", "rbd0p2", "dm-0"), 1),
        (("nbd0", "nbd0p1"), 1),
        (("sda", "sdb", "emcpowera", "emcpowera1", "dm-3"), 2),
        (("mmcblk0", "mmcblk0p1", "mmcblk0boot0"), 2),
        (("xvda1", "xvdf"), 2),  # a partition that a hypervisor gives without its disk
        (("cciss/c0d0", "cciss/c0d0p1"), 1),
        (("dm-0",), 1),
    ],
)
def test_that_each_request_counts_once_whatever_layers_a_host_has(disks: tuple[str, ...], counted: int) -> None:
    readings = moved(disks)
    assert told_as("disk.writes", readings) == 1300 * counted
    assert told_as("disk.read_bytes", readings) == 9000 * 512 * counted
    assert told_as("disk.queue", readings) == pytest.approx(1.26 * counted)
    assert told_as("disk.busy", readings) == 42.0


@pytest.mark.parametrize("disks", [("dm-0", "dm-1"), ("md0", "dm-0"), ("drbd0", "drbd1")])
def test_that_layers_whose_disks_are_not_seen_have_no_sum(disks: tuple[str, ...]) -> None:
    """One may stand upon the other: which, their names do not tell."""
    readings = moved(disks)
    assert told_as("disk.writes", readings) is None
    assert told_as("disk.busy", readings) is None
    assert all(f"os.disk.{name}.writes" in readings[1].values for name in disks)


def test_that_a_disk_whose_requests_an_older_kernel_counts_on_its_ways_does_not_stand_still() -> None:
    ways = {"nvme2c0n1": STILL, "nvme2c1n1": STILL, "nvme2n1": STILL, "nvme2n1p1": STILL}
    after = {**ways, "nvme2c0n1": WORK.format(busy=300), "nvme2c1n1": WORK.format(busy=250)}
    first, second = told(ways, after)
    assert second.values["os.disk.nvme2n1.writes"] - first.values["os.disk.nvme2n1.writes"] == 2600
    assert second.values["os.disk.nvme2n1.ms_busy"] - first.values["os.disk.nvme2n1.ms_busy"] == 300
    assert not [key for key in second.values if "c0n1" in key or "n1p1" in key]
    assert told_as("disk.writes", [first, second]) == 2600


def test_that_shares_of_time_are_not_added_and_the_busiest_disk_is_told_second_by_second() -> None:
    """Two disks take turns: the busiest is never the one whose counter is the greatest since the host began."""
    name = [
        {"sda": WORK.format(busy=a), "sdb": WORK.format(busy=b)} for a, b in ((90_000, 0), (90_100, 700), (90_900, 710))
    ]
    readings = told(*name)
    assert told_as("disk.busy", readings[:2]) == 70.0
    assert told_as("disk.busy", readings) == 80.0


def test_that_a_disk_that_comes_or_begins_anew_makes_no_giant_share() -> None:
    busiest = Busiest()
    assert busiest.after({"sda": 5000.0}) == 0.0
    assert busiest.after({"sda": 5100.0, "sdb": 900_000.0}) == 100.0
    assert busiest.after({"sda": 3.0, "sdb": 900_020.0}) == 120.0
    assert busiest.after({}) == 120.0


NETS = {
    "lo": (9, 9), "eth0": (40, 4), "eth1": (60, 6), "bond0": (100, 10), "bond0.120": (100, 10), "br0": (90, 9),
    "veth3f2a1b": (70, 7), "docker0": (70, 7), "vlan7": (5, 5), "wg0": (3, 3), "tun0": (2, 2), "virbr0": (1, 1),
    "cali0a1b2c3d4e5": (8, 8), "flannel.1": (8, 8), "cni0": (8, 8), "team0": (1, 1), "br-5f0c9a7b1d2e": (6, 6),
}  # fmt: skip


def test_that_bytes_through_bonds_vlans_bridges_and_pairs_count_once() -> None:
    readings = told(nets=(dict.fromkeys(NETS, (0, 0)), NETS))
    assert told_as("net.received", readings) == 100
    assert told_as("net.sent", readings) == 10
    assert readings[1].values["os.net.bond0.rx_bytes"] == 100  # each device has its own numbers


def test_that_the_cards_that_a_host_tells_decide_before_any_name() -> None:
    nets = {"storage": (500, 50), "uplink": (500, 50), "front": (1000, 100), "brocade0": (7, 7)}
    zero = dict.fromkeys(nets, (0, 0))
    assert told_as("net.received", told(nets=(zero, nets), cards=";@nic;storage;uplink")) == 1000
    assert told_as("net.received", told(nets=(zero, nets), cards=";@nic;*")) == 2007  # nothing was told: by their names


def test_that_a_recording_of_before_is_read_by_the_names_of_its_devices() -> None:
    t = np.arange(3.0)
    grown = {f"os.net.{name}.rx_bytes": t * 100 for name in ("eth0", "bond0", "br0", "eth0.7")}
    frame = Frame(t, t, np.zeros(3), grown)
    assert load_catalogue().formula("net.received").evaluate(frame)[-1] == 100
    layers = {key: value for key, value in grown.items() if "eth0.rx" not in key}
    assert np.isnan(load_catalogue().formula("net.received").evaluate(Frame(t, t, np.zeros(3), layers))).all()


def test_that_only_layers_without_a_card_are_not_known() -> None:
    nets = {"bond0": (10, 10), "bond0.7": (10, 10)}
    assert told_as("net.received", told(nets=(dict.fromkeys(nets, (0, 0)), nets))) is None


@pytest.mark.parametrize(
    "name", ["eth0", "ens3", "enp3s0f0np0", "eno1", "em1", "venet0", "wlan0", "ib0", "bnx0", "brocade1"]
)
def test_that_names_of_cards_are_no_layers(name: str) -> None:
    assert carrying((name, "lo"), ()) == (name,)


NAMES = st.sampled_from(
    ["sda", "sda1", "sdb", "vda", "vda15", "nvme0n1", "nvme0c0n1", "nvme0c1n1", "nvme0n1p3", "nvme1n1", "dm-0", "dm-12",
     "md0", "md0p1", "drbd0", "bcache0", "zd0", "rbd1", "loop3", "x", "p1", "1", "nvme0c0n", "c0n1"]
)  # fmt: skip


@given(st.lists(NAMES | st.text(max_size=8), unique=True, max_size=12))
@settings(max_examples=examples(300), deadline=None)
def test_that_no_names_make_two_disks_of_one(names: list[str]) -> None:
    """Nothing that is counted is a partition of, or a way to, something else that is counted."""
    devices = devices_of(names)
    assert set(devices.counted) <= set(devices.whole) <= set(names)
    for one, other in itertools.permutations(devices.counted, 2):
        assert not (one.startswith(other + "p") and one[len(other) + 1 :].isascii() and one[len(other) + 1 :].isdigit())
        assert one not in devices.ways_to(other)
