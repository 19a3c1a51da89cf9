"""The history on a file system that is really full: a small tmpfs, filled and freed again."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.history.store import HistoryStore
from services.types import Health
from tests.bench.support.stream import read_stream


@pytest.fixture
def small_place(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MiB of its own."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small file system needs Linux and root")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def _fill(ballast: Path) -> None:
    """Write until the file system has no room at all."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    free = os.statvfs(ballast).f_bavail
    assert free == 0


@pytest.mark.lab
def test_that_a_really_full_disk_costs_nothing_that_was_sampled(small_place: Path) -> None:
    told = []
    samples = read_stream("mariadb_status").samples()[:500]
    clock = ManualClock(samples[0].at)
    store = HistoryStore.open(small_place / "history.sqlite", clock=clock, background=False, on_event=told.append)
    ballast = small_place / "ballast"
    try:
        for i, sample in enumerate(samples):
            if i == 60:
                _fill(ballast)
            if i == 400:
                ballast.unlink()
                clock.advance(11.0)
            store.append(sample)
            store.flush()
            store.tidy()
            clock.advance(1.0)
            if i == 399:
                assert store.trouble is not None
                assert [event.health for event in told] == [Health.BAD]
        assert store.trouble is None
        assert told[-1].text == "History is being written again. Nothing was lost."
    finally:
        store.close()
    again = HistoryStore.open(small_place / "history.sqlite", clock=clock, background=False)
    try:
        columns = again.read("db1", ("questions",), samples[0].at, samples[-1].at)
        assert columns.values["questions"].tolist() == [s.values["questions"] for s in samples]
        assert again.lost_seconds == 0.0
    finally:
        again.close()
