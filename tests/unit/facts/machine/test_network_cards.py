"""Which network devices are cards: by what the kernel says below /sys, and by names where it says nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH
from services.facts.machine.net_devices import carrying
from services.facts.machine.os_stream import OsParser

CONTAINERS_HOST = """
lo: 45488359171 23380032 0 0 0 0 0 0 45488359171 23380032 0 0 0 0 0 0
enp5s0: 12001938009 10367664 0 0 0 0 0 210901 4255357361 5780796 0 0 0 0 0 0
 wlo1: 136959341039 126634386 0 186926 0 0 0 0 24044948181 38983909 0 0 0 0 0 0
ovs-system: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tailscale0: 1427722 14051 0 0 0 0 0 0 42078882 74818 0 0 0 0 0 0
br-3177677df140: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
docker0: 0 0 0 0 0 0 0 0 28211 156 0 0 0 0 0 0
vif50.2: 37193504 460048 0 0 0 0 0 0 33599674510 1067168 0 10119 0 0 0 0
vif5.3: 0 0 0 0 0 0 0 0 2759654 15949 0 0 0 0 0 0"""
"""A host with machines, containers and a tailnet, as its owner printed it (github.com/martins3/martins3.github.io)."""


def test_that_a_host_of_machines_and_a_tailnet_counts_what_its_two_cards_received() -> None:
    lines = CONTAINERS_HOST.strip().splitlines()
    reading = OsParser().feed(f"t 1000000;@net;{';'.join(lines)};@proc;- -".encode())
    assert reading is not None
    assert reading.values["os.net_all.rx_bytes"] == 12001938009 + 136959341039
    assert reading.values["os.net_all.tx_bytes"] == 4255357361 + 24044948181
    assert reading.net_devices[:2] == ("enp5s0", "wlo1")


@pytest.mark.parametrize(
    "name",
    [
        "tailscale0", "ztuga7sx7i", "zt0", "nordlynx", "wg0", "wg-mullvad", "wt0", "tun0", "tap0", "utun3", "as0t0",
        "vmnet8", "vboxnet0", "antrea-gw0", "antrea-egress0", "genev_sys_6081", "vxlan_sys_4789", "ovn-k8s-mp0",
        "lxdfan0", "lxdfan0-fan", "lxdfan0-mtu", "cilium_host", "cilium_net", "cilium_vxlan", "lxc_health", "flannel.1",
        "flannel-wg", "kube-ipvs0", "kube-bridge", "nodelocaldns", "eni1a2b3c4d5e6", "gke0a1b2c3d4e5", "azv1a2b3c4d5e6",
        "dummy0", "ifb0", "vrf-blue", "vrf0", "macsec0", "ipsec0", "xfrm0", "podman0", "cni-podman0", "nerdctl0",
        "docker_gwbridge", "qbr1f2a", "qvo1f2a3b4c", "qvb1f2a3b4c", "tapbdf0edc2-b0", "vethwe-bridge",
        "weave", "vif12.0",
        "bat0", "hsr0", "tunl0@NONE", "nebula1", "CloudflareWARP", "cscotun0", "ovs-system", "br-int",
        "br-ex", "cali1a2b",
    ],
)  # fmt: skip
def test_that_overlays_and_tunnels_by_their_usual_names_are_no_cards(name: str) -> None:
    assert carrying((name, "ens5"), ()) == ("ens5",)


SYSFS = dict[str, tuple[str, ...]]


def cards_told(program: str, root: Path, devices: Mapping[str, tuple[str, ...]]) -> str:
    """Return what the program's finder tells; of each device: 'device', 'lower_X', or 'FILE=TEXT'."""
    for name, parts in devices.items():
        (root / name).mkdir()
        (root / name / "uevent").write_text(f"INTERFACE={name}\n")
        (root / name / "type").write_text("1\n")
        for part in parts:
            file, given, text = part.partition("=")
            if given:
                (root / name / file).write_text(f"{text}\n")
            else:
                (root / name / file).mkdir()
    shell = "bash" if program == OS_LOOP else "sh"
    finder = program[program.index("find_nics() {") : program.index("\n}\n", program.index("find_nics() {")) + 3]
    text = f"{finder.replace('/sys/class/net', str(root))}find_nics 0; printf '%s' \"$nics\""
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("program", [OS_LOOP, OS_LOOP_SH])
def test_that_a_host_tells_its_cards_and_no_way_below_another_card(program: str, tmp_path: Path) -> None:
    """A synthetic device of a hypervisor with its virtual function below, a bond over a card, and a bridge."""
    devices: SYSFS = {
        "eth0": ("device", "lower_enP7s2"), "enP7s2": ("device",), "eth1": ("device",),
        "bond0": ("lower_eth1", "uevent=DEVTYPE=bond"), "br0": ("uevent=DEVTYPE=bridge",),
        "tailscale0": ("tun_flags=0x1001", "type=65534"), "office": ("uevent=DEVTYPE=wireguard", "type=65534"),
        "vmnet8": (), "dummy0": (),
    }  # fmt: skip
    assert cards_told(program, tmp_path, devices) == ";@nic;eth0;eth1"


@pytest.mark.parametrize("program", [OS_LOOP, OS_LOOP_SH])
def test_that_the_ports_of_a_card_to_its_own_functions_are_no_cards(program: str, tmp_path: Path) -> None:
    """A card in switchdev mode: what its functions carry goes through its uplink p0 once more."""
    devices: SYSFS = {
        "ens1f0np0": ("device", "phys_port_name=p0"), "ens1f0npf0vf0": ("device", "phys_port_name=pf0vf0"),
        "eth3": ("device", "phys_port_name=pf0sf88"), "eth4": ("device", "phys_port_name=c1pf0vf1"),
    }  # fmt: skip
    assert cards_told(program, tmp_path, devices) == ";@nic;ens1f0np0"


@pytest.mark.parametrize("program", [OS_LOOP, OS_LOOP_SH])
def test_that_in_a_container_what_its_kind_rules_out_is_no_card_whatever_its_name(program: str, tmp_path: Path) -> None:
    devices: SYSFS = {
        "lo": ("type=772",), "eth0": (), "office": ("uevent=DEVTYPE=wireguard", "type=65534"),
        "home": ("tun_flags=0x1002",), "overlay": ("uevent=DEVTYPE=geneve",),
        "lan": ("uevent=DEVTYPE=bridge", "lower_uplink"), "uplink": (),
        "dummy0": (), "dsl": ("type=512",),
    }  # fmt: skip
    told = cards_told(program, tmp_path, devices)
    assert told == ";@nic;?dummy0;?eth0;?uplink"
    assert carrying(devices, told.split(";")[2:]) == ("eth0", "uplink")


def test_that_a_container_whose_only_devices_are_tunnels_has_no_sum() -> None:
    assert carrying(("office", "tun0"), ("?tun0",)) == ()
    assert carrying(("eth0", "tun0"), ("*",)) == ("eth0",)  # nothing was told: by the names
