"""What the console tells of the run before it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from services.clock import SystemClock
from services.discovery.model import EstateSnapshot
from services.events import Event
from services.history.state_store import StateStore
from services.sampling.console_memory import ConsoleMemory
from services.types import Health

DYING = """
import os, sys
from services.history.state_store import StateStore
StateStore.open(sys.argv[1]).record_console_start("0.1")
os.kill(os.getpid(), 9)
"""


def _told_by_a_run(file: Path) -> list[Event]:
    told: list[Event] = []
    begun = threading.Event()

    def look() -> EstateSnapshot:
        begun.set()
        return EstateSnapshot(1.0)

    memory = ConsoleMemory(lambda: StateStore.open(file), SystemClock(), look, told.append)
    memory.start()
    memory.stop()
    assert begun.is_set()
    return told


def _dies(file: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DYING, str(file)], cwd=Path(__file__).parents[3], check=False)
    assert died.returncode == -9


def test_that_a_console_which_was_killed_on_another_machine_is_told_by_the_next_one_and_only_by_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "state"
    _dies(file)
    with closing(sqlite3.connect(file)) as store, store:
        store.execute("UPDATE console_run SET machine = 'desk2', alive_at = alive_at - 3600")
    (event,) = _told_by_a_run(file)
    assert (event.kind, event.health) == ("console", Health.WARN)
    assert event.text.startswith("The console on desk2 (process ")
    assert event.text.endswith("ended without being closed.")
    assert _told_by_a_run(file) == []


def test_that_one_killed_on_this_machine_is_left_to_the_history_which_knows_what_was_lost(tmp_path: Path) -> None:
    file = tmp_path / "state"
    _dies(file)
    assert _told_by_a_run(file) == []
    assert _told_by_a_run(file) == []
