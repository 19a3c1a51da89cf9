"""Budget 5: 100 servers at 1 Hz in one process, polls spread over the second; what the window would feel of it.

A hundred sessions, a thread each, poll one private server (it stands for a hundred: the client's work is the same).
The window is a thread that wants to wake every 16 ms; its lateness beside the polls is compared with its lateness in
the same process at rest, before them.
"""

from __future__ import annotations

import statistics
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

from services.connections.host import HostSession
from tests.bench.model import Row
from tests.bench.support.private_servers import mariadb

SERVERS = 100
SECONDS = 10.0
FRAME_S = 0.016


def lateness_ms(seconds: float) -> list[float]:
    """How late each 16 ms wake-up came, in this thread."""
    late: list[float] = []
    nobody = threading.Event()
    end = time.monotonic() + seconds
    while (planned := time.monotonic() + FRAME_S) < end:
        nobody.wait(FRAME_S)
        late.append((time.monotonic() - planned) * 1000.0)
    return late


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of them don't exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class Schedule:
    """Submits every server's poll at its own place in the second, and counts the polls that came too late."""

    def __init__(self, threads: list[ThreadPoolExecutor], sessions: list[HostSession]) -> None:
        self._threads = threads
        self._sessions = sessions
        self._thread = threading.Thread(target=self._work, name="bench schedule")
        self._stop = threading.Event()
        self.done: list[Future[dict[str, str]]] = []
        self.missed = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for the last polls."""
        self._stop.set()
        self._thread.join()
        for future in self.done:
            if len(future.result(5.0)) < 400:
                self.missed += 1

    def _work(self) -> None:
        started = time.monotonic()
        pending: list[Future[dict[str, str]] | None] = [None] * len(self._sessions)
        turn = 0
        while not self._stop.is_set():
            n = turn % len(self._sessions)
            if self._stop.wait(max(0.0, started + turn / len(self._sessions) - time.monotonic())):
                return
            before = pending[n]
            if before is not None and not before.done():
                self.missed += 1  # last second's poll is still under way: this one is not made
            else:
                pending[n] = made = self._threads[n].submit(self._sessions[n].status, limit_s=5.0)
                self.done.append(made)
            turn += 1


def run(rounds: int) -> list[Row]:
    """Measure at rest, then beside a hundred sessions; one round, whatever `rounds` says (each takes its seconds)."""
    del rounds
    with mariadb() as server, ExitStack() as stack:
        sessions = [stack.enter_context(server.session()) for _ in range(SERVERS)]
        for session in sessions:
            session.status()
        rest = lateness_ms(4.0)
        threads = [stack.enter_context(ThreadPoolExecutor(1)) for _ in sessions]
        schedule = Schedule(threads, sessions)
        cpu = time.process_time()
        schedule.start()
        busy = lateness_ms(SECONDS)
        schedule.stop()
        cpu = time.process_time() - cpu
    extra = percentile(busy, 0.99) - percentile(rest, 0.99)
    polls = len(schedule.done)
    detail = (
        f"p99 {percentile(busy, 0.99):.2f} ms against {percentile(rest, 0.99):.2f} ms at rest (median "
        f"{statistics.median(busy):.2f} against {statistics.median(rest):.2f}); {cpu / polls * 1000:.2f} ms CPU a poll"
    )
    return [
        Row(5, "a", f"polls missed of {polls}, {SERVERS} servers at 1 Hz", float(schedule.missed), 0.0, "missed"),
        Row(5, "b", "p99 lateness of a 16 ms wake-up beside them, above an idle process's", extra, 2.0, "ms", detail),
    ]
