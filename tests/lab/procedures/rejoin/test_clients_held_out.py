"""Nobody is served by a node that came back without an SST before its data are compared, on real servers.

A client tries to read from it all the while, as a balancer sends one that looks at the node's state alone.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Self

import pymysql
import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate import vault
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states import backups
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

NAME, JOINER, NOT_READY = "rejoin-from-incrementals", "s3", 1047
_HOW: dict[str, object] = {"joiner": JOINER, "memory": "128 MiB", "settle": "3 s"}
_FILED = "find /etc/mysql -name '*held-out*'"
_LONGEST_S = 420.0


class _Reader:
    """One client that reads a table of a node again and again: when it got rows, and when it was refused."""

    def __init__(self, estate: Estate, host: str) -> None:
        self._address = estate.addresses[host]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reader", daemon=True)
        self.read: list[float] = []
        self.refused: list[float] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        ends = time.monotonic() + _LONGEST_S
        while not self._stop.wait(0.05) and time.monotonic() < ends:
            with contextlib.suppress(pymysql.err.Error, OSError):
                self._once()

    def _once(self) -> None:
        talk = pymysql.connect(host=self._address, user="sysbench", password=vault.load()["sysbench"],
                               ssl_disabled=True, connect_timeout=2, read_timeout=4)  # fmt: skip
        try:
            with talk.cursor() as cursor:
                began = time.time()
                cursor.execute(f"SELECT COUNT(*) FROM {backups.TABLE}")
                self.read.append(began)
        except pymysql.err.Error as error:
            if error.args[0] == NOT_READY:
                self.refused.append(time.time())
        finally:
            with contextlib.suppress(pymysql.err.Error, OSError):
                talk.close()


def _at(console: Console, step_id: str, state: str) -> float:
    return next(e.at for e in console.entries() if e.step_id == step_id and (e.data or {}).get("state") == state)


@pytest.mark.long
def test_that_no_client_reads_from_the_node_before_its_data_are_compared_and_each_does_behind_it(
    steer: Estate, console: Console, whole: Whole, chain: None
) -> None:
    del chain
    with Writer(steer, ("s1", "s2"), seconds=120) as writer, _Reader(steer, JOINER) as reader:
        ran = console.run(NAME, **_HOW)
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        writer.assert_nothing_lost(members(steer))
    compared, let_in = _at(console, f"same-rows-{JOINER}", "done"), _at(console, f"let-in-{JOINER}", "acting")
    synced = _at(console, f"start-{JOINER}", "done")
    assert compared <= let_in
    assert [at for at in reader.read if at < let_in] == []
    assert [at for at in reader.refused if synced < at < let_in] != [], "it was there, and was refused"
    assert [at for at in reader.read if at > let_in] != []
    assert [at for at in reader.refused if at > _at(console, f"let-in-{JOINER}", "done")] == []
    backups.forget(steer, JOINER)
    whole.assert_as_before()


@pytest.mark.long
def test_that_a_run_left_in_its_comparison_serves_nobody_and_one_taken_back_leaves_nothing(
    steer: Estate, console: Console, whole: Whole, chain: None
) -> None:
    del chain
    killed = console.killed_run(f"same-rows-{JOINER}=acting", NAME, **_HOW)
    assert killed.code == KILLED, killed
    steer.wait_synced(size=3)
    released = console("undo", console.runs()[0], "--release", "--yes")
    assert f"held-out:{JOINER}" in console.open_obligations(), released
    assert "were not completely compared with a member's" in released.out, released
    assert steer.sql(JOINER, "SHOW GLOBAL VARIABLES LIKE 'wsrep_reject_queries'")[0][1] == "ALL"
    with _Reader(steer, JOINER) as reader:
        time.sleep(2)
    assert (reader.read, bool(reader.refused)) == ([], True)
    undone = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host(JOINER).sh(_FILED).out == ""
    whole.assert_files_as_before()
