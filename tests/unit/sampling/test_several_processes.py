"""Several servers' processes on one host: the state of one of them is never told as another's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from services.clock import ManualClock
from services.connections.programs.os_loops import OS_LOOP, OS_LOOP_SH
from services.facts.absence import SEVERAL
from services.facts.machine.machine import find_process
from services.facts.machine.os_stream import OsParser, OsReading
from services.facts.mongodb.model import MongoFacts
from services.facts.mongodb.server import MongoServer, parse_server
from services.inventory.kinds import MONGODB
from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.sampling.facts_of_host import HostState

UNIT = "/system.slice/mongod@{}.service"


def reading(pid: int | None, many: int, state: str = "S", unit: str = "one") -> OsReading:
    words = f"{pid} {state} {UNIT.format(unit)} /user.slice {many}" if pid is not None else "- - - /user.slice 0"
    found = OsParser().feed(f"t 1795490000000000;@stat;cpu  1 2 3 4 5 6 7 8;@proc;{words}".encode())
    assert found is not None
    return found


class Host:
    """What is known of a host with one server in the inventory, whose stream a test writes."""

    def __init__(self, own: int | None) -> None:
        self.clock = ManualClock(1_795_490_000.0)
        entry = HostEntry("m1", "10.0.0.1", ssh=SshAccess("o"), sql=SqlAccess("o"), kind=MONGODB.code)
        self.state = HostState(entry, self.clock, None)
        if own is not None:
            self.state._facts = replace(self.state.facts(), mongo=MongoFacts(MongoServer(pid=own)))

    def seen(self, *readings: OsReading) -> tuple[str, int | None, str]:
        for one in readings:
            self.state.os_answered(one, self.clock.wall(), self.clock.monotonic())
        machine = self.state.facts().machine
        assert machine is not None
        return machine.process_state, machine.process_pid, machine.process_doubt


def test_that_of_several_processes_none_is_called_the_servers_own() -> None:
    assert Host(None).seen(reading(7, 2)) == ("?", None, SEVERAL)
    assert Host(None).seen(reading(7, 1)) == ("S", 7, "")


def test_that_the_one_whose_pid_the_server_told_is_its_own() -> None:
    assert Host(7).seen(reading(7, 3)) == ("S", 7, "")
    assert Host(8).seen(reading(7, 3)) == ("?", None, SEVERAL)


def test_that_after_its_server_was_killed_another_ones_process_is_not_called_its_own() -> None:
    both, left, none = reading(7, 2), reading(8, 1, unit="two"), reading(None, 0)
    assert Host(7).seen(both, left) == ("?", None, SEVERAL)
    assert Host(None).seen(both, left) == ("?", None, SEVERAL)
    assert Host(7).seen(both, left, none)[0] == ""  # all are gone, its own too


def test_that_a_server_that_started_anew_alone_is_seen_as_before() -> None:
    assert Host(7).seen(reading(7, 1), reading(9, 1)) == ("S", 9, "")


def test_that_a_server_tells_its_own_process() -> None:
    assert parse_server({"ok": 1}, None, {"pid": 22460}).pid == 22460
    assert parse_server({"ok": 1}, None, {"pid": "x"}).pid is None


def test_that_one_look_tells_several_from_one_and_from_a_zombie() -> None:
    one = " 7 Ssl mongod 0::/system.slice/mongod@one.service\n"
    two = " 8 Ssl mongod 0::/system.slice/mongod@two.service\n"
    dead = " 9 Z mongod 0::/system.slice/mongod@one.service\n"
    assert not find_process(one + two, ("mongod",)).alone
    assert find_process(one + dead, ("mongod",)).alone
    assert find_process("", ("mongod",)).alone


@contextmanager
def called_like_a_server(folder: Path, name: str, many: int) -> Iterator[list[int]]:
    """Run so many processes of this machine that are called like a server."""
    program = folder / name
    shutil.copy("/bin/sleep", program)
    with ExitStack() as running:
        found = []
        for _ in range(many):
            one = running.enter_context(subprocess.Popen([str(program), "60"]))
            running.callback(one.kill)
            found.append(one.pid)
        yield found


@pytest.mark.skipif(sys.platform != "linux", reason="the loop reads Linux's /proc")
@pytest.mark.parametrize(("shell", "loop"), [("bash", OS_LOOP), ("sh", OS_LOOP_SH)])
@pytest.mark.parametrize("many", [0, 1, 2])
def test_that_the_real_loop_counts_those_that_are_called_so(tmp_path: Path, shell: str, loop: str, many: int) -> None:
    name = f"m{os.getpid()}{shell}{many}"[:15]  # of this test alone: others run beside it
    with (
        called_like_a_server(tmp_path, name, many) as pids,
        subprocess.Popen(
            [shell, "-c", loop, "pilothouse", "/", name, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout is not None
        found = OsParser().feed(process.stdout.readline())
        process.kill()
    assert found is not None
    assert (found.process_pid in pids, found.process_alone) == (many > 0, many < 2)
