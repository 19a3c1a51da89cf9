"""The strict house rules of every test: an unexpected warning, a leftover thread or a leftover process is a failure.

- Log records of WARNING and above fail the test that caused them, unless announced: `@pytest.mark.expected_log(level,
  pattern)` or the `expected_log` fixture. What was announced and never came fails too.
- Python warnings are errors and Qt's messages fail (pyproject.toml: filterwarnings, qt_log_level_fail).
- Threads and child processes that outlive their test are named; the processes are ended.
- No test sees the person's home, keyring or settings.
- What a test of the window leaves to Python's collector is collected on the window's thread, never on a worker's.

This file imports no Qt: the service tests run with it where PySide6 is not installed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import itertools
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import hypothesis
import pytest

from tests.sample import leave_out_long

# A shared machine is slow now and then: time is judged by benchmarks, not by each generated example.
# A run takes a sample of the examples, another each time; `test everything` takes them all (tests/sample.py).
hypothesis.settings.register_profile(
    "house",
    deadline=None,
    print_blob=True,
    max_examples=100 if os.environ.get("PILOTHOUSE_LAB_EVERY") else 25,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("house")

# How long something that is already ending may take until it counts as left over (seconds).
LEAK_GRACE_S = 2.0

# Children that belong to no single test.
SHARED_CHILDREN = (
    "multiprocessing.resource_tracker",  # started once for a process, ends with it (multiprocessing's own rule)
    "multiprocessing.forkserver",
    "systemd-nspawn",  # hosts of the lab: an estate outlives a test, and the lab's own suite proves that it ends
)

T = TypeVar("T")
ExpectLog = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare pytest-qt's settings where it is not installed: an unknown setting would be an error."""
    if importlib.util.find_spec("pytestqt") is None:
        for name in ("qt_api", "qt_default_raising", "qt_log_level_fail", "qt_log_ignore"):
            parser.addini(name, "unused: pytest-qt is not installed")


def pytest_configure(config: pytest.Config) -> None:
    """Keep every test, and every process it starts, away from the person's keyring."""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    # A shell starts its background jobs with SIGINT ignored, and so would be each console that a test interrupts.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the `long` cases out of a sample; mark tests/lab as `lab`, and skip it where there is said to be no lab."""
    leave_out_long(config, items)
    obstacle = os.environ.get("PILOTHOUSE_NO_LAB")
    lab_folder = config.rootpath / "tests" / "lab"
    for item in items:
        if item.path.is_relative_to(lab_folder):
            item.add_marker("lab")
        if obstacle and item.get_closest_marker("lab"):
            item.add_marker(pytest.mark.skip(reason=obstacle))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nearly all that is loaded stays: to look through it again and again while it grows finds next to nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What was loaded stays for good: looking at all other objects after each test of the window is quick."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _collected_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """A worker that collects what an earlier test left destroys Qt's objects on its own thread, and all ends there."""
    if "qapp" not in request.fixturenames:
        yield
        return
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return folders that do not exist yet, one for each home to come.

    Not one `mktemp` a home: it reads the names of all homes before it makes one, milliseconds when there are thousands.
    """
    folder = tmp_path_factory.mktemp("homes", numbered=False)
    return (folder / str(number) for number in itertools.count(1))


@pytest.fixture(autouse=True)
def private_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a home of its own; lab tests keep the real one, where the lab's image is cached."""
    if request.node.get_closest_marker("lab"):
        return
    home: Path = next(request.getfixturevalue("homes"))
    home.mkdir(mode=0o700)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)


# -- logs -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Expectation:
    """A log record that a test announces: level number, pattern (searched in the message), must it come."""

    level: int
    pattern: re.Pattern[str]
    optional: bool
    met: bool = False

    def covers(self, record: logging.LogRecord) -> bool:
        """Tell whether `record` is the announced one."""
        return record.levelno == self.level and bool(self.pattern.search(record.getMessage()))


@dataclass(slots=True)
class LogWatch:
    """What was announced and what came."""

    expectations: list[Expectation] = field(default_factory=list)
    records: list[logging.LogRecord] = field(default_factory=list)

    def expect(self, level: str, pattern: str, *, optional: bool = False) -> None:
        """Announce a record of `level` (its name) whose message matches `pattern`."""
        self.expectations.append(Expectation(logging.getLevelNamesMapping()[level], re.compile(pattern), optional))

    def complaints(self) -> list[str]:
        """Return a sentence for each unexpected record and for each announced one that never came."""
        unexpected: list[str] = []
        for record in self.records:
            covering = [expectation for expectation in self.expectations if expectation.covers(record)]
            for expectation in covering:
                expectation.met = True
            if not covering:
                unexpected.append(f"unexpected log: {record.levelname} {record.name}: {record.getMessage()}")
        missing = [
            f"announced log never came: {logging.getLevelName(expectation.level)} /{expectation.pattern.pattern}/"
            for expectation in self.expectations
            if not expectation.met and not expectation.optional
        ]
        return unexpected + missing


class _Collector(logging.Handler):
    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)


@pytest.fixture(autouse=True)
def strict_logs(request: pytest.FixtureRequest) -> Iterator[LogWatch]:
    """Fail the test on any log record of WARNING and above that it did not announce."""
    watch = LogWatch()
    for mark in request.node.iter_markers("expected_log"):
        watch.expect(*mark.args, **mark.kwargs)
    collector = _Collector(watch.records)
    root = logging.getLogger()
    root.addHandler(collector)
    yield watch
    root.removeHandler(collector)
    complaints = watch.complaints()
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)


@pytest.fixture
def expected_log(strict_logs: LogWatch) -> ExpectLog:
    """Announce a log record in the middle of a test: expected_log("WARNING", "pattern", optional=False)."""
    return strict_logs.expect


# -- threads and processes ------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_leftover_threads() -> Iterator[None]:
    """Fail the test that leaves a thread running, with the thread's name and what it runs."""
    before = set(threading.enumerate())
    yield
    left = _wait_until_none(lambda: _new_threads(before))
    if left:
        pytest.fail("threads left running: " + "; ".join(map(_describe_thread, left)), pytrace=False)


@pytest.fixture(autouse=True)
def no_leftover_processes() -> Iterator[None]:
    """Fail the test that leaves a child process (running or unreaped), with its command; end it."""
    before = set(_children())
    yield
    left = _wait_until_none(lambda: [(pid, name) for pid, name in _children().items() if pid not in before])
    for pid, _ in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if left:
        pytest.fail("child processes left: " + "; ".join(f"{pid} ({name})" for pid, name in left), pytrace=False)


def _wait_until_none(find: Callable[[], list[T]]) -> list[T]:
    limit = time.monotonic() + LEAK_GRACE_S
    found = find()
    while found and time.monotonic() < limit:
        time.sleep(0.02)
        found = find()
    return found


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    # A dummy stands for a thread that Qt made and that once ran Python; Python never learns of its end.
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and thread.is_alive() and not isinstance(thread, threading._DummyThread)
    ]


def _describe_thread(thread: threading.Thread) -> str:
    target = getattr(thread, "_target", None)
    what = getattr(target, "__qualname__", None) or type(thread).__qualname__
    return f"{thread.name} (runs {what}{', daemon' if thread.daemon else ''})"


def _children() -> dict[int, str]:
    """Return the direct children of this process by id with their command line.

    Empty where the system does not tell (proc_pid_children(5): Linux with CONFIG_PROC_CHILDREN).
    """
    found: dict[int, str] = {}
    for listing in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that ended while we looked
            found.update((int(pid), _command_line(int(pid))) for pid in listing.read_text().split())
    return {pid: name for pid, name in found.items() if not any(shared in name for shared in SHARED_CHILDREN)}


def _command_line(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        words = ""
    return words or "ended and never waited for"
