"""Twenty seconds of a real node through a real session: OS stream and status into the store, and back as curves."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from services.clock import SystemClock
from services.connections.host import HostSession
from services.facts.machine.os_stream import OsParser, OsReading, os_command
from services.facts.numeric import numeric_status, numeric_variables
from services.facts.server.dialect import VARIABLES
from services.history.store import HistoryStore
from services.sampling.metrics.catalogue import load_catalogue
from services.sampling.metrics.reader import SeriesReader
from services.series import Sample
from tests.lab.connections.connecting import entry, session
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.sample import sampled

SECONDS = 20
DATADIR = "/var/lib/mysql"


class _OsThread(threading.Thread):
    """Reads the stream of one host as the watcher does, until its session is closed."""

    def __init__(self, host: HostSession, shell: str = "bash") -> None:
        super().__init__(daemon=True)
        self._host = host
        self._shell = shell
        self.readings: list[tuple[float, OsReading]] = []
        self.stream = host.stream(os_command(DATADIR, shell))

    def run(self) -> None:
        parser = OsParser()
        for line in self.stream.lines(limit_s=5.0):
            reading = parser.feed(line)
            if reading is not None:
                self.readings.append((time.time(), reading))


def _loops(estate: Estate, host: str) -> int:
    """Count the loops that run on the host: the argument after the program's text is the console's name."""
    found = estate.host(host).sh("grep -lsz '^pilothouse$' /proc/[0-9]*/cmdline | wc -l")
    return int(found.out.strip())


@pytest.mark.parametrize("shell", sampled(("bash", "sh"), lambda shell: shell == "bash"))
def test_that_the_stream_gives_a_true_reading_a_second_and_leaves_nothing_behind(galera: Estate, shell: str) -> None:
    with session(galera, entry(galera, "n1")) as made:
        reader = _OsThread(made, shell)
        reader.start()
        while_asserts(lambda: _at_least(reader, 4), limit_s=10)
        assert _loops(galera, "n1") >= 1
        at, last = reader.readings[-1]
        assert at - last.at_host == pytest.approx(0.0, abs=0.5)
        assert last.process_state in {"S", "R", "D"}
        assert last.values["os.mem.total"] > 0
        free = int(galera.host("n1").sh(f"stat -f -c '%a*%S' {DATADIR}").out.split("*")[0])
        sizes = [r for _, r in reader.readings if r.data_disk_free is not None]
        assert sizes
        assert (sizes[-1].data_disk_free or 0) / 4096 == pytest.approx(free, rel=0.05)
        cadence = np.diff([r.at_host for _, r in reader.readings])
        assert np.allclose(cadence, 1.0, atol=0.25)
        reader.stream.close()
        reader.join(10)
        assert not reader.is_alive()
    while_asserts(lambda: _no_loop(galera), limit_s=6)


def _at_least(reader: _OsThread, count: int) -> None:
    assert len(reader.readings) >= count


def _no_loop(estate: Estate) -> None:
    assert _loops(estate, "n1") == 0


def test_that_a_stopped_and_a_killed_server_show_in_the_stream_within_three_readings(galera: Estate) -> None:
    with session(galera, entry(galera, "n3")) as made:
        reader = _OsThread(made)
        reader.start()
        while_asserts(lambda: _at_least(reader, 2), limit_s=10)

        def soon(state: str) -> None:
            seen = len(reader.readings)
            while_asserts(lambda: _at_least(reader, seen + 3), limit_s=6)
            assert reader.readings[-1][1].process_state == state

        galera.pause("n3")
        soon("T")
        galera.resume("n3")
        galera.kill9("n3")
        soon("")
        assert reader.readings[-1][1].process_pid is None
        galera.start("n3")
        while_asserts(lambda: _state_is(reader, {"S", "R", "D"}), limit_s=30)
        reader.stream.close()
        reader.join(10)


def _state_is(reader: _OsThread, states: set[str]) -> None:
    assert reader.readings[-1][1].process_state in states


@pytest.mark.long
def test_that_twenty_seconds_of_a_real_node_become_curves_without_a_gap(galera: Estate, tmp_path: Path) -> None:
    catalogue = load_catalogue()
    store = HistoryStore.open(tmp_path / "history.sqlite", derive=catalogue.derive)
    clock = SystemClock()
    with session(galera, entry(galera, "n2")) as made:
        reader = _OsThread(made)
        reader.start()
        while_asserts(lambda: _at_least(reader, 1), limit_s=10)
        settings = numeric_variables(made.query(VARIABLES).pairs())
        due = clock.monotonic()
        for _ in range(SECONDS):
            clock.sleep(due - clock.monotonic())
            due += 1.0
            values = numeric_status(made.status()) | settings | dict(reader.readings[-1][1].values)
            store.append(Sample("n2", clock.wall(), clock.monotonic(), values, "1"))
        reader.stream.close()
        reader.join(10)
    span = store.range()
    assert span is not None
    curves = SeriesReader(store, catalogue)
    for key in ("cpu.user", "cpu.available", "load.questions", "innodb.checkpoint_age", "galera.paused", "disk.writes"):
        series = curves.series("n2", key, span[0] + 1, span[1], 100)
        assert len(series.t) >= SECONDS - 2, key
        assert not np.isnan(series.value).any(), key
        assert series.restarts == ()
    store.close()
