"""A node returns from a backup that is brought first, on real servers: made now by a donor, or from another host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.estate import Estate
from tests.lab.procedures import backups
from tests.lab.procedures.at_terminal import at_terminal
from tests.lab.procedures.steering import KILLED, Console
from tests.lab.procedures.whole import Whole, members
from tests.lab.procedures.writer import Writer

NAME = "rejoin-from-incrementals"
PLACE = "/var/lib/pilothouse/pilothouse-brought-s3"
_HOW: dict[str, object] = {"joiner": "s3", "memory": "128 MiB", "settle": "3 s", "donor": "s1"}
_LEFT = f"ls -d {PLACE} /run/pilothouse/*bring* 2>/dev/null; systemctl list-units --all --plain 'pilothouse-*' | cat"


@pytest.fixture
def away(steer: Estate, whole: Whole) -> Iterator[None]:
    """s3 stopped, without a backup on it."""
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    try:
        yield
    finally:
        backups.forget(steer, "s3")


def _assert_nothing_is_left(steer: Estate) -> None:
    for host in ("s1", "s2", "s3"):
        told = steer.host(host).sh(_LEFT, check=False).out
        assert "brought" not in told, told
        assert "bring" not in told, told


@pytest.mark.slow
def test_that_a_node_returns_from_a_backup_that_a_donor_makes_now(
    steer: Estate, console: Console, whole: Whole, away: None
) -> None:
    with Writer(steer, ("s1", "s2"), seconds=90) as writer:
        ran = console.run(NAME, backup_from="now", source="s2", **_HOW)
        assert ran.code == 0, ran
        steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
        assert "by IST" in steps["transfer-s3"]
        writer.assert_nothing_lost(members(steer))
    _assert_nothing_is_left(steer)
    backups.forget(steer, "s3")
    whole.assert_as_before()


@pytest.mark.slow
@pytest.mark.long
def test_that_a_chain_of_another_host_is_brought_whole_with_the_console_killed_and_the_originals_untouched(
    steer: Estate, console: Console, whole: Whole
) -> None:
    full, *rest = backups.make_chain(steer, "s2")
    steer.stop("s3")
    steer.wait_synced(["s1", "s2"], size=2)
    digests = f"find {backups.FOLDER} -type f | sort | xargs sha256sum"
    originals = steer.host("s2").sh(digests).out
    try:
        how = {**_HOW, "backup_from": "host", "source": "s2", "full": full, "incrementals": ",".join(rest)}
        killed = console.killed_run("send-s2=acting", NAME, tables=backups.tables(), **how)
        assert killed.code == KILLED, killed
        killed = console.killed("came-s3=acting", "resume", console.runs()[0], "--yes")
        assert killed.code == KILLED, killed
        ran = console("resume", console.runs()[0], "--yes")
        assert ran.code == 0, ran
        steps = {s.step.step_id: " ".join(s.evidence) for s in console.assert_ended(RunState.DONE, ran).steps}
        assert "3 of 3 tables are equal" in steps["compare-s3"]
        assert steer.host("s2").sh(digests).out == originals
        _assert_nothing_is_left(steer)
    finally:
        backups.forget(steer, "s2")
        backups.forget(steer, "s3")
    whole.assert_as_before()


def _waits_for_data(steer: Estate) -> None:
    """Wait until a stream is being unpacked."""
    steer.host("s3").sh(f"for n in $(seq 300); do [ -d {PLACE}/.part ] && exit 0; sleep 0.1; done; exit 1")


_FOREIGN = (
    "ends() { timeout 20 socat -t 5 - openssl-connect:10.213.14.43:4444,verify=0,commonname=,no-sni=1; }; "
    f"for n in 1 2 3; do ends < /etc/hostname; done; ! ls {PLACE}"
)
"""Somebody without this run's certificate; the folder is not on that host at all."""


@pytest.mark.slow
@pytest.mark.long
def test_that_a_transfer_that_broke_begins_again_from_its_start_and_is_taken_back_whole(
    steer: Estate, console: Console, whole: Whole, away: None
) -> None:
    old = steer.host("s3").sh("cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort").out
    inputs = {**_HOW, "backup_from": "now", "source": "s2", "rate": "60 MiB"}
    words = tuple(word for name, value in inputs.items() for word in ("--input", f"{name}={value}"))
    with at_terminal(console, "run", NAME, *words) as terminal:
        at = terminal.wait_for("Approve this plan? Type yes: ")
        terminal.type("yes")
        terminal.running(console).wait_for_step("receive-s3", "done")
        steer.host("s1").sh(_FOREIGN)
        _waits_for_data(steer)
        steer.host("s3").sh("kill -9 $(pidof socat)")
        at = terminal.wait_for("try the step again", after=at)
        assert "full" not in steer.host("s3").sh(f"ls -A {PLACE}").out
        terminal.type("again")
        _waits_for_data(steer)
        at = terminal.wait_for(" GB", after=at)  # what the other end has, while this one sends
        terminal.process.kill()
    killed = console.killed("backup-known=acting", "resume", console.runs()[0], "--yes")
    assert killed.code == KILLED, killed
    sent = [e for e in console.entries() if e.step_id == "send-s2"]
    assert len(sent) > 3
    undone = console("undo", console.runs()[0], "--yes")
    assert undone.code == 0, undone
    console.assert_ended(RunState.UNDONE, undone)
    _assert_nothing_is_left(steer)
    assert steer.host("s3").sh("cd /var/lib/mysql; find . -type f -printf '%P %s %u %m %T@\\n' | sort").out == old
    whole.assert_files_as_before()
