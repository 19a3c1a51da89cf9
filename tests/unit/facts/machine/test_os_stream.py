"""The OS stream: the parser on recorded and hostile lines, and the loop itself run on this machine."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH
from services.connections.programs.read_programs import READ_PROGRAMS
from services.connections.reads.registry import command_of
from services.errors import Refused
from services.facts.machine.block_devices import is_partition
from services.facts.machine.os_stream import OsParser, os_command
from tests.examples import examples

LINE = (
    b"t 1795253256631664;@stat;cpu  100 2 30 4000 50 6 7 8 0 0;ctxt 9;procs_running 3;procs_blocked 1;"
    b"@disk;   7       0 loop0 1 1 1 1 1 1 1 1 0 1 1;"
    b" 254       0 vda 10 1 80 5 20 2 160 40 1 30 45 0 0 0 0 1 2; 254       1 vda1 9 1 70 5 19 2 150 39 1 30 44;"
    b" 253       0 dm-0 10 1 80 5 20 2 160 40 1 30 45;"
    b"@mem;MemTotal:       1000 kB;MemAvailable:    600 kB;Nonsense;@load;0.70 0.63 0.36 2/349 18200;"
    b"@vm;pswpin 4;pswpout 5;@net;    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0;  eth0: 500 5 0 3 0 0 0 0 700 7 0 4 0 0 0 0;"
    b"@psi io;some avg10=7.31 avg60=2.32 avg300=1.27 total=20910756;full avg10=5.28 avg60=1.58 avg300=0.88 total=18;"
    b"@proc;14828 T;@fs;254:1 4096 1000 250"
)


def test_that_a_line_becomes_values_process_state_and_free_space() -> None:
    reading = OsParser().feed(LINE)
    assert reading is not None
    assert reading.at_host == pytest.approx(1795253256.631664)
    assert (reading.process_state, reading.process_pid) == ("T", 14828)
    assert (reading.data_disk_size, reading.data_disk_free) == (4096 * 1000, 4096 * 250)
    assert reading.data_device == "vda"
    values = reading.values
    assert values["os.cpu.iowait"] == 50.0
    assert values["os.cpu.procs_running"] == 3.0
    assert values["os.disk.vda.ms_writing"] == 40.0
    assert values["os.mem.available"] == 600 * 1024
    assert values["os.load.15"] == 0.36
    assert values["os.net.eth0.tx_bytes"] == 700.0
    assert values["os.net.eth0.tx_drop"] == 4.0
    assert values["os.psi.io.some_total"] == 20910756.0
    assert values["os.vm.pswpout"] == 5.0


def test_that_partitions_loops_and_stacked_disks_are_not_counted_twice() -> None:
    reading = OsParser().feed(LINE)
    assert reading is not None
    assert not [key for key in reading.values if ".vda1." in key or ".loop0." in key or ".lo." in key]
    assert reading.values["os.disk_all.writes"] == 20.0
    assert "os.disk.dm-0.writes" in reading.values


def test_that_no_process_and_no_free_space_are_told_as_such() -> None:
    line = LINE.split(b"@proc")[0]
    reading = OsParser().feed(line + b"@proc;- -")
    assert reading is not None
    assert (reading.process_state, reading.process_pid) == ("", None)
    assert (reading.data_disk_size, reading.data_disk_free) == (None, None)
    broken = OsParser().feed(line + b"@proc;- -;@fs;0:0 -")
    assert broken is not None
    assert broken.data_disk_free is None
    assert broken.data_device == "vda"  # an overlay names no disk, and there is but one


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sda1", True), ("sda", False), ("nvme0n1p2", True), ("nvme0n1", False), ("mmcblk0p1", True), ("vdb2", False),
     ("dm-1", False), ("md0", False), ("xvda1", True)],
)  # fmt: skip
def test_that_partitions_are_told_from_disks(name: str, expected: bool) -> None:
    disks = dict.fromkeys(["sda", "nvme0n1", "mmcblk0", "vda", "xvda", "dm-0", "md0"])
    assert is_partition(name, disks) is expected


@pytest.mark.parametrize(
    "line",
    [b"", b"Welcome to host", b"t x;@proc;1 S", LINE[:200], b"t ;@proc;", LINE.replace(b"cpu  100", b"cpu  abc")],
)
def test_that_a_line_that_is_none_of_the_loops_gives_nothing(line: bytes) -> None:
    assert OsParser().feed(line) is None


@given(st.integers(0, len(LINE)), st.binary(max_size=20))
@settings(max_examples=examples(200), deadline=None)
def test_that_no_line_raises(cut: int, junk: bytes) -> None:
    OsParser().feed(LINE[:cut] + junk + LINE[cut:])


def test_that_the_allowed_programs_are_the_two_loops_and_read_only() -> None:
    assert READ_PROGRAMS == (OS_LOOP, OS_LOOP_SH)
    for text in READ_PROGRAMS:
        for line in text.splitlines():
            targets = [word for word in line.replace("2>/dev/null", "").split() if word.startswith(">")]
            assert not targets, line
    with pytest.raises(Refused, match="not an absolute path"):
        command_of(os_command("/var/lib/mysql; rm -rf /", "bash"))


@contextlib.contextmanager
def _loop(shell: str, datadir: str, trace: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run the loop here; whatever happens, it is ended by closing its input, as a dying console does.

    Args:
        trace: a file for what the shell does (set -x).
    """
    program, *words = command_of(os_command(datadir, shell)).argv
    argv = [program, *(["-x"] if trace is not None else []), *words]
    with contextlib.ExitStack() as files:
        told = files.enter_context(trace.open("wb")) if trace is not None else None
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told)
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait(5.0)


def _line(process: subprocess.Popen[bytes]) -> tuple[float, bytes]:
    assert process.stdout is not None
    line = process.stdout.readline()
    return time.time(), line


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the loop reads Linux's /proc")


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_that_the_loop_gives_one_reading_a_second_and_ends_when_its_input_does(shell: str, tmp_path: Path) -> None:
    """Told by what the loop plans and waits for, in its own trace: how late a busy machine is, is not its doing."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    began = time.time()
    with _loop(shell, str(tmp_path), tmp_path / "trace") as process:
        lines = [_line(process) for _ in range(4)]
        free = shutil.disk_usage(tmp_path).free
    parser = OsParser()
    readings = [reading for _, line in lines if (reading := parser.feed(line)) is not None]
    assert len(readings) == 4
    trace = (tmp_path / "trace").read_text(encoding="utf-8", errors="replace").splitlines()
    (_planned if shell == "bash" else _slept)(trace)
    first = readings[0].at_host
    assert all(reading.at_host > first + number - 0.01 for number, reading in enumerate(readings)), "more than one"
    for (arrived, _), reading in zip(lines, readings, strict=True):
        assert began - 1.0 <= reading.at_host <= arrived + 0.01  # the host's own clock, and each line at once
        assert reading.values["os.cpu.idle"] > 0
        assert reading.values["os.mem.total"] > 0
    assert readings[0].data_disk_free == pytest.approx(free, rel=0.05)
    assert readings[-1].data_disk_free is not None  # the fourth line: every third has it
    assert process.returncode is not None


def _planned(trace: list[str]) -> None:
    """The next moment is a second after the last planned one; what is left until then is waited for, to the µs."""
    now, planned, waits = 0, [], 0
    for line in trace:
        name, _, value = line.lstrip("+ ").partition("=")
        if name == "t" and value.isdecimal():
            now = int(value)
        elif name == "next" and value.isdecimal():
            assert not planned or int(value) in {planned[-1] + 1_000_000, now}, line
            assert not planned or int(value) == planned[-1] + 1_000_000 or now - planned[-1] > 1_000_000, line
            planned.append(int(value))
        elif line.lstrip("+ ").startswith("read -r -t "):
            wait = float(line.split()[4])
            assert wait == pytest.approx(max(planned[-1] - now, 1_000) / 1e6, abs=1e-6), line
            waits += 1
    assert waits >= 3
    assert len(planned) >= 4


def _slept(trace: list[str]) -> None:
    """It sleeps for a second behind each reading."""
    told = [line.lstrip("+ ") for line in trace if line.lstrip("+ ").startswith(("sleep ", "date "))]
    assert told[:7] == ["date +%s.%N", "sleep 1"] * 3 + ["date +%s.%N"]


@linux_only
@pytest.mark.slow
def test_that_the_bash_loop_forks_only_for_the_free_space() -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash here")

    with _loop("bash", "/tmp") as process:
        _line(process)
        _line(process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        seen: set[str] = set()
        deadline = time.monotonic() + 3.2
        while time.monotonic() < deadline:
            seen.update(children.read_text(encoding="ascii").split())
            time.sleep(0.0002)
    assert len(seen) <= 2  # `stat -f`, once in three seconds
