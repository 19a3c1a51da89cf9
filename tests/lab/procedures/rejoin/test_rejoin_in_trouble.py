"""A rejoin from incrementals whose console dies at each kind of moment, and whose disks fill, on real servers.

Every row that an application got acknowledged meanwhile is counted on every member; a run that is taken back leaves
the old data as they were, file by file.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures.console.steering import KILLED, Console, Ran
from tests.lab.procedures.states import backups, rejoining
from tests.lab.procedures.states.writer import Writer
from tests.lab.procedures.whole import Whole, members

NAME, JOINER = "rejoin-from-incrementals", "s3"
HOW: dict[str, object] = {"joiner": JOINER, "memory": "128 MiB", "settle": "3 s"}
LISTING = "cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort"
AGAIN = ("copy", "hold", "held-out", "keep-data", "identity", "owner", "recover", "look", "start", "same-defined",
         "same-rows", "let-in", "clear-copies")  # fmt: skip
"""Steps that a resumed run goes on with, killed as they acted."""
ONCE = ("prepare-0", "prepare-2", "copy-back")
"""Steps that a resumed run does not begin again: it is taken back."""
SMALL = "/srv/small"
PIECES = 150
"""Rows of 4 MB: what an SST and a copy take some time for."""
_JOINS = (
    "base64 -d | sed -e 's/{old}$/{new}/' -e 's/node_name = s3/node_name = new/' -e 's/^server_id.*/server_id = 77/' "
    "-e /^ssl_/d "
    "> /etc/mysql/mariadb.conf.d/90-lab.cnf; rm -f /var/lib/mysql/grastate.dat; systemctl start --no-block mariadb"
)


@pytest.fixture
def chain(steer: Estate, chain: None) -> Iterator[None]:
    """The same; a disk that a case throttled is as fast again before it is tidied."""
    yield chain
    steer.unthrottle(JOINER)


def _words(**more: object) -> tuple[str, ...]:
    return tuple(word for name, value in {**HOW, **more}.items() for word in ("--input", f"{name}={value}"))


@pytest.mark.long
@pytest.mark.parametrize("step", AGAIN)
def test_that_a_run_whose_console_was_killed_goes_on_to_its_end_with_every_row(
    steer: Estate, console: Console, whole: Whole, chain: None, step: str
) -> None:
    del chain
    with Writer(steer, ("s1", "s2"), rate=20) as writer:
        killed = console.killed_run(f"{step}-{JOINER}=acting", NAME, **HOW)
        assert killed.code == KILLED, killed
        resumed = console("resume", console.runs()[0], "--yes")
        assert resumed.code == 0, resumed
        console.assert_ended(RunState.DONE, resumed)
        writer.assert_nothing_lost(members(steer))
    backups.forget(steer, JOINER)
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.parametrize("step", ONCE)
def test_that_a_run_whose_console_was_killed_in_what_is_done_once_ends_well_or_is_taken_back_exactly(
    steer: Estate, console: Console, whole: Whole, chain: None, step: str
) -> None:
    del chain
    old = steer.host(JOINER).sh(LISTING).out
    with Writer(steer, ("s1", "s2"), rate=20) as writer:
        killed = console.killed_run(f"{step}-{JOINER}=acting", NAME, **HOW)
        assert killed.code == KILLED, killed
        resumed = console("resume", console.runs()[0], "--yes")
        if console.view().state is RunState.DONE:
            writer.assert_nothing_lost(members(steer))
            return
        console.assert_ended(RunState.UNDONE, resumed)
        writer.assert_nothing_lost(("s1", "s2"))
    assert steer.host(JOINER).sh(LISTING).out == old
    whole.assert_files_as_before()


@pytest.fixture
def small(steer: Estate, chain: None) -> Iterator[str]:
    """A file system for the copies that has room for them, until somebody else fills it."""
    del chain
    host = steer.host(JOINER)
    host.sh(f"mkdir -p {SMALL} && mount -t tmpfs -o size=1g tmpfs {SMALL}")
    try:
        yield SMALL
    finally:
        host.sh(f"umount -l {SMALL}; rmdir {SMALL}", check=False)


def _taken_back(console: Console, ran: Ran) -> None:
    """The run rested somewhere, or took itself back: a person takes it back once there is room again."""
    assert ran.code in {3, 4}, ran
    if console.view().state is not RunState.UNDONE:
        ran = console("undo", console.runs()[0], "--yes")
    console.assert_ended(RunState.UNDONE, ran)


@pytest.mark.long
def test_that_a_disk_that_fills_in_the_copy_leaves_backups_and_old_data_as_they_were(
    steer: Estate, console: Console, whole: Whole, small: str
) -> None:
    host = steer.host(JOINER)
    old = host.sh(f"{LISTING}; find {backups.FOLDER} -type f | sort | xargs sha256sum").out
    steer.throttle(JOINER, 10)
    with console.running("run", NAME, *_words(scratch=small), "--yes", limit_s=500) as running:
        running.wait_for_step(f"copy-{JOINER}", limit_s=400)
        host.sh(f"dd if=/dev/zero of={small}/other bs=1M 2>/dev/null; true", limit_s=120)
        steer.unthrottle(JOINER)
        ran = running.end(lambda: host.sh(f"rm -f {small}/other") and None, heal_after_s=90)
    host.sh(f"rm -f {small}/other")
    _taken_back(console, ran)
    assert host.sh(f"{LISTING}; find {backups.FOLDER} -type f | sort | xargs sha256sum").out == old
    whole.assert_files_as_before()


@pytest.mark.long
def test_that_a_data_disk_that_fills_while_the_data_are_put_in_place_leaves_the_old_ones(
    steer: Estate, console: Console, whole: Whole, chain: None
) -> None:
    del chain
    host = steer.host(JOINER)
    old = host.sh(LISTING).out
    with console.running("run", NAME, *_words(), "--yes", limit_s=500) as running:
        running.wait_for_step(f"keep-data-{JOINER}", limit_s=400)
        steer.throttle(JOINER, 10)
        running.wait_for_step(f"copy-back-{JOINER}", limit_s=200)
        steer.fill(JOINER)
        steer.unthrottle(JOINER)
        ran = running.end(lambda: steer.unfill(JOINER), heal_after_s=90)
    steer.unfill(JOINER)
    _taken_back(console, ran)
    assert host.sh(LISTING).out == old
    whole.assert_files_as_before()


@pytest.fixture
def large(steer: Estate, whole: Whole) -> Iterator[None]:
    """Hundreds of megabytes in a backup of s3, which is down."""
    del whole
    steer.sql("s1", rejoining.BLOB)
    for _ in range(PIECES):
        steer.sql(
            "s1", f"INSERT INTO sbtest.ballast (data) VALUES (REPEAT(RANDOM_BYTES(1024), {rejoining.PIECE // 1024}))"
        )
    rejoining.back_up(steer, JOINER, f"{backups.FOLDER}/full")
    steer.stop(JOINER)
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        steer.unthrottle(JOINER)
        backups.forget(steer, JOINER)
        steer.sql("s1", "DROP TABLE IF EXISTS sbtest.ballast")


def _another_joins_by_sst(steer: Estate) -> None:
    """By a colleague's hand: the spare gets the option file of s3 with its own names, and no state."""
    packed = steer.host(JOINER).sh("base64 -w0 /etc/mysql/mariadb.conf.d/90-lab.cnf").out
    old, new = steer.addresses[JOINER], steer.addresses["new"]
    steer.host("new").sh(_JOINS.format(old=old, new=new), stdin=packed)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_that_a_node_returns_under_load_while_another_one_joins_by_an_sst_with_every_row(
    steer: Estate, console: Console, whole: Whole, large: None
) -> None:
    """Hundreds of megabytes, not two gigabytes: as much as a busy machine copies within a test."""
    del large
    full = f"{backups.FOLDER}/full"
    with Writer(steer, ("s1", "s2"), rate=40) as writer:
        with console.running("run", NAME, *_words(full=full, incrementals="none"), "--yes", limit_s=900) as running:
            running.wait_for_step(f"copy-{JOINER}", limit_s=400)
            _another_joins_by_sst(steer)
            ran = running.end()
        if ran.code == 4:  # who came meanwhile is not known to the run: it rests, and is led on by its own advice
            assert "is a member too, which this plan does not count" in ran.out, ran
            steer.wait_synced(["s1", "s2", "new"], limit_s=200)
            steer.stop("new")
            ran = console("resume", console.runs()[0], "--yes", limit_s=600)
            steer.start("new")
        assert ran.code == 0, ran
        console.assert_ended(RunState.DONE, ran)
        steer.wait_synced([*members(steer), "new"], size=4, limit_s=300)
        writer.assert_nothing_lost([*members(steer), "new"])
    log = steer.host("new").sh("journalctl --no-pager -b -u mariadb | grep -c 'SST'", check=False).out
    assert int(log) > 0, "the other one came by an SST"
