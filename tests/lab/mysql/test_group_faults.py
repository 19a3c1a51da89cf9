"""What befalls a member of a group is seen in performance_schema, and comes back."""

from __future__ import annotations

import pytest

from services.errors import UserError
from tests.lab.connections.connecting import entry, free_session
from tests.lab.estate.errors import LabTimeoutError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import group
from tests.lab.estate.waiting import while_asserts
from tests.lab.mysql.seeing import said, states, until, until_online, until_there, write

ALL = {"g1": "ONLINE", "g2": "ONLINE", "g3": "ONLINE"}
WITHOUT_G3 = {"g1": "ONLINE", "g2": "ONLINE"}
CERTIFIER = (
    "SELECT COUNT_TRANSACTIONS_IN_QUEUE FROM performance_schema.replication_group_member_stats "
    "WHERE MEMBER_ID = @@server_uuid"
)
QUEUE = (
    "SELECT COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE FROM performance_schema.replication_group_member_stats "
    "WHERE MEMBER_ID = @@server_uuid"
)


@pytest.mark.long
def test_that_a_killed_member_is_unreachable_then_gone_and_joins_by_itself_when_it_is_started(mysql: Estate) -> None:
    mysql.kill9("g3")
    until(mysql, "g1", {**ALL, "g3": "UNREACHABLE"}, limit_s=15)
    until(mysql, "g1", WITHOUT_G3, limit_s=40)
    mysql.start("g3")
    until_online(mysql)


@pytest.mark.long
def test_that_another_member_takes_the_writes_when_the_primary_is_killed(mysql: Estate) -> None:
    mysql.kill9("g1")
    until(mysql, "g2", {"g2": "ONLINE", "g3": "ONLINE"}, limit_s=40)
    (primary,) = group.primaries(mysql.spec)
    assert primary in ("g2", "g3")
    number = write(mysql, primary)
    mysql.start("g1")
    until_online(mysql)
    until_there(mysql, "g1", number)


@pytest.mark.long
def test_that_a_parted_member_sees_itself_alone_and_comes_back_when_the_wire_is_whole(mysql: Estate) -> None:
    mysql.partition(["g3"])
    until(mysql, "g3", {"g1": "UNREACHABLE", "g2": "UNREACHABLE", "g3": "ONLINE"}, limit_s=15)
    until(mysql, "g1", WITHOUT_G3, limit_s=40)
    assert states(mysql, "g3")["g3"] == "ONLINE"  # it was thrown out, and can't know that
    mysql.heal()
    until_online(mysql, limit_s=90)


@pytest.mark.long
def test_that_a_paused_member_is_thrown_out_and_returns(mysql: Estate) -> None:
    mysql.pause("g2")
    until(mysql, "g1", {**ALL, "g2": "UNREACHABLE"}, limit_s=15)
    until(mysql, "g1", {"g1": "ONLINE", "g3": "ONLINE"}, limit_s=40)
    mysql.resume("g2")
    until_online(mysql, limit_s=90)
    with free_session(mysql, entry(mysql, "g2")) as session:
        assert session.query("SELECT 1").rows  # it came back by itself, and was in offline mode at no time


@pytest.mark.long
def test_that_an_expelled_member_says_why_in_its_log_and_shuts_the_observer_out(mysql: Estate) -> None:
    mysql.expel("g3")
    assert states(mysql, "g3") == {"g3": "ERROR"}
    assert said(mysql, "g3", "MY-011505")  # Member was expelled from the group due to network failures
    with free_session(mysql, entry(mysql, "g3")) as session, pytest.raises(UserError, match="offline mode"):
        session.query("SELECT 1")
    mysql.rejoin("g3")
    until_online(mysql)
    with free_session(mysql, entry(mysql, "g3")) as session:
        assert session.query("SELECT 1").rows


@pytest.mark.long
def test_that_a_member_whose_applier_fails_leaves_in_error_with_the_reason_in_its_log(mysql: Estate) -> None:
    mysql.break_member("g2")
    until(mysql, "g2", {"g2": "ERROR"}, limit_s=20)
    assert said(mysql, "g2", "MY-011451")  # The applier thread execution was aborted
    assert said(mysql, "g2", "Error_code: MY-001062")
    mysql.rejoin("g2")
    until_online(mysql)


@pytest.mark.long
def test_that_all_members_take_writes_in_multi_primary_mode_and_one_afterwards(mysql: Estate) -> None:
    mysql.mode("multi")
    assert sorted(group.primaries(mysql.spec)) == ["g1", "g2", "g3"]
    number = write(mysql, "g3")
    until_there(mysql, "g1", number)
    mysql.mode("single")
    assert group.primaries(mysql.spec) == ("g1",)


@pytest.mark.long
def test_that_a_secondary_that_waits_for_a_lock_has_a_queue_and_then_none(mysql: Estate) -> None:
    mysql.lag("g3", 60)
    assert mysql.faults("g3") == ("lagging",)
    number = write(mysql, "g1", 20)

    def queued() -> None:
        assert int(mysql.sql("g3", QUEUE)[0][0]) >= 20

    while_asserts(queued, limit_s=10)
    mysql.unlag("g3")
    until_there(mysql, "g3", number)
    assert mysql.faults("g3") == ()


@pytest.mark.long
def test_that_a_member_with_a_full_disk_stays_online_with_a_queue_and_goes_on_when_there_is_room(mysql: Estate) -> None:
    mysql.fill("g3")
    assert mysql.faults("g3") == ("disk filled",)
    number = write(mysql, "g1", 100)

    def queued() -> None:
        assert int(mysql.sql("g3", CERTIFIER)[0][0]) >= 50

    while_asserts(queued, limit_s=20)
    assert states(mysql, "g1") == states(mysql, "g3") == ALL
    assert said(mysql, "g3", "MY-000035")  # Disk is full writing
    mysql.unfill("g3")
    until_there(mysql, "g3", number, limit_s=120)  # the server tries again each minute


def test_that_a_group_that_lost_its_quorum_takes_no_write_and_is_formed_anew_by_undo(mysql: Estate) -> None:
    number = write(mysql, "g1")
    until_there(mysql, "g2", number)
    mysql.kill9("g2")
    mysql.kill9("g3")
    until(mysql, "g1", {"g1": "ONLINE", "g2": "UNREACHABLE", "g3": "UNREACHABLE"}, limit_s=15)
    assert group.view(mysql.spec, "g1")["g1"].role == "PRIMARY"  # it says so, and no write ends
    with pytest.raises(LabTimeoutError):
        mysql.sql("g1", f"INSERT INTO sbtest.lab_probe VALUES ({number + 1}, 'never decided')", limit_s=4)
    mysql.undo()
    until_online(mysql, limit_s=5)
    until_there(mysql, "g3", number)
