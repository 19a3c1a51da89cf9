"""snapshot-node on real servers where it is hard: btrfs, a boot in the middle, a host that never was a member.

The kernel of the lab has btrfs where the machine's has it, and no device mapper: LVM's commands run on scripted hosts
only (test_snapshot_plan.py). btrfs takes a subvolume's snapshot in one moment, and copies files by reference.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.procedures.plan.run_model import RunState, StepState
from tests.lab.estate.estate import Estate
from tests.lab.estate.host import container, proc
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.host.rootfs import data, root
from tests.lab.estate.shell import run
from tests.lab.estate.waiting import while_asserts
from tests.lab.procedures.console.steering import Console
from tests.lab.procedures.states.snapshots import (
    ACCEPTED,
    DONOR,
    INPUTS,
    JOINER,
    LISTING,
    WRITTEN,
    assert_brings,
    assert_free,
    assert_held,
    joiner_away,
    run_with,
)
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

pytestmark = [pytest.mark.slow, pytest.mark.long]
POOL = "/srv/pool"
_DEVICE = "/dev/pool-of-the-test"
_REMOVE = f"rm -rf /opt/btrfs /usr/bin/btrfs {_DEVICE}"
AT_ONCE = {
    "way": "volume",
    "take": f"btrfs subvolume snapshot -r {POOL}/data {POOL}/{{snapshot}}",
    "remove": f"sh -c '! test -e {POOL}/{{snapshot}} || btrfs subvolume delete {POOL}/{{snapshot}}'",
}
BY_REFERENCE = {
    "way": "copy",
    "take": f"cp -a --reflink=always {POOL}/data {POOL}/{{snapshot}}",
    "remove": f"rm -rf {POOL}/{{snapshot}}",
}
OFFERED = (
    f"sh -c 'socat TCP-LISTEN:4777,reuseaddr,fork "
    f'"EXEC:tar -C {POOL}/{{snapshot}} --exclude=./lost+found -c ." >/dev/null 2>&1 & sleep 0.5\''
)


@pytest.fixture
def away(steer: Estate, whole: Whole) -> Iterator[str]:
    """The joiner is down; a table that the observing account may read was written before and since."""
    with joiner_away(steer) as old:
        yield old


# -- a file system that takes snapshots --------------------------------------------------------------------------------


@pytest.fixture
def on_btrfs(steer: Estate, whole: Whole) -> Iterator[None]:
    """The donor's data are a subvolume of a btrfs of its own, as an operator would have them."""
    if shutil.which("mkfs.btrfs") is None or "btrfs" not in Path("/proc/filesystems").read_text(encoding="utf-8"):
        pytest.skip("no btrfs here: the kernel's module and the package btrfs-progs are needed")
    image = data(steer.spec, DONOR).parent / "btrfs.img"
    with image.open("wb") as handle:
        handle.truncate(2 * 1024**3)
    run(["mkfs.btrfs", "-q", str(image)])
    loop = run(["losetup", "--find", "--show", str(image)]).out.strip()
    steer.stop(DONOR)
    try:
        _give_btrfs(steer)
        number = Path(loop).stat().st_rdev
        _in_namespace(steer, f"mknod {_DEVICE} b {os.major(number)} {os.minor(number)}")
        _in_namespace(steer, f"mkdir -p {POOL} && mount {_DEVICE} {POOL} && btrfs subvolume create {POOL}/data")
        steer.host(DONOR).sh(f"cp -a /var/lib/mysql/. {POOL}/data/ && chown --reference=/var/lib/mysql {POOL}/data")
        _in_namespace(steer, f"mount --bind {POOL}/data /var/lib/mysql")
        steer.start(DONOR)
        yield
    finally:
        steer.stop(DONOR)
        _in_namespace(steer, f"umount /var/lib/mysql; umount {POOL} && rmdir {POOL}; {_REMOVE}")
        run(["losetup", "-d", loop])
        image.unlink()
        steer.start(DONOR)


def _in_namespace(steer: Estate, command: str) -> None:
    """Run as the machine's root in the host's namespaces: the container's own may have no block device."""
    done = container.sh(steer.spec, DONOR, command)
    assert done.ok, done


def _give_btrfs(steer: Estate) -> None:
    """The program and its libraries, out of the machine, where nothing else finds them."""
    there = root(steer.spec, DONOR) / "opt/btrfs"
    there.mkdir(parents=True, exist_ok=True)
    program = shutil.which("btrfs")
    assert program is not None
    told = run(["ldd", program]).out.split()
    libraries = [word for word in told if word.startswith("/")]
    for one in (program, *libraries):
        shutil.copy2(Path(one).resolve(), there / Path(one).name)
    loader = next(Path(one).name for one in libraries if "ld-linux" in one)
    script = f'#!/bin/sh\nexec /opt/btrfs/{loader} --library-path /opt/btrfs /opt/btrfs/btrfs "$@"\n'
    steer.host(DONOR).sh("cat >/usr/bin/btrfs && chmod 755 /usr/bin/btrfs", stdin=script)


@pytest.mark.parametrize("how", [AT_ONCE, BY_REFERENCE], ids=["a subvolume in one moment", "files by reference"])
def test_that_a_snapshot_of_btrfs_brings_a_node_back_by_ist_and_no_row_is_lost(
    steer: Estate, console: Console, whole: Whole, on_btrfs: None, away: str, how: dict[str, object]
) -> None:
    with Writer(steer, (WRITTEN,)) as writer:
        ran = run_with(console, **how, offer=OFFERED)
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost(members(steer))
    steps = {s.step.step_id: s for s in view.steps}
    assert "by IST" in " ".join(steps[f"transfer-{JOINER}"].evidence)
    assert steps[f"compare-{JOINER}"].state is StepState.DONE
    assert steer.host(DONOR).sh(f"ls {POOL}").out.split() == ["data"]
    assert_free(steer)
    console.assert_nothing_to_do("snapshot-node", **{**INPUTS, "joiner": DONOR, "donor": WRITTEN})


# -- hosts that boot ---------------------------------------------------------------------------------------------------


def test_that_a_donor_that_boots_under_the_lock_has_none_afterwards_and_the_run_is_taken_back(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    slow = {**INPUTS, "take": "sh -c 'cp -a {datadir} /srv/{snapshot} && sleep 60'"}
    words = tuple(word for name, value in slow.items() for word in ("--input", f"{name}={value}"))
    with Writer(steer, (WRITTEN,)) as writer, console.running("run", "snapshot-node", *ACCEPTED, *words, "--yes") as at:
        at.wait_for_step("snapshot")
        while_asserts(lambda: assert_held(steer), limit_s=60)
        steer.reboot(DONOR)
        steer.start(DONOR)
        ended = at.end()
        assert ended.code != 0, ended
        undone = console("undo", console.runs()[0], "--yes") if not _is_undone(console) else ended
        console.assert_ended(RunState.UNDONE, undone)
        assert steer.sql(DONOR, "SHOW STATUS LIKE 'wsrep_local_state'")[0][1] == "4"
        assert_free(steer)
        assert steer.host(JOINER).sh(LISTING).out == away
        whole.assert_files_as_before()
        steer.start(JOINER)
        writer.assert_nothing_lost(members(steer))


def test_that_a_joiner_that_boots_on_half_of_its_data_does_not_start_and_the_run_is_taken_back(
    steer: Estate, console: Console, whole: Whole, away: str
) -> None:
    half = "sh -c 'socat -u TCP:{donor_address}:4777 - | tar -x -C {datadir} && touch {datadir}/part-1 && sleep 120'"
    words = tuple(word for n, value in {**INPUTS, "bring": half}.items() for word in ("--input", f"{n}={value}"))
    steer.host(JOINER).sh("systemctl enable mariadb")
    try:
        with console.running("run", "snapshot-node", *ACCEPTED, *words, "--yes") as at:
            at.wait_for_step(f"bring-{JOINER}")
            while_asserts(lambda: assert_brings(steer), limit_s=60)
            steer.reboot(JOINER)
            _assert_held_back(steer)
            ended = at.end()
            assert ended.code != 0, ended
    finally:
        steer.host(JOINER).sh("systemctl disable mariadb")
    undone = console("undo", console.runs()[0], "--yes") if not _is_undone(console) else ended
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host(JOINER).sh(LISTING).out == away
    assert_free(steer)
    whole.assert_files_as_before()


def _assert_held_back(steer: Estate) -> None:
    """Assert that neither the boot nor a person starts a server on what lies there."""
    host = steer.host(JOINER)
    assert not host.sh("systemctl start mariadb", check=False).ok
    assert "91-pilothouse-hold.conf" in host.sh("systemctl show -p DropInPaths mariadb").out
    assert host.sh("systemctl show -p AssertResult --value mariadb").out.strip() == "no"
    assert proc.leader_pid(steer.spec.machine(JOINER)) is not None
    assert host.sh("pgrep -x mariadbd", check=False).out == ""


def _is_undone(console: Console) -> bool:
    return console.view().state is RunState.UNDONE


# -- a host that never was a member ------------------------------------------------------------------------------------


@pytest.fixture
def empty_spare(steer: Estate, whole: Whole) -> Iterator[None]:
    """The spare's data folder is empty, on its root file system; its option files are the package's."""
    steer.host("new").sh("systemctl stop mariadb; umount /var/lib/mysql; find /var/lib/mysql -mindepth 1 -delete")
    steer.sql(WRITTEN, "CREATE DATABASE IF NOT EXISTS snapped")
    steer.sql(WRITTEN, "CREATE TABLE snapped.items (id INT AUTO_INCREMENT PRIMARY KEY, t TEXT)")
    try:
        yield
    finally:
        steer.sql(WRITTEN, "DROP DATABASE snapped")
        steer.host("new").sh("systemctl stop mariadb", limit_s=90, check=False)
        steer.host("new").sh("rm -rf /var/lib/mysql.pilothouse-*; find /var/lib/mysql -mindepth 1 -delete", check=False)
        image = ensure_image(steer.spec.host("new").release)
        run(["cp", "-a", "--sparse=always", f"{image}/var/lib/mysql/.", f"{root(steer.spec, 'new')}/var/lib/mysql"])
        steer.reboot("new")  # the mount comes back with it


def test_that_a_host_that_never_was_a_member_joins_by_a_snapshot_and_without_an_sst(
    steer: Estate, console: Console, whole: Whole, empty_spare: None
) -> None:
    with Writer(steer, (WRITTEN,)) as writer:
        ran = run_with(console, joiner="new", tables="")
        assert ran.code == 0, ran
        view = console.assert_ended(RunState.DONE, ran)
        steer.wait_synced([*members(steer), "new"], size=4)
        writer.assert_nothing_lost([*members(steer), "new"])
    steps = {s.step.step_id: s for s in view.steps}
    assert "by IST" in " ".join(steps["transfer-new"].evidence)
    for name in members(steer):
        assert (
            steer.addresses["new"] in steer.host(name).sh("my_print_defaults mysqld | grep wsrep.cluster.address").out
        )
    ids = {steer.sql(name, "SELECT @@server_id")[0][0] for name in (*members(steer), "new")}
    assert len(ids) == 4
    assert_free(steer)


def test_that_a_host_that_never_was_a_member_is_a_spare_again_when_its_snapshot_is_taken_back(
    steer: Estate, console: Console, whole: Whole, empty_spare: None
) -> None:
    killed = console.killed_run("settle-new=acting", "snapshot-node", **{**INPUTS, "joiner": "new", "tables": ""})
    assert killed.code != 0, killed
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    steer.wait_synced(size=3)
    assert steer.host("new").sh("ls -A /var/lib/mysql").out == ""
    assert_free(steer)
    whole.assert_as_before()
