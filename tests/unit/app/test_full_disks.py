"""Disks that become full while something is written: a real tmpfs, filled at the n-th write, freed again.

One sentence is told, what was written before is read, and a run stops before its next act.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import compose
from app.__main__ import main
from services.clock import ManualClock
from services.errors import StoreError
from services.history.recordings.recording import open_recording
from services.history.state.store import StateStore
from services.inventory.model import HostEntry
from services.procedures.journal.heads import HeadFiles
from services.procedures.journal.journal import StoredJournal
from services.procedures.plan.run_model import Entry, RunState
from tests.sample import EVERY
from tests.unit.procedures.engine_world import Bench, FixedKey, borrow, give_back, plan_of, switch
from tests.unit.recorded.replies import ReplaySession, load

HOSTS: dict[str, Any] = load("situations/galera-healthy.json")["hosts"]
PLAN = plan_of(borrow("n1", "frozen"), switch("n2", "a"), switch("n3", "b"), give_back("n1", "frozen"))


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk is mounted by root alone")
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(ballast: Path) -> None:
    """Write until there is no room at all."""
    with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    assert os.statvfs(ballast).f_bavail == 0


class FilledJournal(StoredJournal):
    """A run's journal on a disk that gets full before its n-th line."""

    def __init__(self, store: StateStore, place: Path) -> None:
        super().__init__(store, FixedKey(), HeadFiles(place))
        self.written, self.full_at, self.ballast = 0, 0, place / "ballast"

    def append(self, run_id: str, kind: str, step_id: str = "", data: dict[str, object] | None = None) -> Entry:
        """Fill the disk, or not, and append."""
        self.written += 1
        if self.written == self.full_at:
            fill(self.ballast)
        return super().append(run_id, kind, step_id, data)


def bench_on(store: StateStore, place: Path) -> Bench:
    """Return a bench whose journal is in that store."""
    bench = Bench(PLAN)
    journal = FilledJournal(store, place)
    entries = bench.journal.entries(bench.run_id)
    bench.run_id = journal.new_run(PLAN.procedure, PLAN.cluster_id, PLAN.title)
    for entry in entries:
        journal.append(bench.run_id, entry.kind, entry.step_id, entry.data)
    journal.written = 0
    bench.journal = journal  # type: ignore[assignment]  # a journal all the same
    return bench


def test_that_a_disk_which_gets_full_at_any_line_stops_the_run_before_its_next_act(small: Path) -> None:
    """A run takes every third line, `test everything` all."""
    with StateStore.open(small / "whole.sqlite") as store:
        whole = bench_on(store, small)
        assert whole.run() is RunState.DONE
        lines = whole.journal.written
    assert lines > 10
    stopped = 0
    for full_at in range(1, lines + 1, 1 if EVERY else 3):
        file = small / f"at-{full_at}.sqlite"
        with StateStore.open(file) as store:
            bench = bench_on(store, small)
            bench.journal.full_at = full_at
            try:
                state = bench.run()
            except StoreError:
                stopped += 1
                state = None
            kept = bench.journal.entries(bench.run_id)  # the disk is full still: what is there is read
            acting = [e.step_id for e in kept if (e.data or {}).get("state") == "acting"]
            assert len(bench.world.done) <= len(acting), full_at
            (small / "ballast").unlink(missing_ok=True)
            if state is None:  # room again: the same run goes on, and nothing is done twice
                assert bench.run() is RunState.DONE, full_at
            assert sorted(bench.world.done) == sorted(whole.world.done), full_at
        for left in small.glob(f"{file.name}*"):
            left.unlink()
    assert stopped > 0


# --- recording -------------------------------------------------------------------------------------------------------


def _session(entry: HostEntry, *_more: object, **_named: object) -> ReplaySession:
    return ReplaySession(entry.name, {**HOSTS["n1"], "ssh": False})


@pytest.fixture
def recording(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], int]:
    """A call that records so many seconds and returns the exit code; the disk gets full after two of them."""
    (tmp_path / "hosts.toml").write_text('version = 1\n[[host]]\nname = "n1"\naddress = "10.213.1.11"\n'
                                         '[host.sql]\nuser = "m"\n')  # fmt: skip
    monkeypatch.setattr(compose, "HostSession", _session)

    def record(seconds: float) -> int:
        timer = threading.Timer(3.0, fill, [small / "ballast"])
        timer.start()
        try:
            return main(["record", str(small / "x.pilothouse"), "--for", f"{seconds}s", "--inventory",
                         str(tmp_path / "hosts.toml"), "--data", str(tmp_path / "data")])  # fmt: skip
        finally:
            timer.join()

    return record


def test_that_a_disk_which_gets_full_while_recording_costs_what_came_after(
    small: Path, recording: Callable[[float], int], capsys: pytest.CaptureFixture[str], quiet_log: None
) -> None:
    began = time.time()
    code = recording(9.0)
    out, errors = capsys.readouterr()
    assert code == 1
    assert "Traceback" not in out + errors
    assert errors.count("History cannot be written: ") == 2  # as it began, and at the end
    assert "x.pilothouse is incomplete" in errors
    for room in (False, True):
        if room:
            (small / "ballast").unlink()
        with contextlib.closing(open_recording(small / "x.pilothouse", ManualClock(began + 60.0))) as found:
            span = found.range()
            assert span is not None, room
            assert span[1] - span[0] >= 1.0
