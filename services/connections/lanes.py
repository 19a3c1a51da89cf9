"""One lane per host: serial inside, parallel across, so that a host that hangs stalls nobody but itself.

A lane is one thread. A call that outlives its limit is cut (the lane's `on_hang` closes the host's sockets, which ends
whatever blocks on them); one that does not end even then is abandoned, and the lane goes on with a new thread.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from services.errors import TimedOut, Unreachable
from services.words import tr

T = TypeVar("T")

_logger = logging.getLogger(__name__)

GRACE_S = 2.0  # between cutting a call's sockets and giving the call up


@dataclass(slots=True)
class _Job(Generic[T]):
    """A call that waits or runs."""

    call: Callable[[], T]
    future: Future[T]
    what: str
    limit_s: float | None


class Lane:
    """The thread of one host. `submit` and `close` may be called from any thread, but for the lane's own."""

    def __init__(self, name: str, watch: Watch, on_hang: Callable[[], None] | None = None) -> None:
        """Start the thread.

        Args:
            name: the host's inventory name; the thread is called "lane NAME".
            on_hang: cuts the host's connections, callable from any thread (HostSession.cut).
        """
        self.name = name
        self._watch = watch
        self._on_hang = on_hang
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running: _Job[Any] | None = None
        self._closed = False
        self._thread = self._start()

    def submit(self, call: Callable[[], T], *, limit_s: float | None = None, what: str = "") -> Future[T]:
        """Queue a call; the Future gives its result, raises its error, and cancels it while it waits.

        Args:
            limit_s: from now on, waiting included; when it runs out the Future raises TimedOut.
            what: for that sentence.
        """
        future: Future[T] = Future()
        deadline = None if limit_s is None else time.monotonic() + limit_s
        job = _Job(call, future, what or "A call", limit_s)
        with self._lock:
            if self._closed:
                raise Unreachable(tr("The host's lane is closed."), host=self.name)
            self._jobs.put(job)
        if deadline is not None:
            self._watch.at(deadline, lambda: self._overdue(job))
        return future

    def close(self, limit_s: float) -> bool:
        """Cancel what waits, cut what runs, and join; return whether the thread ended within `limit_s`."""
        with self._lock:
            self._closed = True
            thread, running = self._thread, self._running
        with contextlib.suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    job.future.cancel()
        self._jobs.put(None)
        if running is not None and self._on_hang is not None:
            self._on_hang()
        if thread is not threading.current_thread():
            thread.join(max(0.0, limit_s))
        return not thread.is_alive()

    def _start(self) -> threading.Thread:
        # A daemon: an abandoned call must not keep the program from ending.
        thread = threading.Thread(target=self._work, name=f"lane {self.name}", daemon=True)
        thread.start()
        return thread

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            with self._lock:
                if job.future.done() or not job.future.set_running_or_notify_cancel():
                    continue  # cancelled, or its limit ran out while it waited
                self._running = job
            self._perform(job)
            with self._lock:
                if threading.current_thread() is not self._thread:
                    return  # abandoned meanwhile: another thread has the lane
                self._running = None

    @staticmethod
    def _perform(job: _Job[Any]) -> None:
        try:
            result = job.call()
        except BaseException as problem:  # noqa: BLE001 - whoever asks the Future gets it
            with contextlib.suppress(InvalidStateError):
                job.future.set_exception(problem)
        else:
            with contextlib.suppress(InvalidStateError):
                job.future.set_result(result)

    def _overdue(self, job: _Job[Any]) -> None:
        """Fail a call whose limit ran out; where it runs, cut its connections, then abandon it."""
        with self._lock:
            if job.future.done():
                return
            runs = self._running is job
            if not runs and not job.future.set_running_or_notify_cancel():
                return
            with contextlib.suppress(InvalidStateError):
                late = tr("{what} did not end within {limit:g} s.", what=job.what, limit=job.limit_s)
                job.future.set_exception(TimedOut(late, host=self.name))
        if runs:
            self._watch.at(time.monotonic() + GRACE_S, lambda: self._abandon(job))
            if self._on_hang is not None:
                self._on_hang()

    def _abandon(self, job: _Job[Any]) -> None:
        """Give a call up that even cut connections did not end; the lane goes on without its thread."""
        with self._lock:
            if self._running is job and not self._closed:
                self._running = None
                self._thread = self._start()


class Watch:
    """One thread that calls something at a time; it sleeps until the earliest, not at intervals."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="lanes watch", daemon=True)
        self._thread.start()

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Call `call` at the monotonic time `when`. It must not block."""
        with self._changed:
            heapq.heappush(self._due, (when, next(self._number), call))
            if self._due[0][0] == when:
                self._changed.notify()

    def stop(self, limit_s: float) -> None:
        """End the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join(limit_s)

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                call()
            except Exception:
                _logger.exception("cutting a hung call failed")

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next call that is due; None when stopped."""
        with self._changed:
            while not self._stopped:
                wait = self._due[0][0] - time.monotonic() if self._due else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._due)[2]
                self._changed.wait(wait)
        return None


class Lanes:
    """The lanes of all hosts, made when first asked for."""

    def __init__(self) -> None:
        self._watch = Watch()
        self._lock = threading.Lock()
        self._lanes: dict[str, Lane] = {}
        self._closed = False

    def lane(self, name: str, *, on_hang: Callable[[], None] | None = None) -> Lane:
        """Return the lane of a host; `on_hang` counts when the lane is made by this call."""
        with self._lock:
            if self._closed:
                raise Unreachable(tr("All lanes are closed."), host=name)
            if name not in self._lanes:
                self._lanes[name] = Lane(name, self._watch, on_hang)
            return self._lanes[name]

    def close_lane(self, name: str, *, limit_s: float = 5.0) -> bool:
        """Close one host's lane (it left the inventory); return whether its thread ended."""
        with self._lock:
            lane = self._lanes.pop(name, None)
        return lane is None or lane.close(limit_s)

    def shutdown(self, *, limit_s: float = 5.0) -> tuple[str, ...]:
        """Close every lane, all within `limit_s`; return the names of those whose thread did not end."""
        with self._lock:
            self._closed = True
            lanes = list(self._lanes.values())
            self._lanes.clear()
        deadline = time.monotonic() + limit_s
        for lane in lanes:
            lane.close(0.0)
        left = tuple(lane.name for lane in lanes if not lane.close(deadline - time.monotonic()))
        self._watch.stop(1.0)
        return left
