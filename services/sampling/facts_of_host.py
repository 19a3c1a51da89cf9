"""The merged state of one host between its three roads (SQL, OS stream, single commands), under one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from services.clock import Clock
from services.connections.ports import ObserverSession
from services.discovery.families.registry import registered
from services.discovery.looks.probe import log_facts, machine_facts, ways_missing
from services.discovery.naming import name_of
from services.discovery.shared_hosts import machine_of, of_entry, own_pid
from services.errors import UNREACHED, UserError
from services.facts.absence import SEVERAL
from services.facts.machine.daemons import DAEMONS
from services.facts.machine.os_stream import OsReading
from services.facts.model import DiskFacts, MachineFacts, NodeFacts, Problem, TransferFacts
from services.inventory.model import HostEntry
from services.sampling.clock_drift import ClockDrift
from services.sampling.past.starts import same_start, was_up
from services.sampling.polled import Polled
from services.types import Reach

MOST_STARTS = 1_000
"""Of one host in one run of the console: each is a name in the history for ever."""
_OWN = frozenset({"sql", "ssh", "numbers", "log"})
"""Parts of problems that this state tells itself, each time anew."""


class HostState:
    """What is known of one host, and when each part last answered. Safe to call from several threads."""

    def __init__(
        self,
        entry: HostEntry,
        clock: Clock,
        first: NodeFacts | None,
        epoch: str = "",
        reached: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """Begin with what is known.

        Args:
            reached: tells where SSH leads (ObserverSession.reached).
        """
        self._clock = clock
        self._entry = entry
        self._reached = reached
        self._lock = threading.Lock()
        bare = NodeFacts(host=entry.name, at=clock.wall(), address=entry.address)
        missing = ways_missing(ssh=entry.reads_machine, sql=entry.sql is not None)
        self._facts = of_entry(replace(first or bare, no_way=missing), entry)
        self._ways = (entry.reads_machine, entry.sql is not None)
        self._sql_problem: Problem | None = None
        self._ssh_problem: Problem | None = None
        self._names_problem: Problem | None = None
        self._machine = self._facts.machine
        self._transfers: tuple[TransferFacts, ...] = self._facts.transfers
        self._transfers_at = self._facts.transfers_at
        self._log_problem: Problem | None = None
        self._watched_datadir = ""
        self._os_values: Mapping[str, float] = {}
        self._os_mono: float | None = None
        self._process_seen = self._several_seen = False
        self._sql_mono = clock.monotonic()
        self._sql_heard = self._facts.sql_at is not None
        self._ssh_heard = self._facts.ssh_at is not None
        self._epoch = epoch
        self._starts = 0
        self._clock_drift = ClockDrift()
        self._up: tuple[float | None, float] = (None, 0.0)

    # --- what the threads ask ----------------------------------------------------------------------------------------

    def facts(self) -> NodeFacts:
        """Return the newest merged facts."""
        with self._lock:
            return self._facts

    def name(self) -> str:
        """Return what the host is called in what people read."""
        return name_of(self._entry.name, self.facts(), written=not self._entry.ways_of)

    def datadir(self) -> str:
        """Return the data directory to watch, and remember that it is watched."""
        with self._lock:
            self._watched_datadir = self._datadir()
            return self._watched_datadir

    def datadir_changed(self) -> bool:
        """Return whether SQL has since named another data directory than the watched one."""
        with self._lock:
            return self._datadir().rstrip("/") != self._watched_datadir.rstrip("/")

    def os_mono(self) -> float | None:
        """Return when the last OS reading came (monotonic seconds)."""
        with self._lock:
            return self._os_mono

    def take_os_values(self) -> Mapping[str, float]:
        """Return the OS counters that came since the last call, {} when none did."""
        with self._lock:
            values, self._os_values = self._os_values, {}
            return values

    def sql_silent_for(self, mono: float) -> float:
        """Return the seconds since SQL last answered (or since watching began)."""
        with self._lock:
            return mono - self._sql_mono

    def sql_closed(self) -> bool:
        """Return whether the server's port is what stands in the way (a refused login is not knocked at again)."""
        with self._lock:
            return self._sql_problem is not None and self._sql_problem.code in UNREACHED

    def sql_epoch(self) -> str:
        """Return what changes when the server restarts or is replaced."""
        with self._lock:
            return self._epoch

    def transfer_suspected(self) -> bool:
        """Return whether a state transfer may be under way here, so that its progress is worth asking for."""
        facts = self.facts()
        if any(t.ended is None for t in facts.transfers):
            return True
        if self._sql_problem is None:
            return registered().moving(facts)
        process = facts.machine.process_state if facts.machine else ""
        return process not in {"", "T"}

    # --- what the threads tell ---------------------------------------------------------------------------------------

    def sql_answered(self, result: Polled) -> NodeFacts:
        """Merge one poll of the server."""
        with self._lock:
            self._sql_problem, self._sql_heard, self._sql_mono = None, True, result.mono
            return self._merged(self._with_epoch(result.merged(self._facts)))

    def sql_failed(self, problem: UserError) -> NodeFacts:
        """Remember why SQL does not answer; what it said before stays, with its own age."""
        with self._lock:
            self._sql_problem, self._sql_heard = Problem("sql", str(problem), problem.code, problem.bare), True
            return self._merged(replace(self._facts, at=self._clock.wall()))

    def os_answered(self, reading: OsReading, at: float, mono: float) -> NodeFacts:
        """Merge one OS reading."""
        with self._lock:
            self._ssh_problem, self._ssh_heard, self._os_mono = None, True, mono
            self._os_values = reading.values
            machine = self._machine or MachineFacts()
            disk = machine.data_disk
            if reading.data_disk_size is not None:
                mount = self._datadir()
                disk = DiskFacts(mount, reading.data_device, reading.data_disk_size, reading.data_disk_free)
            offset = self._clock_drift.offset(machine.clock_offset_s, reading.at_host - at)
            self._machine = replace(
                machine,
                data_disk=disk,
                process_state=self._state_of(reading, machine),
                process_doubt=self._doubt_of(reading, machine),
                process_pid=reading.process_pid,
                process_owner=reading.process_owner,
                clock_offset_s=offset,
                disk_devices=reading.disk_devices,
                net_devices=reading.net_devices,
            )
            return self._merged(replace(self._facts, at=at, ssh_at=at))

    def _state_of(self, reading: OsReading, machine: MachineFacts) -> str:
        """Return the process's state: one that was seen here and is not any more is gone, else its absence is shown."""
        self._process_seen = self._process_seen or reading.process_pid is not None
        gone = self._process_seen or machine.process_state == ""
        return reading.process_state or ("" if gone else "?")

    def _doubt_of(self, reading: OsReading, machine: MachineFacts) -> str:
        """Return why the state would not be known. Once several were seen, one that is left may be another's."""
        self._several_seen = self._several_seen or not reading.process_alone
        if reading.process_state:
            return SEVERAL if self._several_seen else ""
        return machine.process_doubt

    def ssh_failed(self, problem: UserError) -> NodeFacts:
        """Remember why SSH does not answer."""
        with self._lock:
            self._ssh_problem, self._ssh_heard = Problem("ssh", str(problem), problem.code, problem.bare), True
            return self._merged(replace(self._facts, at=self._clock.wall()))

    def names_refused(self, problem: Problem | None) -> None:
        """Remember that the host makes up names of numbers; it is told with the next facts."""
        with self._lock:
            self._names_problem = problem

    def read_machine(self, session: ObserverSession) -> MachineFacts | None:
        """Read the static facts of the host (blocking)."""
        return machine_facts(session, self._clock, self._datadir())

    def machine_read(self, machine: MachineFacts | None) -> None:
        """Merge static facts, keeping what the stream knows better."""
        if machine is None:
            return
        with self._lock:
            old = self._machine
            if old is not None:
                # What is read with the log, by itself.
                machine = replace(machine, group_error=old.group_error, transfer=old.transfer)
            if old is not None and self._os_mono is not None:
                machine = replace(
                    machine,
                    process_state=machine.process_state if old.process_state == "?" else old.process_state,
                    process_doubt=machine.process_doubt if old.process_state == "?" else old.process_doubt,
                    process_pid=old.process_pid,
                    process_owner=old.process_owner,
                    data_disk=old.data_disk or machine.data_disk,
                    disk_devices=old.disk_devices,
                    net_devices=old.net_devices,
                )
            self._machine = machine
            self._facts = self._merged(self._facts)

    def logs_read(self, session: ObserverSession) -> NodeFacts:
        """Read transfer lines and the unit's status (blocking), merge them; of a kind that tells of none, nothing."""
        if not DAEMONS[self._entry.kind].tells_transfers:
            return self.facts()
        logged = log_facts(session, self.facts(), self._clock)
        machine = logged.machine
        with self._lock:
            self._transfers, self._transfers_at, self._log_problem = logged.transfers, logged.at, logged.problem
            if machine is not None:
                base = self._machine or MachineFacts()
                self._machine = replace(
                    base,
                    unit=machine.unit,
                    unit_state=machine.unit_state,
                    unit_status_text=machine.unit_status_text,
                    group_error=machine.group_error,
                    sst_bytes=machine.sst_bytes,
                    gcache_pages_bytes=machine.gcache_pages_bytes,
                    gcache_disk_free=machine.gcache_disk_free,
                    transfer=machine.transfer,
                )
            return self._merged(self._facts)

    def _with_epoch(self, fresh: NodeFacts) -> NodeFacts:
        """Keep the epoch while the server is the same start of the same server.

        Uptime comes in whole seconds and the clocks differ, so the moment of the start is computed a little differently
        each time, in the next run of the console too: a few seconds make no restart. Nor do many, where the uptime
        itself shows that the server was up when it last answered.
        """
        server = fresh.server
        if server is None or server.started_at is None:
            return fresh
        (before, then), self._up = self._up, (server.uptime_s, self._sql_mono)
        now = f"{server.server_uuid}:{server.started_at}"
        uuid, _, started = self._epoch.rpartition(":")
        stayed = bool(started) and uuid == server.server_uuid and was_up(server.uptime_s, before, self._sql_mono - then)
        if stayed or same_start(self._epoch, now):
            return replace(fresh, server=replace(server, started_at=float(self._epoch.rpartition(":")[2])))
        if self._starts < MOST_STARTS:  # one that starts anew each second is only making it up
            self._starts += 1
            self._epoch = f"{server.server_uuid}:{server.started_at:.0f}"
        return fresh

    # --- merging (the lock is held) ----------------------------------------------------------------------------------

    def _merged(self, base: NodeFacts) -> NodeFacts:
        own = tuple(p for p in base.problems if p.code not in {"sql-way", "ssh-way"} and p.part not in _OWN)
        told = (self._sql_problem, self._ssh_problem, self._names_problem, self._log_problem)
        ways = tuple(p for p in told if p is not None)
        fresh_sql = tuple(p for p in base.problems if p.part == "sql") if self._sql_problem is None else ()
        self._facts = replace(
            base,
            reach=self._reach(),
            machine=machine_of(self._machine, self._entry, own_pid(base)),
            transfers=self._transfers,
            transfers_at=self._transfers_at,
            reached=self._reached() or base.reached,
            problems=own + fresh_sql + ways,
        )
        return self._facts

    def _reach(self) -> Reach:
        ssh = self._ways[0] and self._ssh_heard and self._ssh_problem is None
        sql = self._ways[1] and self._sql_heard and self._sql_problem is None
        if (self._ways[0] and not self._ssh_heard) or (self._ways[1] and not self._sql_heard):
            # One road has not been tried to its end: calling the host half reached now would be a false alarm.
            return Reach.NOT_TRIED if not (ssh or sql) else self._facts.reach
        if ssh and sql:
            return Reach.FULL
        if ssh:
            return Reach.SSH_ONLY
        return Reach.SQL_ONLY if sql else Reach.NONE

    def _datadir(self) -> str:
        server = self._facts.server
        return server.datadir if server is not None and server.datadir else DAEMONS[self._entry.kind].datadir
