"""A console that is killed: a real process writes, dies by SIGKILL, and the next one finds all but the last moments."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.history.file import APPLICATION_ID
from services.history.recovery import LOST_S
from services.history.store import HistoryStore
from services.types import Health

WRITER = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from services.history.store import HistoryStore
    from services.series import Sample
    store = HistoryStore.open(Path(sys.argv[1]))
    number = 0
    while True:
        number += 1
        store.append(Sample("db1", time.time(), time.monotonic(), {"n": float(number), "fixed": 5.0}))
        print(number, flush=True)
        time.sleep(0.02)
""")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")


def _killed_after(path: Path, samples: int) -> int:
    """Run the writer, kill it after it appended so many samples; return the last number it had appended."""
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert process.stdout is not None
    last = 0
    for line in process.stdout:
        last = int(line)
        if last >= samples:
            process.send_signal(signal.SIGKILL)
            break
    last = max([last, *(int(line) for line in process.stdout.read().split())])
    process.wait(10)
    process.stdout.close()
    return last


@pytest.mark.slow
def test_that_kill_minus_nine_loses_at_most_two_seconds_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    appended = _killed_after(path, 150)
    told = []
    store = HistoryStore.open(path, clock=SystemClock(), background=False, on_event=told.append)
    try:
        numbers = store.read("db1", ("n", "fixed"), 0, 4e9)
        assert numbers.values["n"].tolist() == [float(i + 1) for i in range(len(numbers.t))]
        assert set(numbers.values["fixed"]) == {5.0}
        assert appended - len(numbers.t) <= LOST_S / 0.02
        assert len(numbers.t) > 0
        assert store.lost_seconds == LOST_S
        assert [event.kind for event in told] == ["console"]
        assert "ended unexpectedly" in told[0].text
        assert "at most 2 s" in told[0].text
        assert told[0].health is Health.WARN
        assert told[0].at == pytest.approx(numbers.t[-1], abs=0.001)
        store.flush()
        assert store.events(0, 4e9)[-1].text == told[0].text
    finally:
        store.close()


@pytest.mark.slow
def test_that_the_journal_of_a_killed_console_becomes_blocks_and_a_clean_end_is_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    _killed_after(path, 100)
    HistoryStore.open(path, background=False).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM block").fetchone()[0] >= 1
    connection.close()
    told = []
    store = HistoryStore.open(path, background=False, on_event=told.append)
    store.close()
    assert not told
    assert store.lost_seconds == 0.0


@pytest.mark.slow
def test_that_a_recording_cut_off_by_a_kill_can_still_be_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cut.pilothouse"
    _killed_after(path, 120)
    reader = HistoryStore.open(path, read_only=True)
    try:
        assert len(reader.read("db1", ("n",), 0, 4e9).t) > 0
    finally:
        reader.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_that_the_console_which_finds_an_unclean_end_reads_it_at_once(tmp_path: Path) -> None:
    """Its own thread writes: the window read the events before the first commit, and told of it a session later."""
    path = tmp_path / "history.sqlite"
    _killed_after(path, 3)
    store = HistoryStore.open(path, clock=SystemClock(), background=True)
    try:
        assert ["ended unexpectedly" in event.text for event in store.events(0, 4e9)] == [True]
    finally:
        store.close()
