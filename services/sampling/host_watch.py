"""One watched host: SQL polled each second, OS counters streamed, slow reads in between. It never raises; it tells.

Three threads, because each waits on something else: the SQL connection, the long-lived SSH channel, and single commands
over SSH. Each writes its part of the host's state under one lock and hands the merged facts to the hub.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from services.boundary import unforeseen
from services.clock import Backoff, Clock
from services.connections.ports import ObserverSession
from services.errors import TimedOut, UserError
from services.events import Event
from services.facts.machine.os_stream import OsParser, OsReading, os_command
from services.facts.model import MachineFacts, NodeFacts
from services.facts.server.variable_changes import changed_variables
from services.i18n import tr
from services.inventory.model import HostEntry
from services.sampling.cost import PollCost
from services.sampling.facts_of_host import HostState
from services.sampling.metrics.derived_now import DerivedNow
from services.sampling.metrics.kept_names import KeptNames
from services.sampling.own_pace import OwnPace
from services.sampling.past.past_positions import Past
from services.sampling.past.starts import same_start
from services.sampling.polled import Polled
from services.sampling.server_poll import server_poll
from services.sampling.settings import WatchSettings
from services.series import Sample
from services.types import Health

log = logging.getLogger(__name__)

SQL_AFTER_OS_S = 0.1
"""SQL is polled so long after the host's OS reading came: then each sample holds one fresh reading, none twice."""
SQL_SILENT = 1.7
"""Intervals without an SQL sample after which OS readings become samples of their own."""
KNOCK_S = 600.0
"""For so long after a server's process appeared its port is tried each second (a state transfer keeps it closed)."""


class Sink(Protocol):
    """Where a watched host's news go."""

    def put_facts(self, facts: NodeFacts) -> None:
        """Take the newest facts."""

    def put_sample(self, sample: Sample) -> None:
        """Take a sample."""

    def tell(self, event: Event) -> None:
        """Take an event."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a host's watch begins with.

    Attributes:
        phase_s: offset inside the second at which SQL is polled, spread over hosts so that polls never bunch.
        first: facts from discovery, None for a seed that was not asked yet.
        epoch: of the newest sample in the history, so that a new run of the console makes no restart.
        first_in_s: the very first poll comes that soon, where that is before its phase: nobody waits for an empty page.
        pace: how late the console itself is; None: it is never late.
    """

    phase_s: float
    first: NodeFacts | None = None
    epoch: str = ""
    first_in_s: float = math.inf
    pace: OwnPace | None = None


@dataclass
class _Threads:
    """The host's threads, what ends them, and what ends the waits of each between two tries."""

    stop: threading.Event = field(default_factory=threading.Event)
    os_again: threading.Event = field(default_factory=threading.Event)
    slow_again: threading.Event = field(default_factory=threading.Event)
    running: list[threading.Thread] = field(default_factory=list)


class HostWatch:
    """Watches one host until `stop`.

    Args:
        entry: the host; session: its Observer session (opened lazily by its first use, closed here).
    """

    def __init__(
        self,
        entry: HostEntry,
        session: ObserverSession,
        sink: Sink,
        clock: Clock,
        cost: PollCost,
        settings: WatchSettings,
        begin: Beginning,
    ) -> None:
        self.entry = entry
        self._session = session
        self._sink = sink
        self._clock = clock
        self._cost = cost
        self._settings = settings
        self._phase_s, self._pace = begin.phase_s, begin.pace
        self._first_in_s = min(begin.first_in_s, begin.phase_s)
        self._state = HostState(entry, clock, begin.first, begin.epoch, lambda: session.reached)
        self._server = server_poll(entry, session, clock, settings)
        self._derived = DerivedNow()
        self._names = KeptNames()
        self._past: Past | None = None
        self._variables: Mapping[str, str] = {}
        self._process_pid: int | None = None
        self._knock_until = 0.0
        self._threads = _Threads()

    def start(self) -> None:
        """Start the threads this host's ways allow."""
        jobs = []
        if self._session.has_sql:
            jobs.append(("sql", self._run_sql))
        if self._session.has_ssh:
            jobs += [("os", self._run_os), ("slow", self._run_slow)]
        for name, job in jobs:
            thread = threading.Thread(target=job, name=f"pilothouse-{name}-{self.entry.name}", daemon=True)
            self._threads.running.append(thread)
            thread.start()

    def recall(self, past: Past) -> None:
        """Take where the server stood before this run of the console; its SQL thread uses it with its next poll."""
        self._past = past

    def request_stop(self) -> None:
        """Ask the threads to end and unblock whatever they wait for."""
        self._threads.stop.set()
        self._threads.os_again.set()
        self._threads.slow_again.set()
        self._session.close()

    def try_now(self) -> None:
        """Ask the host again at once, whatever is left of the waits between two tries; from any thread."""
        self._session.try_now()
        self._threads.os_again.set()
        self._threads.slow_again.set()

    def _rest(self, seconds: float, again: threading.Event) -> bool:
        """Wait between two tries, or until a person wants one now; return whether the watch ends."""
        self._clock.sleep(seconds, again)
        again.clear()
        return self._threads.stop.is_set()

    def join(self, limit_s: float = 5.0) -> None:
        """Wait for the threads (call `request_stop` first)."""
        deadline = self._clock.monotonic() + limit_s
        for thread in self._threads.running:
            thread.join(max(0.1, deadline - self._clock.monotonic()))
            if thread.is_alive():
                log.error("%s did not end within %g s", thread.name, limit_s)

    # --- SQL -------------------------------------------------------------------------------------------------------

    def _run_sql(self) -> None:
        interval = self._settings.interval_s
        due = self._clock.monotonic() + self._first_in_s
        early = self._phase_s - self._first_in_s
        while not self._clock.sleep(due - self._clock.monotonic(), self._threads.stop):
            started = self._clock.monotonic()
            answered = False
            try:
                answered = self._poll_once()
            except BaseException as problem:
                log.exception("polling %s failed unexpectedly", self.entry.name)
                told = unforeseen(problem, tr("Reading the host's answers"), self.entry.name)
                self._sink.put_facts(self._state.sql_failed(told))
            ended = self._clock.monotonic()
            # After an early first poll into the phase: half a second later at least, one and a half at most.
            due += early if early >= interval / 2 else early + interval
            early = 0.0
            due += self._towards_os_phase(due)
            missed = int(max(0.0, ended - due) // interval)
            due += missed * interval
            self._cost.polled((ended - started) * 1000.0, missed, answered=answered)

    def _towards_os_phase(self, due: float) -> float:
        """Return the small correction (at most 50 ms a second) that keeps the poll just behind the OS reading."""
        came = self._state.os_mono()
        if came is None:
            return 0.0
        interval = self._settings.interval_s
        behind = (came + SQL_AFTER_OS_S - due + interval / 2) % interval - interval / 2
        return max(-0.05, min(0.05, behind))

    def _poll_once(self) -> bool:
        """Poll, and tell what came; return whether the server answered."""
        began = self._clock.monotonic()
        try:
            result = self._server.poll()
        except UserError as problem:
            if not self._threads.stop.is_set():
                self._server.forget()
                if not self._late_ourselves(problem, began):
                    self._sink.put_facts(self._state.sql_failed(problem))
            return False
        facts = self._state.sql_answered(result)
        self._tell_changes(result)
        values = result.values(facts)
        self._recall()
        values.update(self._derived.values(facts, values, result.at))
        values.update(self._state.take_os_values())
        self._put_sample(result.at, result.mono, values)
        self._sink.put_facts(facts)
        return True

    def _late_ourselves(self, problem: UserError, began: float) -> bool:
        """Return whether a limit ran out while nobody here ran: that says nothing of the host, whose facts grow old."""
        return isinstance(problem, TimedOut) and self._pace is not None and self._pace.was_late(began)

    def _recall(self) -> None:
        past, self._past = self._past, None
        if past is not None and same_start(past.epoch, self._state.sql_epoch()):
            self._derived.recall(past.positions)

    def _tell_changes(self, result: Polled) -> None:
        """Tell which settings changed since the last reading; across a restart too, for that is when they do."""
        if result.variables is self._variables:
            return
        old, self._variables = self._variables, result.variables
        for phrase in changed_variables(old, result.variables):
            text = f"{self._state.name()}: {phrase}"
            self._sink.tell(Event(result.at, "variable", text, Health.WARN, node_id=self.entry.name))

    # --- OS stream -------------------------------------------------------------------------------------------------

    def _run_os(self) -> None:
        backoff = Backoff(first=1.0, most=15.0)
        shell = "bash"
        while not self._threads.stop.is_set():
            try:
                if self._stream_os(shell):
                    backoff.reset()
                else:
                    shell = "sh" if shell == "bash" else "bash"  # nothing came: perhaps there is no bash
                    self._read_machine()  # it says so where no command at all is run for the login
                self._ssh_trouble(UserError(tr("The stream of OS counters ended."), host=self.entry.name))
            except UserError as problem:
                if not self._late_ourselves(problem, self._clock.monotonic() - self._settings.silence_s):
                    self._ssh_trouble(problem)
            except BaseException as problem:
                log.exception("the OS stream of %s failed unexpectedly", self.entry.name)
                self._ssh_trouble(unforeseen(problem, tr("Reading the host's answers"), self.entry.name))
            if self._rest(backoff.next(), self._threads.os_again):
                return

    def _ssh_trouble(self, problem: UserError) -> None:
        if not self._threads.stop.is_set():
            self._sink.put_facts(self._state.ssh_failed(problem))

    def _stream_os(self, shell: str) -> bool:
        """Read one stream to its end; return whether any reading came."""
        parser, any_reading = OsParser(), False
        stream = self._session.stream(os_command(self._state.datadir(), shell, self.entry.kind))
        try:
            for line in stream.lines(limit_s=self._settings.silence_s):
                if self._threads.stop.is_set():
                    break
                reading = parser.feed(line)
                if reading is not None:
                    any_reading = True
                    self._take_reading(reading)
                if self._state.datadir_changed():
                    break  # SQL has told where the data lives: watch that file system instead
        finally:
            stream.close()
        return any_reading

    def _take_reading(self, reading: OsReading) -> None:
        at, mono = self._clock.wall(), self._clock.monotonic()
        if reading.process_pid != self._process_pid:
            self._process_pid = reading.process_pid
            self._knock_until = mono + KNOCK_S if reading.process_pid is not None else 0.0
        if mono < self._knock_until and self._state.sql_closed():
            # The server's process has just come back: its port opens any moment, waiting out a backoff would hide it.
            self._session.try_now()
        self._sink.put_facts(self._state.os_answered(reading, at, mono))
        if self._state.sql_silent_for(mono) > SQL_SILENT * self._settings.interval_s:
            # The database says nothing: the machine below it goes on being recorded.
            values: Mapping[str, float] = self._state.take_os_values()
            if values:
                self._put_sample(at, mono, values)

    def _put_sample(self, at: float, mono: float, values: Mapping[str, float]) -> None:
        kept = self._names.kept(values)
        if self._names.refused:
            self._state.names_refused(self._names.problem())
        self._sink.put_sample(Sample(self.entry.name, at, mono, kept, self._state.sql_epoch()))

    # --- single commands over SSH ----------------------------------------------------------------------------------

    def _run_slow(self) -> None:
        machine_due = logs_due = 0.0
        backoff = Backoff(first=2.0, most=15.0)
        while not self._threads.stop.is_set():
            now = self._clock.monotonic()
            try:
                if now >= machine_due:
                    self._state.machine_read(self._read_machine())
                    machine_due = now + self._settings.machine_s
                if now >= logs_due:
                    self._sink.put_facts(self._state.logs_read(self._session))
                    busy = self._state.transfer_suspected()
                    logs_due = now + (self._settings.logs_s if busy else self._settings.logs_idle_s)
                elif self._state.transfer_suspected():
                    logs_due = min(logs_due, now + self._settings.logs_s)
                backoff.reset()
                wait = 0.5
            except UserError as problem:
                log.debug("%s: %s", self.entry.name, problem)
                wait = backoff.next()
            except BaseException:
                log.exception("slow reads of %s failed unexpectedly", self.entry.name)
                wait = backoff.next()
            if self._rest(wait, self._threads.slow_again):
                return

    def _read_machine(self) -> MachineFacts | None:
        return self._state.read_machine(self._session)
