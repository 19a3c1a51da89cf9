"""Budget 9: CPU of one OS sample over SSH: here beside an ssh(1) child, and on the host beside an exec per sample.

The sample is what the performance notes measured: /proc/stat, diskstats, meminfo and loadavg, some 3 kB, ten times a
second through one channel and a loop of bash builtins. Peers: the same files by `cat` in a loop behind an ssh(1) child
whose output this process reads (client), and a new channel with `cat` for each sample (host).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from services.connections import remote_command
from services.connections.limits import Limits
from services.connections.remote_stream import RemoteStream
from services.connections.ssh.connection import SshLink
from services.connections.sudo import Wrapped
from services.secrets import MemoryVault
from tests.bench.model import Row, paired
from tests.bench.support.private_servers import Sshd, cpu_s, sshd
from tests.bench.support.unavailable import Unavailable

FILES = "/proc/stat /proc/diskstats /proc/meminfo /proc/loadavg"
SAMPLES = 40
BUILTINS = (
    f'while :; do o=; for f in {FILES}; do mapfile x < $f; o+="${{x[*]}}"; done; printf \'%s@\\n\' "$o"; '
    "read -r -t 0.1 _; [ $? -gt 128 ] || exit 0; done"
)
CAT_LOOP = f"while cat {FILES} && echo @; do sleep 0.1; done"
CLIENT_LIMIT = 3.0
HOST_LIMIT = 0.15


def tree(root: int) -> list[int]:
    """The process and all below it (man proc_tid_children(5))."""
    found = [root]
    for pid in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text(encoding="ascii").split()]
    return found


def tree_cpu_s(root: int) -> float:
    """CPU of the living below `root` exactly, and of those they have waited for in ticks (man proc_pid_stat(5))."""
    tick = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for pid in tree(root):
        with contextlib.suppress(OSError):
            total += cpu_s(pid)
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) / tick
    return total


class Streamed:
    """One long channel, read to the mark of each sample."""

    def __init__(self, link: SshLink) -> None:
        line = f"bash -c {shlex.quote(BUILTINS)}"
        wrapped = Wrapped(line)
        channel = remote_command.start(link, wrapped, host="bench", limit_s=10.0, what="the loop")
        self._stream = RemoteStream(channel, wrapped, link, "bench", Limits())
        self._lines = self._stream.lines(limit_s=10.0)

    def samples(self, count: int) -> None:
        """Read so many samples."""
        while count:
            count -= next(self._lines).endswith(b"@")

    def close(self) -> None:
        """End it."""
        self._stream.close()


@contextlib.contextmanager
def child(server: Sshd) -> Iterator[tuple[Callable[[int], None], int]]:
    """An ssh(1) child with the `cat` loop: how to read samples of it, and its process id."""
    process = subprocess.Popen([*server.ssh_argv(), CAT_LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    out = process.stdout

    def samples(count: int) -> None:
        while count:
            count -= out.readline().endswith(b"@\n")

    try:
        samples(3)
        yield samples, process.pid
    finally:
        process.terminate()
        process.communicate(timeout=10)


def client_row(server: Sshd, link: SshLink, rounds: int) -> Row:
    """Both clients' CPU per sample; this process's own reading is counted on both sides."""

    def ours() -> float:
        streamed = Streamed(link)
        streamed.samples(3)
        before = time.process_time()
        streamed.samples(SAMPLES)
        used = time.process_time() - before
        streamed.close()
        return used * 1000.0 / SAMPLES

    def theirs() -> float:
        with child(server) as (samples, pid):
            before = time.process_time() + cpu_s(pid)
            samples(SAMPLES)
            return (time.process_time() + cpu_s(pid) - before) * 1000.0 / SAMPLES

    ratio, a, b = paired(ours, theirs, rounds)
    detail = f"{a:.2f} ms against {b:.2f} ms a sample, {rounds} rounds of {SAMPLES} at 10 Hz"
    return Row(9, "a", "client CPU of an SSH sample, one channel / an ssh(1) child", ratio, CLIENT_LIMIT, detail=detail)


def host_row(server: Sshd, link: SshLink, rounds: int) -> Row:
    """CPU of sshd and all below it, per sample."""

    def loop() -> float:
        streamed = Streamed(link)
        streamed.samples(3)
        before = tree_cpu_s(server.pid)
        streamed.samples(SAMPLES)
        used = tree_cpu_s(server.pid) - before
        streamed.close()
        return used * 1000.0 / SAMPLES

    def each() -> float:
        before = tree_cpu_s(server.pid)
        started = time.monotonic()
        for turn in range(SAMPLES):
            # At the loop's own pace: caches are as cold for both.
            time.sleep(max(0.0, started + turn * 0.1 - time.monotonic()))
            one = Wrapped(f"cat {FILES}")
            output = remote_command.run(link, one, None, host="bench", limit_s=10.0, most=1 << 20, what="cat")
            assert b"MemTotal" in output.stdout
        return (tree_cpu_s(server.pid) - before) * 1000.0 / SAMPLES

    ratio, a, b = paired(loop, each, rounds)
    detail = f"{a:.2f} ms against {b:.2f} ms a sample, {rounds} rounds of {SAMPLES}"
    return Row(9, "b", "host CPU of an SSH sample, builtins loop / exec per sample", ratio, HOST_LIMIT, detail=detail)


def run(rounds: int) -> list[Row]:
    """Measure both sides in turn, at most three rounds (a round of the client takes its eight seconds)."""
    if shutil.which("bash") is None:
        raise Unavailable("bash is not installed on this machine")
    rounds = min(rounds, 3)
    with sshd() as server:
        link = SshLink.open(server.entry(), MemoryVault(), policy=None, limits=Limits())
        try:
            return [client_row(server, link, rounds), host_row(server, link, rounds)]
        finally:
            link.close()
