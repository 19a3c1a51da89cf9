"""Which device carries the data folder, on file systems and layers as their owners printed them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from services.connections.programs.os_loops import OS_LOOP
from services.facts.machine.block_devices import devices_of
from services.facts.machine.os_stream import OsParser, OsReading

LVM_ON_MIRROR = """\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 15846553 705138 1981360134 154502872 118163401 38962907 8682793952 1476137140 0 385593720 1630591328
   8       1 sda1 29832 2192 4022576 194032 2098743 3674 1080935 68891856 0 68646896 69084216
   8       2 sda2 15815749 702944 1977287150 154306980 116064420 38959233 8681712065 1407244260 0 325553928 1561509976
   8      16 sdb 15117689 707599 1960872863 162236248 118115781 39010353 8682793952 1765909168 0 382822900 1928221552
   8      17 sdb1 28510 2087 3904082 220000 2098743 3674 1080935 69651724 0 69395884 69871240
   8      18 sdb2 15088200 705511 1956917485 162014412 116016800 39006679 8681712065 1696256456 0 320817500 1858310508
   9       0 md0 327 0 20314 0 6350 0 1080688 0 0 0 0
   9       1 md1 1851866 0 35238434 0 150274353 0 8656111632 0 0 0 0
 252       0 dm-0 76886 0 2841618 341756 2074381 0 32358904 99275084 0 21167780 99618672
 252       1 dm-1 966 0 16616 11056 60444 0 483552 3756484 0 133516 3812176"""
"""LVM on two mirrors of two disks (github.com/netdata/netdata/issues/2646)."""
NVME_WAYS = """\
 259       0 nvme0c0n1 34706049 74843 4815165730 93876201 4187610 1925219 6989322264 47813633 0 45557635 118897696
 259       1 nvme0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"""
"""A kernel that counts on the ways alone (github.com/Atoptool/atop/pull/157)."""

POWERPATH = """\
 120 0 emcpowera 9 0 9 9 9 0 9 9 0 9 9
 120 1 emcpowera1 9 0 9 9 9 0 9 9 0 9 9
   8 0 sda 4 0 1 1 1 0 1 1 0 1 1
   8 16 sdb 5 0 1 1 1 0 1 1 0 1 1"""


def told(diskstats: str, mount: str) -> OsReading:
    line = f"t 1000000;@disk;{';'.join(diskstats.splitlines())};@proc;- -;@fs;{mount} 4096 1000 250"
    reading = OsParser().feed(line.encode())
    assert reading is not None
    return reading


@pytest.mark.parametrize(
    ("diskstats", "mount", "device"),
    [
        (LVM_ON_MIRROR, "252:0", "dm-0"),
        (LVM_ON_MIRROR, "9:1", "md1"),
        (LVM_ON_MIRROR, "8:18", "sdb"),
        (LVM_ON_MIRROR, "0:33", ""),  # a pool, or an overlay: on which of two disks is not told
        (NVME_WAYS, "259:1", "nvme0n1"),
        (NVME_WAYS, "0:0", "nvme0n1"),
        (POWERPATH, "120:1", "emcpowera"),
    ],
)  # fmt: skip
def test_that_the_data_device_is_the_one_that_the_file_system_names_and_no_guess(
    diskstats: str, mount: str, device: str
) -> None:
    assert told(diskstats, mount).data_device == device


def test_that_mirrors_and_volumes_are_counted_on_their_disks_alone() -> None:
    values = told(LVM_ON_MIRROR, "252:0").values
    assert values["os.disk_all.writes"] == 118163401 + 118115781
    assert values["os.disk_all.reads"] == 15846553 + 15117689
    assert told(NVME_WAYS, "259:1").values["os.disk_all.writes"] == 4187610


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (("sda", "sdb", "emcpowera", "emcpowera1", "dm-0"), ("sda", "sdb")),
        (("emcpowera", "emcpowera1", "emcpowerb", "dm-0"), ("emcpowera", "emcpowerb")),  # the ways are hidden
        (("sddlmaa", "sddlmab", "sddlmab1"), ("sddlmaa", "sddlmab")),
    ],
)
def test_that_devices_of_multipath_drivers_are_counted_where_their_ways_are_not_seen(
    names: tuple[str, ...], counted: tuple[str, ...]
) -> None:
    assert devices_of(names).counted == counted


MOUNTS = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
72 2 0:33 /@ / rw,noatime shared:1 - btrfs /dev/{device} rw,space_cache=v2,subvol=/@
80 72 0:44 /var /srv rw,relatime shared:9 - zfs tank/srv rw,xattr
81 72 8:2 / /boot rw,relatime - ext4 /dev/sda2 rw"""
"""Btrfs below a name of the device mapper (github.com/aristocratos/btop/issues/1270), and a pool of ZFS."""


@pytest.mark.parametrize(
    ("folder", "device", "mount"),
    [
        ("/var/lib/mysql", "null", "1:3"),
        ("/var/lib/mysql", "not-there", "0:33"),
        ("/srv/mysql", "null", "0:44"),
        ("/boot/mysql", "null", "8:2"),
    ],
)
def test_that_a_file_system_with_a_number_of_its_own_is_found_by_what_it_is_mounted_from(
    folder: str, device: str, mount: str, tmp_path: Path
) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS.replace("{device}", device) + "\n")
    start = OS_LOOP.index("find_mount() {")
    finder = OS_LOOP[start : OS_LOOP.index("\n}\n", start) + 3]
    finder = finder.replace("/proc/self/mountinfo", str(tmp_path / "mountinfo"))
    text = f"dir={folder}\n{finder}find_mount; printf '%s' \"$mnt\""
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert (done.stdout, done.stderr) == (mount, "")
