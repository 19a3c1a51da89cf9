"""What the console tells of the run before it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

from services.clock import ManualClock, SystemClock
from services.discovery.model import NOT_SETTLED, EstateSnapshot, NotSettled
from services.events import Bus, Event
from services.history.state.store import StateStore
from services.sampling.hub import Hub
from services.sampling.past.console_memory import ConsoleMemory
from services.types import Health
from tests.unit.discovery.families.test_two_primaries import split
from tests.unit.discovery.scenes import AT, STATE, member, only

DYING = """
import os, sys
from services.history.state.store import StateStore
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
    died = subprocess.run([sys.executable, "-c", DYING, str(file)], cwd=Path(__file__).parents[4], check=False)
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
    assert event.text.endswith(") ended unexpectedly.")
    assert _told_by_a_run(file) == []


def test_that_one_killed_on_this_machine_is_left_to_the_history_which_knows_what_was_lost(tmp_path: Path) -> None:
    file = tmp_path / "state"
    _dies(file)
    assert _told_by_a_run(file) == []
    assert _told_by_a_run(file) == []


def test_that_a_split_brain_that_lasts_is_kept_told_and_named_until_a_person_settles_it(tmp_path: Path) -> None:
    told: list[Event] = []
    named: list[tuple[NotSettled, ...]] = []
    looks = iter(range(1, 100))

    def look() -> EstateSnapshot:
        return split(AT + 2.0 * next(looks))

    class Quick(ManualClock):
        """Waits for nothing, and stops after the first beat."""

        def sleep(self, seconds: float, stop: threading.Event | None = None) -> bool:
            super().sleep(seconds)
            return seconds > 5.0

    memory = ConsoleMemory(lambda: StateStore.open(tmp_path / "state"), Quick(), look, told.append, named.append)
    memory.start()
    memory.stop()
    assert [(event.kind, event.health, event.cluster_id) for event in told] == [("view", Health.BAD, STATE)]
    assert told[0].text == "Two Primary Components of orders: db1, db2 | db3."
    assert [one.sides for one in named[-1]] == [(("db1", "db2"), ("db3",))]
    with StateStore.open(tmp_path / "state") as state:
        assert [one.seen_by for one in state.splits().open()] == ["watch"]
        assert {memory.read_by for memory in state.positions("db1")} <= {"watch"}


def test_that_the_hub_tells_of_it_with_every_snapshot() -> None:
    hub = Hub(ManualClock(), None, rates=dict, bus=Bus())
    for number in (1, 2, 3):
        hub.put(member(number))
    assert [p.code for p in only(hub.refresh()).problems] == []
    hub.not_settled((NotSettled(1, STATE, "orders", (("db1",), ("db3",)), AT, AT, ""),))
    assert [p.code for p in only(hub.refresh()).problems] == [NOT_SETTLED]
    hub.not_settled(())
    assert [p.code for p in only(hub.refresh()).problems] == []
