"""rejoin-from-incrementals on real servers: from backups to Synced by IST, killed and resumed, taken back, refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures import backups
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

NAME = "rejoin-from-incrementals"
_LISTING = "cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort"
_HOW: dict[str, object] = {"joiner": "s3", "memory": "128 MiB", "settle": "3 s"}


@pytest.fixture
def chain(steer: Estate, whole: Whole) -> Iterator[tuple[str, ...]]:
    """Backups of s3 on its own disk, and s3 stopped after more was written."""
    found = backups.make_chain(steer, "s3")
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield found
    finally:
        backups.forget(steer, "s3")


def _refused_when_spent_or_linked(steer: Estate, console: Console, chain: tuple[str, ...]) -> None:
    """An incremental that was prepared with, one whose files have two names, and both in the wrong order."""
    full, first, second = chain
    spent, linked, work = (f"{backups.FOLDER}/{name}" for name in ("spent", "linked", "work"))
    steer.host("s3").sh(
        f"cp -a {full} {work} && cp -a {second} {spent} && mkdir {linked} && cp -al {first}/. {linked}/ && "
        f"for more in '' --incremental-dir={first}-copy --incremental-dir={spent}; do "
        f"[ -d {first}-copy ] || cp -a {first} {first}-copy; "
        f"mariadb-backup --prepare --target-dir={work} $more > /tmp/work.log 2>&1 || exit 1; done; rm -rf {work}"
    )
    ran = console.run(NAME, full=full, incrementals=f"{spent},{linked}", **_HOW)
    assert ran.code != 0, ran
    refused = next(line for line in ran.out.splitlines() if line.startswith("Refused: "))
    assert all(code in refused for code in ("BACKUP-USED", "BACKUP-LINKED", "CHAIN-ORDER")), ran
    assert console.runs() == ()
    steer.host("s3").sh(f"rm -rf {spent} {linked} {first}-copy")


@pytest.mark.slow
def test_that_a_node_returns_from_a_full_backup_and_two_incrementals_and_then_there_is_nothing_to_do(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    _refused_when_spent_or_linked(steer, console, chain)
    originals = steer.host("s3").sh(f"find {backups.FOLDER} -type f | sort | xargs sha256sum").out
    with Writer(steer, ("s1", "s2"), seconds=90) as writer:
        ran = console.run(NAME, tables=backups.tables(), **_HOW)
        assert ran.code == 0, ran
        steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
        assert "by IST" in steps["transfer-s3"]
        assert "3 of 3 tables are equal" in steps["compare-s3"]
        assert "one past" in steps["history-s3"]
        writer.assert_nothing_lost(members(steer))
    assert steer.host("s3").sh(f"find {backups.FOLDER} -type f | sort | xargs sha256sum").out == originals
    assert steer.host("s3").sh("test -f /var/lib/mysql/.pilothouse-before.sst/ibdata1", check=False).ok
    console.assert_nothing_to_do(NAME, **_HOW)
    backups.forget(steer, "s3")
    whole.assert_as_before()


@pytest.mark.slow
def test_that_a_run_killed_in_a_prepare_goes_on_and_is_taken_back_with_the_old_data_as_they_were(
    steer: Estate, console: Console, whole: Whole, chain: tuple[str, ...]
) -> None:
    old = steer.host("s3").sh(_LISTING).out
    killed = console.killed_run("prepare-1-s3=acting", NAME, tables=backups.tables(), **_HOW)
    assert killed.code == KILLED, killed
    again = console.killed("settle-s3=acting", "resume", console.runs()[0], "--yes")
    assert again.code == KILLED, again
    steer.wait_synced(size=3)
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    assert steer.host("s3").sh(_LISTING).out == old
    whole.assert_files_as_before()
