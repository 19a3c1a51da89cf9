"""Sees what the window's thread is doing while a beat of its event loop is late: a watchdog on a thread of its own.

It sleeps until the next beat would be worth a look, so it wakes about thirty times a second and does nothing then. It
knows no QObject: Python's collector might otherwise destroy one on this thread (widgets.bridge.ops).
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import starmap
from operator import attrgetter, itemgetter
from pathlib import PurePath
from typing import Any

LOOK_MS = 35.0
"""A beat this late is looked at: what goes on then is most of what a stall of 50 ms was made of."""
DEPTH = 8


class StallWatch:
    """Watches the thread that called `start`. It can be started again after `stop`."""

    def __init__(self, interval_ms: float) -> None:
        self._patience_s = (interval_ms + LOOK_MS) / 1000.0
        self._beaten = time.perf_counter()
        self._seen: tuple[float, str] = (0.0, "")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Watch the calling thread from now on."""
        if self._thread is not None:
            return
        self._beaten = time.perf_counter()
        self._stop.clear()
        self._thread = threading.Thread(
            target=self._run, args=(threading.get_ident(),), name="pilothouse-stalls", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the watchdog and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def beat(self, now: float) -> str:
        """Take a beat at `now` (time.perf_counter); return what was seen while it was late, '' when nothing was."""
        since, self._beaten = self._beaten, now
        late_beat, doing = self._seen
        return doing if late_beat == since else ""

    def _run(self, watched: int) -> None:
        while True:
            since = self._beaten
            wait = since + self._patience_s - time.perf_counter()
            if self._stop.wait(max(wait, 0.0)):
                return
            if self._beaten != since:
                continue
            self._seen = (since, calls_of(watched))
            while self._beaten == since:  # one look a stall
                if self._stop.wait(self._patience_s):
                    return


def calls_of(thread: int) -> str:
    """Return the innermost calls of a thread, "folder/file.py:line function", the innermost first; '' when it ended.

    A frame of another thread must not be held while that thread runs on: its local variables would live as long, and a
    QPainter that outlives its paint event crashes Qt (seen). So finding the frame, reading it and letting it go is one
    call into C, within which the interpreter lock stays here.
    """
    for read in _READERS:
        try:
            # starmap calls sys._current_frames, Python's documented way to see another thread.
            found = next(map(read, map(itemgetter(thread), starmap(sys._current_frames, ((),)))))  # noqa: SLF001
        except AttributeError:
            continue  # not so many calls deep
        except KeyError:
            break
        return " < ".join(_name(code, line) for code, line in zip(found[::2], found[1::2], strict=True))
    return ""


def _reader(depth: int) -> attrgetter[tuple[Any, ...]]:
    """Return what reads code and line of so many frames at once, beginning with the innermost."""
    places = ["f_back." * level for level in range(depth)]
    return attrgetter(*(place + name for place in places for name in ("f_code", "f_lineno")))


_READERS = tuple(_reader(depth) for depth in range(DEPTH, 0, -1))


def _name(code: Any, line: int) -> str:
    return f"{'/'.join(PurePath(code.co_filename).parts[-2:])}:{line} {code.co_name}"
