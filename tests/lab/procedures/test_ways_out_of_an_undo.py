"""What a run, or its undo, leaves is no dead end: a node that would have come by itself comes; a full disk harms none.

Tried on real servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.database import process
from tests.lab.estate.estate import Estate
from tests.lab.procedures.forks import LEDGER, acknowledge, kill_all, make_ledger
from tests.lab.procedures.scenarios import CONFIRM
from tests.lab.procedures.steering import Console, Ran
from tests.lab.procedures.whole import Whole, members

DATA = "/var/lib/mysql"
_LATE = "/run/systemd/system/mariadb.service.d/50-lab-late.conf"
_NEVER, _KEPT = "/etc/systemd/system/mariadb.service.d/lab.conf", "/run/lab.conf"
"""The lab's servers are never started again by systemd: this one is, as Debian's unit has it."""
_FILES = f"sha256sum {DATA}/ibdata1 {DATA}/ib_logfile0"


def _ids(estate: Estate, host: str) -> frozenset[int]:
    return frozenset(int(row[0]) for row in estate.sql(host, f"SELECT id FROM {LEDGER}"))


def _said(ran: Ran) -> str:
    return " ".join(ran.out.split())


def _without_caches(estate: Estate) -> None:
    """s1 and s2 are restarted one after the other with empty caches: nobody can send an IST any more."""
    for name in ("s2", "s1"):
        again = f"systemctl stop mariadb; rm -f {DATA}/galera.cache; systemctl start mariadb"
        estate.host(name).sh(again, limit_s=180)
        estate.wait_synced(["s1", "s2"], size=2)


@contextmanager
def _systemd_is_about_to_start(estate: Estate, host: str) -> Iterator[None]:
    """The server was killed, and systemd starts it again by itself: not yet, in ten minutes."""
    late = "[Service]\nRestart=on-abnormal\nRestartSec=600\n"
    crash = f"pkill -KILL {process(estate.spec, host)}"
    estate.host(host).sh(
        f"mv {_NEVER} {_KEPT}; mkdir -p $(dirname {_LATE}); cat > {_LATE}; systemctl daemon-reload; {crash}; "
        "until systemctl show -p SubState mariadb | grep -q auto-restart; do sleep 0.2; done",
        stdin=late,
        limit_s=60,
    )
    try:
        yield
    finally:
        estate.host(host).sh(f"mv {_KEPT} {_NEVER}; rm -f {_LATE}; systemctl daemon-reload")


@pytest.mark.long
@pytest.mark.slow
def test_that_an_undo_starts_a_crashed_node_that_systemd_was_about_to_start(
    steer: Estate, console: Console, whole: Whole
) -> None:
    """Nobody caches what it missed and an SST was not accepted: the run learns it and is taken back by itself."""
    rows = make_ledger(steer)
    with _systemd_is_about_to_start(steer, "s3"):
        rows |= acknowledge(steer, "s1", 100)
        _without_caches(steer)
        ran = console.run("add-node", joiner="s3", keep_data="no", sst_ok="no", settle="1 s")
        assert ran.code == 3, ran
        assert console.view().state is RunState.UNDONE, ran
        assert "Accept an SST" in _said(ran), ran
        steer.wait_synced(list(members(steer)), size=3, limit_s=240)
        assert _ids(steer, "s3") == rows
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_recovery_on_a_full_disk_leaves_innodb_as_it_was_and_with_room_again_the_cluster_comes_back(
    steer: Estate, console: Console, whole: Whole
) -> None:
    rows = make_ledger(steer)
    kill_all(steer)
    before = steer.host("s3").sh(_FILES).out
    steer.fill("s3")
    try:
        refused = console.run("bootstrap-after-crash", *CONFIRM)
        assert refused.code in {1, 3}, refused
        assert "Make room" in _said(refused), refused
        # Whoever accepts it all the same: the recovery itself wants the room before it touches anything.
        anyway = console.run("bootstrap-after-crash", *CONFIRM, "--override", "CRASH-CAUSE=tried", itself="no")
        assert anyway.code in {1, 3}, anyway
        assert steer.host("s3").sh(_FILES).out == before
    finally:
        steer.unfill("s3")
    ran = console.run("bootstrap-after-crash", *CONFIRM)
    console.assert_ended(RunState.DONE, ran)
    for name in members(steer):
        assert _ids(steer, name) == rows, name
    whole.assert_as_before()


@pytest.mark.long
@pytest.mark.slow
def test_that_a_restart_wants_room_on_the_data_volume_and_says_what_an_sst_would_erase(
    steer: Estate, console: Console, whole: Whole
) -> None:
    steer.fill("s2", leave_mb=20)
    try:
        refused = console.run("rolling-restart", nodes="s2", pause="1 s")
        assert refused.code == 1, refused
        assert "DISK-FREE" in refused.out, refused
        assert "Make room on s2" in _said(refused), refused
    finally:
        steer.unfill("s2")
    ran = console.run("rolling-restart", nodes="s2", pause="1 s")
    console.assert_ended(RunState.DONE, ran)
    steer.stop("s3")
    _without_caches(steer)
    told = console("plan", "add-node", "--input", "joiner=s3", "--input", "keep_data=no", "--json")
    disk = next(check for check in told.document()["checks"] if check["code"] == "DISK-FREE")
    assert "s3's old data, which the SST erases first" in disk["evidence"], disk
    back = console.run("add-node", joiner="s3", keep_data="no", settle="1 s")
    console.assert_ended(RunState.DONE, back)
    whole.assert_as_before()
