"""What a person wants of a running run, from any thread: pause, go on, cancel this step, undo, leave, close."""

from __future__ import annotations

import threading
from dataclasses import dataclass


class Control:
    """Flags that the engine reads between and inside steps. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pause = False
        self._undo = False
        self._leave = ""
        self.cancelled = threading.Event()
        """Set while the running step is to be broken off; acts that can be stopped look at it."""
        self.closing = threading.Event()
        """The console ends: the run stays as it is and is resumed by proof."""

    def pause(self) -> None:
        """Stop before the next act."""
        with self._lock:
            self._pause = True

    def go_on(self) -> None:
        """Take a pause back."""
        with self._lock:
            self._pause = False

    def cancel(self) -> None:
        """Break the running step off where nothing is half done."""
        self.cancelled.set()

    def undo(self) -> None:
        """Take the run back, as soon as the running step allows it."""
        with self._lock:
            self._undo = True

    def leave(self, reason: str) -> None:
        """Close the run as it stands; what is switched on is switched off first."""
        with self._lock:
            self._leave = reason

    def close(self) -> None:
        """End the engine's thread; nothing of the run is changed by it."""
        self.closing.set()

    @property
    def pausing(self) -> bool:
        """Return whether the next act shall not begin."""
        with self._lock:
            return self._pause

    @property
    def undoing(self) -> bool:
        """Return whether the run shall be taken back."""
        with self._lock:
            return self._undo

    @property
    def leaving(self) -> str:
        """Return the reason for closing the run as it stands, '' for none."""
        with self._lock:
            return self._leave


@dataclass(slots=True)
class Driven:
    """A run that an engine of this process drives."""

    thread: threading.Thread
    control: Control

    @property
    def at_work(self) -> bool:
        """Return whether its engine runs, or is about to."""
        return self.thread.ident is None or self.thread.is_alive()
