"""An estate as one object: bring it up, look at it, take it down."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.lab.estate import client, tls, vault
from tests.lab.estate.breaking import breaks, group_faults, lag, skew, slow
from tests.lab.estate.errors import LabError
from tests.lab.estate.host import config, container, limits, network, proc, quiet, rootfs
from tests.lab.estate.host.image import ensure_image
from tests.lab.estate.leftovers import lab_processes, leftovers
from tests.lab.estate.locks import lab_lock
from tests.lab.estate.paths import private_dir, state_root
from tests.lab.estate.servers import database, galera, group, load, mongodb, replication
from tests.lab.estate.shell import Result
from tests.lab.estate.spec import EstateSpec, HostSpec, estate_spec
from tests.lab.estate.waiting import wait_until

_DOWN_S = 60.0
"""One round took 22 s on a busy machine, and what it ended last left groups that only the next one takes away."""


@dataclass(frozen=True, slots=True)
class Host:
    """One host of a running estate, for tests: its address and a shell on it."""

    spec: EstateSpec
    name: str

    @property
    def address(self) -> str:
        return self.spec.address(self.name)

    def sh(self, command: str, *, stdin: str | None = None, limit_s: float = 60.0, check: bool = True) -> Result:
        """Run a shell command as root on the host (through its namespaces, so also when its network is cut)."""
        done = container.sh(self.spec, self.name, command, stdin=stdin, limit_s=limit_s)
        if check and not done.ok:
            raise LabError(f"exit {done.code} on {self.name}: {(done.err or done.out).strip()}")
        return done


class Estate:
    """The estate called `name` ("galera", "async", "two-versions"); making the object touches nothing."""

    def __init__(self, name: str) -> None:
        self.spec = estate_spec(name)

    # ------------------------------------------------------------------ facts
    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def client_dir(self) -> Path:
        return client.client_dir(self.spec)

    @property
    def addresses(self) -> dict[str, str]:
        return {h.name: self.spec.address(h.name) for h in self.spec.hosts}

    @property
    def hosts(self) -> tuple[HostSpec, ...]:
        return self.spec.hosts

    def host(self, name: str) -> Host:
        return Host(self.spec, self.spec.host(name).name)

    def environment(self) -> dict[str, str]:
        """The variables inventory.toml refers to."""
        return vault.environment()

    def is_up(self) -> bool:
        """Whether `up` has finished and every container still runs."""
        return self._mark.exists() and all(proc.leader_pid(self.spec.machine(h.name)) for h in self.hosts)

    @property
    def formed_s(self) -> float:
        """How long the databases took, at `up`, from the first start until all replicated."""
        return float(json.loads(self._mark.read_text(encoding="utf-8"))["formed_s"])

    @property
    def _mark(self) -> Path:
        return state_root() / self.spec.name / "estate.json"

    # ------------------------------------------------------------------ life
    def up(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Bring the estate up and form it. When it is up already: check that its hosts answer, change nothing.

        What a killed run left half-made is taken down first.
        """
        with lab_lock(f"estate-{self.name}"):
            if self.is_up():
                for host in self.hosts:
                    container.wait_for_systemd(self.spec, host.name)
                say(f"{self.name} is up already")
                return
            if leftovers((self.spec,)):
                say("removing what an earlier run left")
                self._take_down()
            for release in sorted({h.release for h in self.hosts}):
                say(f"base image {release}")
                ensure_image(release)
            self._make(say)

    def _make(self, say: Callable[[str], None]) -> None:
        spec = self.spec
        names = [h.name for h in self.hosts]
        if done := limits.give_room():
            say(done)
        say("network, disks and keys")
        vault.load()
        client.make_keys(spec)
        tls.make_ca(spec)
        network.up(spec)
        with ThreadPoolExecutor(max_workers=len(names)) as pool:
            list(pool.map(self._make_host, names))
            client.write_client(spec)
            say("booting " + ", ".join(names))
            list(pool.map(lambda name: container.boot_and_wait(spec, name), names))
            list(pool.map(lambda name: quiet.assert_quiet(spec, name), names))
        say("starting the databases")
        began = time.monotonic()
        kinds = (
            (galera.form, galera.members),
            (group.form, group.members),
            (replication.form, replication.replicas),
            (mongodb.form, mongodb.hosts),
        )
        with ThreadPoolExecutor(max_workers=len(kinds)) as pool:
            list(pool.map(lambda form: form(spec), [form for form, hosts in kinds if hosts(spec)]))
        about = {"estate": spec.name, "hosts": self.addresses, "formed_s": time.monotonic() - began}
        self._mark.write_text(json.dumps(about), encoding="utf-8")
        say(f"{spec.name} is up")

    def _make_host(self, name: str) -> None:
        empty = (*galera.members(self.spec)[1:], *(h.name for h in mongodb.hosts(self.spec)))
        rootfs.prepare(self.spec, name, filled=name not in empty)
        config.write_host(self.spec, name)

    def down(self, say: Callable[[str], None] = lambda _: None) -> None:
        """Take everything of the estate away, whatever state it is in; LabError naming what would not go."""

        def still_there() -> str | None:
            self._take_down()
            return "; ".join(leftovers((self.spec,))) or None

        # An `up` that was killed leaves children that go on making things for a moment.
        with lab_lock(f"estate-{self.name}"):
            wait_until(f"all of {self.name} to be gone", still_there, limit_s=_DOWN_S, every_s=1.0)
        say(f"{self.name} is down")

    def _take_down(self) -> None:
        spec = self.spec
        self._mark.unlink(missing_ok=True)
        with ThreadPoolExecutor(max_workers=len(self.hosts)) as pool:
            list(pool.map(lambda h: container.power_off(spec, h.name), self.hosts))
        for pid, _ in lab_processes(spec):
            proc.end(pid, limit_s=3)
        network.down(spec)
        rootfs.remove(spec)
        shutil.rmtree(state_root() / spec.name, ignore_errors=True)
        if state_root().is_dir() and not any(p.is_dir() for p in state_root().iterdir()):
            vault.forget()
            private_dir(state_root()).rmdir()

    # ------------------------------------------------------------------ for tests
    def sql(self, host: str, statement: str, *, limit_s: float = 30.0) -> list[list[str]]:
        """Statements as root over the host's own socket; rows of strings."""
        return database.sql(self.spec, self.spec.host(host).name, statement, limit_s=limit_s)

    def wait_synced(self, names: Sequence[str] | None = None, limit_s: float = 120.0, size: int | None = None) -> float:
        """Wait until these members (default: all) are Synced in a primary component; seconds taken."""
        return galera.wait_synced(self.spec, names or galera.members(self.spec), limit_s=limit_s, size=size)

    # ------------------------------------------------------------------ faults (see breaks.py for what each does)
    def kill9(self, host: str) -> None:
        database.kill(self.spec, self.spec.host(host).name)

    def stop(self, host: str, limit_s: float = 60.0) -> bool:
        """Stop the server; False when it had to be killed."""
        return database.stop(self.spec, self.spec.host(host).name, limit_s=limit_s)

    def start(self, host: str, *, wait: bool = True, bootstrap: bool = False, limit_s: float = 180.0) -> None:
        """Start the server, by default until systemd calls it active (a joiner: when its transfer is done)."""
        name = self.spec.host(host).name
        if bootstrap:
            galera.bootstrap(self.spec, name, limit_s=limit_s)
        elif wait:
            database.start(self.spec, name, limit_s=limit_s)
        else:
            database.begin_start(self.spec, name)

    def empty(self, host: str) -> None:
        breaks.empty(self.spec, self.spec.host(host).name)

    def pause(self, host: str) -> None:
        breaks.pause(self.spec, self.spec.host(host).name)

    def resume(self, host: str) -> None:
        breaks.resume(self.spec, self.spec.host(host).name)

    def freeze(self, host: str) -> None:
        breaks.freeze(self.spec, self.spec.host(host).name)

    def thaw(self, host: str) -> None:
        breaks.thaw(self.spec, self.spec.host(host).name)

    def throttle(self, host: str, percent: float) -> None:
        breaks.throttle(self.spec, self.spec.host(host).name, percent)

    def unthrottle(self, host: str) -> None:
        breaks.unthrottle(self.spec, self.spec.host(host).name)

    def partition(self, hosts: Sequence[str]) -> None:
        breaks.partition(self.spec, hosts)

    def cut(self, hosts: Sequence[str]) -> None:
        breaks.cut(self.spec, hosts)

    def slow(self, host: str, *, delay_ms: float = 0.0, rate_kbit: float = 0.0, loss_percent: float = 0.0) -> None:
        slow.slow(self.spec, self.spec.host(host).name, slow.Wire(delay_ms, rate_kbit, loss_percent))

    def heal(self) -> None:
        """End every partition, cut and slow wire."""
        breaks.heal(self.spec)

    def fill(self, host: str, *, leave_mb: int = 0) -> None:
        breaks.fill(self.spec, self.spec.host(host).name, leave_mb=leave_mb)

    def unfill(self, host: str) -> None:
        breaks.unfill(self.spec, self.spec.host(host).name)

    def skew(self, host: str, seconds: int, *, restart: bool = True) -> None:
        skew.skew(self.spec, self.spec.host(host).name, seconds, restart=restart)

    def sshd_stop(self, host: str) -> None:
        breaks.sshd(self.spec, self.spec.host(host).name, running=False)

    def sshd_start(self, host: str) -> None:
        breaks.sshd(self.spec, self.spec.host(host).name, running=True)

    def reboot(self, host: str) -> None:
        container.reboot(self.spec, self.spec.host(host).name)

    def delay(self, replica: str, seconds: int) -> None:
        replication.delay(self.spec, replica, seconds)

    def break_sql(self, replica: str) -> None:
        replication.break_sql(self.spec, replica)

    def break_io(self, replica: str) -> None:
        replication.break_io(self.spec, replica)

    def lag(self, host: str, seconds: int) -> None:
        lag.lag(self.spec, self.spec.host(host).name, seconds)

    def unlag(self, host: str) -> None:
        lag.unlag(self.spec, self.spec.host(host).name)

    def expel(self, host: str) -> None:
        group_faults.expel(self.spec, self.spec.host(host).name)

    def break_member(self, host: str) -> None:
        group_faults.error(self.spec, self.spec.host(host).name)

    def rejoin(self, host: str) -> None:
        group_faults.rejoin(self.spec, self.spec.host(host).name)

    def mode(self, mode: str) -> None:
        """Let one member of the group take writes ("single") or all of them ("multi")."""
        group.switch_mode(self.spec, mode)

    def repair(self, replica: str) -> None:
        replication.repair(self.spec, replica)

    def faults(self, host: str) -> tuple[str, ...]:
        """The faults that are on now, one phrase each; empty for a whole host."""
        return breaks.active(self.spec, self.spec.host(host).name)

    def undo(self) -> None:
        """Undo every fault and start what is stopped: the state `up` left."""
        breaks.undo(self.spec)

    # ------------------------------------------------------------------ load
    def load_start(self, wanted: load.Load | None = None, hosts: Sequence[str] = ()) -> int:
        """Start sysbench (see load.py), bounded in time; its pid."""
        return load.start(self.spec, wanted or load.Load(), hosts)

    def load_stop(self) -> bool:
        return load.stop(self.spec)
