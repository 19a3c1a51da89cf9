"""The faults: each breaks one thing on one host the way it breaks in life, and each has its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.lab.estate.breaking import lag, skew, slow
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import cgroups, container, network, proc
from tests.lab.estate.servers import database, galera, group, mongodb, replication
from tests.lab.estate.servers.engine import MYSQL
from tests.lab.estate.spec import EstateSpec

_FILL = f"{database.DATADIR}/lab-fill"


def pause(spec: EstateSpec, name: str) -> None:
    """SIGSTOP to the server: its connections stay open and nobody answers."""
    _signal(spec, name, "STOP")


def resume(spec: EstateSpec, name: str) -> None:
    _signal(spec, name, "CONT")


def _signal(spec: EstateSpec, name: str, signal_name: str) -> None:
    if not container.sh(spec, name, f"pkill -{signal_name} {database.process(spec, name)}", limit_s=15).ok:
        raise LabError(f"no {spec.host(name).engine.process} runs on {name}")


def freeze(spec: EstateSpec, name: str) -> None:
    """Stop every process of the host, pid 1 included; its kernel still answers pings and accepts connections."""
    cgroups.freeze(spec.machine(name), frozen=True)


def thaw(spec: EstateSpec, name: str) -> None:
    cgroups.freeze(spec.machine(name), frozen=False)


def frozen(spec: EstateSpec, name: str) -> bool:
    return cgroups.is_frozen(spec.machine(name))


def throttle(spec: EstateSpec, name: str, percent: float) -> None:
    """Hold the host to `percent` of one processor: in a Galera cluster the node that makes all others wait."""
    cgroups.throttle(spec.machine(name), percent)


def unthrottle(spec: EstateSpec, name: str) -> None:
    cgroups.throttle(spec.machine(name), None)


def empty(spec: EstateSpec, name: str) -> None:
    """Stop the server and delete all of its data; a Galera member's next start takes an SST."""
    if spec.host(name).engine is MYSQL:
        raise LabError(f"{name} runs MySQL, which does not start in an empty data folder")
    database.stop(spec, name)
    done = container.sh(spec, name, f"find {database.DATADIR} -mindepth 1 -delete", limit_s=60)
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip()}")


def fill(spec: EstateSpec, name: str, *, leave_mb: int = 0) -> None:
    """Take all free space of the host's data disk but `leave_mb`, by one file that is reserved and not written."""
    # fallocate takes what it can before it says that there is no more; dd takes the last blocks, which the extent
    # tree of fallocate's own file was given room in
    script = (
        f"free=$(df --output=avail -B1 {database.DATADIR} | tail -1); size=$((free - {leave_mb} * 1048576)); "
        f'[ "$size" -le 0 ] || fallocate -l "$size" {_FILL} 2>/dev/null; '
        f"[ {leave_mb} -gt 0 ] || dd if=/dev/zero of={_FILL}.rest bs=4k 2>/dev/null; "
        f"df --output=avail -B1M {database.DATADIR} | tail -1"
    )
    done = container.sh(spec, name, script, limit_s=60)
    if not done.ok or int(done.out) > leave_mb + 1:
        raise LabError(f"{name}: the data disk would not fill, {done.out.strip()} MiB are free; {done.err.strip()}")


def unfill(spec: EstateSpec, name: str) -> None:
    container.sh(spec, name, f"rm -f {_FILL} {_FILL}.rest", limit_s=30)


def filled(spec: EstateSpec, name: str) -> bool:
    return container.sh(spec, name, f"test -e {_FILL}", limit_s=10).ok


def sshd(spec: EstateSpec, name: str, *, running: bool) -> None:
    """Stop or start the listening sshd; sessions that are open stay open, as in life."""
    verb = "start" if running else "stop"
    done = container.sh(spec, name, f"systemctl {verb} ssh.service", limit_s=30)
    if not done.ok:
        raise LabError(f"{name}: {done.err.strip()}")
    if running:
        container.wait_for_ssh(spec, name)


def sshd_running(spec: EstateSpec, name: str) -> bool:
    return container.sh(spec, name, "systemctl is-active -q ssh.service", limit_s=10).ok


def partition(spec: EstateSpec, names: Sequence[str]) -> None:
    """Part these hosts from the others, silently; the console reaches both sides. Replaces an earlier partition."""
    group = tuple(spec.host(n).name for n in names)
    network.isolate(spec, group, network.isolation(spec)[1])


def cut(spec: EstateSpec, names: Sequence[str]) -> None:
    """Part each of these hosts from everybody, console included; adds to those that are cut already."""
    group, before = network.isolation(spec)
    network.isolate(spec, group, tuple(sorted({*before, *(spec.host(n).name for n in names)})))


def heal(spec: EstateSpec) -> None:
    """End every network fault of the estate: partition, cut and slow wires."""
    network.isolate(spec, (), ())
    for host in spec.hosts:
        if slow.wire_of(spec, host.name) is not None:
            slow.heal(spec, host.name)


def undo(spec: EstateSpec, *, limit_s: float = 180.0) -> None:
    """Undo every fault and get every server going again: the state `up` left, whatever was done since.

    Data stay as they are, except on a member that has to take an SST. An asynchronous source that lost its data, or
    errant transactions written by hand, are not undone: take the estate down and up again.
    """
    heal(spec)
    with ThreadPoolExecutor(len(spec.hosts)) as pool:
        list(pool.map(lambda host: _undo_host(spec, host.name), spec.hosts))
    for host in spec.hosts:  # one after the other: each restarts its server
        if skew.offset(spec, host.name):
            skew.skew(spec, host.name, 0)
    if galera.members(spec):
        galera.recover(spec, limit_s=limit_s)
        return
    if mongodb.hosts(spec):
        mongodb.recover(spec)
        return
    for host in spec.hosts:
        if database.pid(spec, host.name) is None:
            database.start(spec, host.name, limit_s=limit_s)
        lag.unlag(spec, host.name)
    if group.members(spec):
        group.recover(spec, limit_s=limit_s)
    for name in replication.replicas(spec):
        replication.repair(spec, name)


def _undo_host(spec: EstateSpec, name: str) -> None:
    if proc.leader_pid(spec.machine(name)) is None:
        container.boot(spec, name)
        container.wait_for_ssh(spec, name)
    thaw(spec, name)
    unthrottle(spec, name)
    container.wait_for_systemd(spec, name)
    container.sh(spec, name, f"pkill -CONT {database.process(spec, name)}", limit_s=15)
    unfill(spec, name)
    if not sshd_running(spec, name):
        sshd(spec, name, running=True)


def active(spec: EstateSpec, name: str) -> tuple[str, ...]:
    """The faults of a host that are on now, read from the kernel and the host itself, one phrase each."""
    group, cut_off = network.isolation(spec)
    found = ["partitioned"] if name in group else []
    found += ["cut"] if name in cut_off else []
    wire = slow.wire_of(spec, name)
    found += [f"slow ({wire})"] if wire is not None else []
    held = cgroups.throttled(spec.machine(name))
    found += [f"throttled to {held:g} %"] if held is not None else []
    if frozen(spec, name):
        return (*found, "frozen")
    if proc.leader_pid(spec.machine(name)) is None:
        return (*found, "host down")
    shifted = skew.offset(spec, name)
    found += ["paused"] if database.paused(spec, name) else []
    found += ["lagging"] if lag.lagged(spec, name) else []
    found += ["disk filled"] if filled(spec, name) else []
    found += [f"clock {shifted:+d} s"] if shifted else []
    found += [] if sshd_running(spec, name) else ["sshd stopped"]
    return tuple(found)
