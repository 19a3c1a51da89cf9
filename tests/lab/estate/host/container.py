"""A host as a running container: boot, run a command inside, stop, reboot."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from pathlib import Path

from tests.lab.estate.errors import LabError
from tests.lab.estate.host import cgroups, proc, rootfs
from tests.lab.estate.paths import state_root
from tests.lab.estate.shell import Result, run, spawn
from tests.lab.estate.spec import EstateSpec
from tests.lab.estate.waiting import wait_until

_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}


def boot(spec: EstateSpec, name: str) -> None:
    """Start the container in a session and control groups of its own; returns at once (see `wait_for_ssh`)."""
    machine = spec.machine(name)
    if proc.nspawn_pid(machine) is not None:
        return
    logs = state_root() / spec.name / "log"
    logs.mkdir(parents=True, exist_ok=True)
    argv = [
        "systemd-nspawn",
        "--quiet",
        f"--directory={rootfs.root(spec, name)}",
        "--boot",
        f"--machine={machine}",
        f"--hostname={name}",
        f"--network-namespace-path=/run/netns/{spec.link(name)}",
        "--capability=CAP_NET_ADMIN",
        f"--bind={rootfs.data(spec, name)}:/var/lib/mysql",
        "--register=no",
        "--keep-unit",
        "--resolv-conf=off",
        "--timezone=off",
        "--link-journal=no",
        "--console=pipe",
    ]
    spawn(
        cgroups.entering(machine, argv),
        logs / f"{name}.console",
        env={**os.environ, **_cgroup_setting(spec.host(name).release)},
    )

    def reason() -> str | None:
        return "no systemd-nspawn process" if proc.nspawn_pid(machine) is None else None

    wait_until(f"the container of {name}", reason, limit_s=10, every_s=0.02)


def _cgroup_setting(release: str) -> dict[str, str]:
    """systemd 256 and later refuse cgroup v1: give those containers the unified hierarchy whatever the machine has."""
    return {} if release == "bookworm" else {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}


def boot_and_wait(spec: EstateSpec, name: str) -> None:
    """Boot a host and wait until its sshd and systemd answer; one whose container ends on its way up boots once more.

    Seen once, while six estates came up at the same moment (see limits.py for what it probably lacked).
    """
    boot(spec, name)
    try:
        wait_for_ssh(spec, name)
    except LabError:
        if proc.nspawn_pid(spec.machine(name)) is not None:
            raise
        boot(spec, name)
        wait_for_ssh(spec, name)
    wait_for_systemd(spec, name)


def wait_for_ssh(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> float:
    """Wait until sshd of the host greets; return the seconds that took."""
    address = spec.address(name)

    def reason() -> str | None:
        if proc.nspawn_pid(spec.machine(name)) is None:
            tail = console_tail(spec, name)
            raise LabError(f"the container of {name} has ended; its last words: {tail}")
        try:
            with socket.create_connection((address, 22), timeout=1) as talk:
                talk.settimeout(2)
                greeting = talk.recv(16)
        except OSError as exc:
            return f"{address}:22 {exc}"
        return None if greeting.startswith(b"SSH-") else "no SSH greeting"

    return wait_until(f"sshd of {name}", reason, limit_s=limit_s, every_s=0.1)


def console_tail(spec: EstateSpec, name: str) -> str:
    """Last lines the container wrote on its console."""
    path = state_root() / spec.name / "log" / f"{name}.console"
    return " | ".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]) if path.exists() else ""


def sh(spec: EstateSpec, name: str, command: str, *, stdin: str | None = None, limit_s: float = 60.0) -> Result:
    """Run a shell command as root inside the host through its namespaces: needs neither its network nor its sshd."""
    leader = proc.leader_pid(spec.machine(name))
    if leader is None:
        raise LabError(f"{name} is not running")
    argv = ["nsenter", f"--target={leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
    argv += ["--", "/bin/sh", "-c", command]
    return run(argv, stdin=stdin, limit_s=limit_s, check=False, env=_ENVIRONMENT)


def wait_for_systemd(spec: EstateSpec, name: str, *, limit_s: float = 60.0) -> None:
    """Wait until the host's systemd takes jobs (it listens on its private socket)."""

    def reason() -> str | None:
        if proc.leader_pid(spec.machine(name)) is None:
            return "no pid 1 yet"
        asked = sh(spec, name, "systemctl is-system-running", limit_s=20)
        state = asked.out.strip()
        return None if state in ("running", "degraded", "starting") else f"systemd says {state or asked.err.strip()}"

    wait_until(f"systemd of {name}", reason, limit_s=limit_s)


def reboot(spec: EstateSpec, name: str, *, limit_s: float = 90.0) -> None:
    """Reboot the host and wait for its sshd; its database stays down, as after `up` of a host without autostart."""
    before = proc.leader_pid(spec.machine(name))
    sh(spec, name, "systemctl reboot --no-block", limit_s=20)

    def reason() -> str | None:
        now = proc.leader_pid(spec.machine(name))
        return None if now is not None and now != before else "pid 1 is still the old one"

    wait_until(f"the reboot of {name}", reason, limit_s=limit_s)
    wait_for_systemd(spec, name)
    wait_for_ssh(spec, name)


def power_off(spec: EstateSpec, name: str, *, limit_s: float = 10.0) -> None:
    """Take the host down and whatever of it would not go: used by `down`, where speed counts more than a clean stop."""
    machine = spec.machine(name)
    cgroups.freeze(machine, frozen=False)
    leader, supervisor = proc.leader_pid(machine), proc.nspawn_pid(machine)
    if leader is not None:
        os.kill(leader, signal.SIGKILL)  # the kernel ends every process of the pid namespace with its pid 1
    if supervisor is not None:
        proc.end(supervisor, limit_s=limit_s)
    cgroups.remove(machine)
    for folder in ("propagate", "unix-export"):
        path = Path("/run/systemd/nspawn", folder, machine)
        run(["umount", str(path)], check=False)
        shutil.rmtree(path, ignore_errors=True)
