"""A person at a terminal is told at once: a wrong answer, who holds a wait up, a member that dies beside a question."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState, StepState
from services.procedures.report.blocks import moment as utc
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.at_terminal import Terminal, at_terminal
from tests.lab.procedures.console.steering import KILLED, Console
from tests.lab.procedures.states.obstacles import option_file
from tests.lab.procedures.whole import Whole

QUESTION = "Is the backup on s3 done?"
TABLE = "pilothouse_told.t"
_OVER = "/run/told-is-over"


@contextlib.contextmanager
def _session(estate: Estate, host: str, statements: str) -> Iterator[None]:
    """Hold a session open that did these statements and does nothing now, three minutes at most."""
    place = estate.host(host)
    waits = f"for i in $(seq 360); do [ -e {_OVER} ] && break; sleep 0.5; done"
    place.sh(f"rm -f {_OVER}")
    held = threading.Thread(target=lambda: place.sh(f'(echo "{statements}"; {waits}) | mariadb', limit_s=200.0))
    held.start()
    try:
        yield
    finally:
        place.sh(f"touch {_OVER}")
        held.join()
        place.sh(f"rm -f {_OVER}")


@pytest.fixture
def table(steer: Estate) -> Iterator[str]:
    """A table to write into, and the plugin that tells who holds a lock."""
    steer.sql("s1", "CREATE DATABASE pilothouse_told")
    steer.sql("s1", f"CREATE TABLE {TABLE} (a INT PRIMARY KEY) ENGINE=InnoDB")
    steer.sql("s3", "INSTALL SONAME 'metadata_lock_info'")
    yield TABLE
    steer.sql("s3", "UNINSTALL SONAME 'metadata_lock_info'")
    steer.sql("s1", "DROP DATABASE pilothouse_told")


@pytest.fixture
def own_lock_table(steer: Estate) -> Iterator[None]:
    """The performance schema of s3 notes metadata locks, as PXC's does; MariaDB's own plugin is not loaded."""
    words = "[mysqld]\nperformance_schema = ON\nperformance-schema-instrument = 'wait/lock/metadata/sql/mdl=ON'\n"
    with option_file("s3", words)(steer):
        _restarted(steer)
    yield
    if steer.sql("s3", "SELECT @@performance_schema") == [["1"]]:  # the run's own restart has ended it
        _restarted(steer)


def _restarted(estate: Estate) -> None:
    estate.stop("s3")
    estate.start("s3")
    estate.wait_synced(size=3)


def _to_the_question(terminal: Terminal) -> int:
    terminal.wait_for("Approve this plan? Type yes: ")
    terminal.type("yes")
    return terminal.wait_for(QUESTION + "\nAnswer yes if it is true, or stop.\n(asked at ")


@pytest.mark.long
@pytest.mark.slow
def test_that_a_wrong_answer_and_the_session_that_holds_a_read_lock_are_told(
    steer: Estate, console: Console, whole: Whole, table: str
) -> None:
    with at_terminal(console, "run", "desync-for-backup", "--input", "node=s3") as terminal:
        at = _to_the_question(terminal)
        terminal.type("yse")
        at = terminal.wait_for(
            "'yse' is not a valid answer here and was ignored. The answers are: yes, stop.", after=at
        )
        with _session(steer, "s3", "FLUSH TABLES WITH READ LOCK;"):
            for number in range(5):
                steer.sql("s1", f"INSERT INTO {table} VALUES ({number})")
            terminal.type("yes")
            terminal.wait_for("holds FLUSH TABLES WITH READ LOCK on s3", after=at)
        assert terminal.end() == 0, terminal.said[-4000:]
    console.assert_ended(RunState.DONE)
    (note,) = [e.data or {} for e in console.entries() if e.kind == "note" and (e.data or {}).get("about") == "held-up"]
    assert str(note["text"]).startswith("root@localhost (session ")
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_an_act_that_blocks_behind_a_read_lock_says_who_holds_it_by_the_servers_own_lock_table(
    steer: Estate, own_lock_table: None, console: Console, whole: Whole
) -> None:
    """SET GLOBAL wsrep_desync = ON does not come back; performance_schema.metadata_locks of MariaDB says why."""
    inputs = ("nodes=s3", "drain=person", "desync=yes", "pause=1 s", "soak=2 s", "downtime=20 s")
    words = tuple(word for one in inputs for word in ("--input", one))
    with at_terminal(console, "run", "rolling-restart", *words) as terminal:
        terminal.wait_for("Approve this plan? Type yes: ")
        terminal.type("yes")
        at = terminal.wait_for("Is s3 removed from the load balancer?\nAnswer ")
        with _session(steer, "s3", "FLUSH TABLES WITH READ LOCK;"):
            terminal.type("done")
            at = terminal.wait_for("Held up: root@localhost (session ", after=at)
            terminal.wait_for("holds FLUSH TABLES WITH READ LOCK on s3", after=at)
            desync = next(step for step in console.view().steps if step.step.step_id == "s3:desync")
            assert desync.state is StepState.ACTING
        terminal.wait_for("Is s3 back in the load balancer?\nAnswer ", after=at)
        terminal.type("done")
        assert terminal.end() == 0, terminal.said[-4000:]
    console.assert_ended(RunState.DONE)
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_what_a_killed_run_left_on_is_looked_at_again_and_told_with_its_time(
    steer: Estate, console: Console, whole: Whole
) -> None:
    assert console.killed_run("desync=done", "desync-for-backup", node="s3").code == KILLED
    (proven,) = console.view().obligations
    assert console("procedures", "--runs").code == 1
    (again,) = console.view().obligations
    assert proven.seen is not None
    assert again.seen is not None
    assert again.seen > proven.seen
    report = console("report", console.runs()[0])
    assert f"s3 desynced; last seen on {utc(again.seen)}." in report.out
    steer.sql("s3", "SET GLOBAL wsrep_desync = OFF")
    output = console("procedures", "--runs").out
    (off,) = console.view().obligations
    assert off.seen_off is not None
    assert ", no longer at " in output
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_long_transaction_in_a_drain_is_told_with_whose_it_is(
    steer: Estate, console: Console, whole: Whole, table: str
) -> None:
    with _session(steer, "s2", f"BEGIN; INSERT INTO {table} VALUES (100);"):
        ran = console.run("rolling-restart", nodes="s2", drain_limit="25 s", pause="1 s", soak="3 s", downtime="20 s",
                          older_than="")  # fmt: skip
    assert ran.code == 3, ran
    assert "has a transaction open on s2 since" in ran.out
    assert "root@localhost (session " in ran.out
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_member_that_dies_while_a_question_stands_is_told_with_a_bell(
    steer: Estate, console: Console, whole: Whole
) -> None:
    with at_terminal(console, "run", "desync-for-backup", "--input", "node=s3") as terminal:
        at = _to_the_question(terminal)
        steer.kill9("s1")
        at = terminal.wait_for("\a", limit_s=40, after=at)
        terminal.wait_for("QUORUM", limit_s=5, after=at)
        terminal.wait_for(QUESTION, limit_s=10, after=at)
        steer.start("s1")
        terminal.process.send_signal(signal.SIGINT)
        terminal.end()
    assert console("undo", console.runs()[0], "--yes").code == 0
    steer.wait_synced(size=3)
    whole.assert_as_before()
