"""The lock on real hosts: one console at a time, told apart, taken over, found again after a restart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.engine.lock import ClusterLock, LockHeld, LockNotTaken, lock_path, parse_lock
from services.procedures.plan.model import Plan
from tests.lab.estate.estate import Estate
from tests.lab.operator.operating import CLOCK, armed, operated

NAMES = ("src", "r1", "r2")
PLAN = Plan("rolling-restart", "x", "x", "6c1f0c1e-93a2", "prod", NAMES, (NAMES,), (), ())
PATH = lock_path(PLAN.cluster_id)


@pytest.fixture
def estate(replication: Estate) -> Iterator[Estate]:
    yield replication
    left = [replication.host(name).sh("ls -A /run/pilothouse", check=False).out for name in NAMES]
    for name in NAMES:
        replication.host(name).sh("rm -rf /run/pilothouse")
    assert left == ["", "", ""]


def test_that_a_second_console_is_refused_until_the_first_is_done_or_taken_over(estate: Estate) -> None:
    logins = dict(zip(NAMES, ("root", "dba", "dbapw"), strict=True))
    with armed(estate, *(operated(estate, name, login) for name, login in logins.items())) as hosts:
        mine = ClusterLock(hosts, "47", "ann@desk", CLOCK)
        assert mine.take(PLAN).hosts == ("r1", "r2", "src")
        seen = parse_lock(estate.host("r1").sh(f"cat {PATH}; stat -c %a {PATH} >&2").out)
        assert seen is not None
        assert (seen.owner, seen.run_id, seen.procedure) == ("ann@desk", "47", "rolling-restart")
        other = ClusterLock(hosts, "47", "bob@laptop", CLOCK)
        with pytest.raises(LockHeld, match="ann@desk runs rolling-restart on this cluster since 20"):
            other.take(PLAN)
        again = ClusterLock(hosts, "47", "ann@desk", CLOCK)
        assert again.take(PLAN).hosts == ("r1", "r2", "src")
        assert mine.check() == ()
        taken = other.take(PLAN, take_over=True)
        assert taken.taken_from is not None
        assert taken.taken_from.owner == "ann@desk"
        assert mine.check() == ("r1", "r2", "src")
        assert mine.release() == ()
        assert other.check() == ()
        assert other.release() == ()
        assert mine.take(PLAN).hosts == ("r1", "r2", "src")
        mine.release()


def test_that_it_is_taken_on_all_hosts_or_none_and_a_majority_is_needed(estate: Estate) -> None:
    with armed(estate, *(operated(estate, name) for name in NAMES)) as hosts:
        other = ClusterLock(hosts, "9", "bob@laptop", CLOCK)
        only_last = Plan("desync", "x", "x", PLAN.cluster_id, "prod", ("src",), (), (), ())
        other.take(only_last)
        mine = ClusterLock(hosts, "47", "ann@desk", CLOCK)
        with pytest.raises(LockHeld):
            mine.take(PLAN)
        assert [estate.host(name).sh(f"ls {PATH}", check=False).code == 0 for name in NAMES] == [True, False, False]
        other.release()
        estate.sshd_stop("r2")
        hosts.arm("47", ())
        hosts.arm("47", NAMES)
        taken = mine.take(PLAN)
        assert (taken.hosts, [host for host, _ in taken.unreachable]) == (("r1", "src"), ["r2"])
        assert mine.check() == ()
        estate.host("r1").sh(f"rm {PATH}")  # as after a restart of the host
        assert mine.check() == ()
        assert estate.host("r1").sh(f"ls {PATH}").out
        assert mine.release() == ()
        estate.sshd_stop("src")
        hosts.arm("47", ())
        hosts.arm("47", NAMES)
        with pytest.raises(LockNotTaken, match="Only 1 of the plan's 3 hosts"):
            mine.take(PLAN)
