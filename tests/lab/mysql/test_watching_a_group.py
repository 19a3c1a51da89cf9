"""The live watcher on a real group: each fault is drawn truthfully within three samples of its being there to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.__main__ import main
from services.discovery.families.group_replication.judge import INSIDE, LEFT_BEHIND, NO_MAJORITY
from services.discovery.families.group_replication.kind import GROUP_REPLICATION
from services.discovery.judgement import states
from services.discovery.model import ClusterSnapshot, NodeView
from services.sampling.watcher import Watcher
from services.types import Health
from tests.lab.estate.estate import Estate
from tests.lab.estate.waiting import while_asserts
from tests.lab.mysql import cloning
from tests.lab.mysql.seeing import until, until_online
from tests.lab.mysql.watching import SAMPLES_S, becomes, watched

LOG_S = 6.0
"""A log is read each two seconds while SQL does not answer, over SSH with sudo."""
WHOLE = {"g1": "group-online", "g2": "group-online", "g3": "group-online"}


@pytest.fixture
def watcher(mysql: Estate, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that knows one member of the group, and has found the others."""
    until_online(mysql)
    with watched(mysql, tmp_path) as found:
        becomes(lambda: _codes(found) == WHOLE, limit_s=20)
        yield found


def _group(watcher: Watcher) -> ClusterSnapshot:
    found = [c for c in watcher.snapshot().clusters if c.kind == GROUP_REPLICATION]
    assert len(found) == 1, [c.name for c in watcher.snapshot().clusters]
    return found[0]


def _codes(watcher: Watcher) -> dict[str, str]:
    return {node.name: node.code for node in _group(watcher).nodes}


def _node(watcher: Watcher, name: str) -> NodeView:
    found = [n for n in _group(watcher).nodes if n.name == name]
    assert len(found) == 1, [n.name for n in _group(watcher).nodes]
    return found[0]


def _majority(watcher: Watcher) -> set[str]:
    group = _group(watcher)
    names = {n.node_id: n.name for n in group.nodes}
    return {names[m] for c in group.components if c.primary for m in c.members}


def test_that_one_member_shows_the_whole_group_by_the_inventorys_name_and_who_takes_writes(watcher: Watcher) -> None:
    assert _group(watcher).name == "mysql-group"
    assert _majority(watcher) == {"g1", "g2", "g3"}
    assert {n.name: n.role for n in _group(watcher).nodes if n.role == "primary"} == {"g1": "primary"}
    assert [e.text for e in watcher.events() if e.kind == "view"] == []  # who was only named has not left


def test_that_a_killed_member_is_not_running_and_counts_no_more_within_three_samples(
    mysql: Estate, watcher: Watcher
) -> None:
    mysql.kill9("g3")
    becomes(lambda: _codes(watcher)["g3"] == states.NOT_RUNNING.code and _majority(watcher) == {"g1", "g2"})
    assert _node(watcher, "g3").health is Health.BAD
    until(mysql, "g1", {"g1": "ONLINE", "g2": "ONLINE"}, limit_s=40)
    assert "g3" in _codes(watcher)  # the group has forgotten it
    mysql.start("g3")
    until_online(mysql)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=15)


def test_that_a_parted_member_is_no_primary_whatever_it_says_of_itself_within_three_samples(
    mysql: Estate, watcher: Watcher
) -> None:
    mysql.partition(["g3"])
    until(mysql, "g3", {"g1": "UNREACHABLE", "g2": "UNREACHABLE", "g3": "ONLINE"}, limit_s=15)
    alone = {NO_MAJORITY.code, LEFT_BEHIND.code}
    becomes(lambda: _codes(watcher)["g3"] in alone and _majority(watcher) == {"g1", "g2"})
    assert _node(watcher, "g3").health is Health.BAD
    mysql.heal()
    until_online(mysql, limit_s=90)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=15)


@pytest.mark.long
def test_that_a_paused_member_is_told_from_a_dead_one(mysql: Estate, watcher: Watcher) -> None:
    mysql.pause("g2")
    # A statement's limit has to pass first, then SSH is asked: two samples on a quiet machine, four on a busy one.
    becomes(lambda: _codes(watcher)["g2"] == states.HELD.code, limit_s=2 * SAMPLES_S)
    mysql.resume("g2")
    until_online(mysql, limit_s=90)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=15)


@pytest.mark.long
def test_that_a_full_disk_is_told_though_every_member_calls_it_online(mysql: Estate, watcher: Watcher) -> None:
    mysql.fill("g3")
    becomes(lambda: _codes(watcher)["g3"] == states.DISK_FULL.code)
    assert _node(watcher, "g3").health is Health.BAD
    mysql.unfill("g3")
    until_online(mysql, limit_s=90)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=15)


@pytest.mark.long
def test_that_an_expelled_member_is_in_offline_mode_within_three_samples_and_its_log_says_why(
    mysql: Estate, watcher: Watcher
) -> None:
    mysql.expel("g3")  # until it says ERROR of itself: from then on it lets nobody in who only reads
    becomes(lambda: _codes(watcher)["g3"] == states.OFFLINE_MODE.code and _majority(watcher) == {"g1", "g2"})
    assert _node(watcher, "g3").health is Health.BAD
    assert "(GR) leave group on failure" in _node(watcher, "g3").reason
    becomes(lambda: "its log: Member was expelled from the group" in _node(watcher, "g3").reason, limit_s=LOG_S)
    mysql.rejoin("g3")
    until_online(mysql)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=40)  # the backoff of its login has grown meanwhile


@pytest.mark.long
def test_that_a_member_that_clones_tells_how_much_of_it_is_copied_and_comes_back(
    mysql: Estate, watcher: Watcher
) -> None:
    def tells_the_copy() -> None:
        assert "clones its data from a member (FILE COPY)" in _node(watcher, "g3").reason, _node(watcher, "g3")

    cloning.begin(mysql, "g3", "g1")
    cloning.until_it_copies(mysql, "g3")
    while_asserts(tells_the_copy, limit_s=15, every_s=0.05)
    assert _codes(watcher)["g3"] == INSIDE["RECOVERING"].code
    assert _node(watcher, "g3").health is Health.TRANSFER
    assert _node(watcher, "g3").numbers[0][0] == "recovery"
    cloning.end(mysql, "g3")
    until_online(mysql, limit_s=90)
    becomes(lambda: _codes(watcher) == WHOLE, limit_s=40)


@pytest.mark.long
def test_that_one_look_from_the_terminal_tells_an_expelled_member_and_why(
    mysql: Estate, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    until_online(mysql)
    mysql.expel("g3")
    written = str(mysql.client_dir / "inventory.toml")
    main(["topology", "--inventory", written, "--data", str(tmp_path), "--wait", "8"])
    output = capsys.readouterr().out
    assert "mysql-group  Group Replication" in output
    assert "mysql-async  asynchronous replication" in output
    assert "g3  offline mode" in output
    assert "its log: Member was expelled from the group" in output
    mysql.rejoin("g3")
    until_online(mysql)
