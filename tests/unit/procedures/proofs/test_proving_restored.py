"""Conditions about restored data, on scripted hosts: the reach, the position, the past, the rows, the folders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.operator.made_by_run import left_note
from services.connections.ports import Output, Rows
from services.errors import QueryFailed, Unreachable
from services.procedures.conditions.galera.data.backup_is import BackupIs, PreparedTo
from services.procedures.conditions.galera.data.recovered_is import RecoveredIs
from services.procedures.conditions.galera.transfer.ist_reaches import IstReaches
from services.procedures.conditions.machine.nothing_left import NothingLeft, Swept
from services.procedures.conditions.machine.only_kept import OnlyKept
from services.procedures.conditions.machine.owned import OwnedBy
from services.procedures.conditions.machine.same_folder import SameFolder
from services.procedures.conditions.server.comparable import Comparable
from services.procedures.conditions.server.same_rows import REACH_S, TIMES, SameRows
from services.procedures.plan.condition import Kept
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, out, status, two_members

AT = "261124 18:21:20"


def _hosts(**more: str) -> ScriptedHosts:
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(**{"local_cached_downto": "100", "last_committed": "200"} | more)
        hosts.sessions[name].rows["SHOW GLOBAL VARIABLES"] = Rows(("Variable_name", "Value"), ())
    return hosts


def _reach(hosts: ScriptedHosts, at: int) -> bool | None:
    return Attempt(hosts, ManualClock()).look(IstReaches("n3", ("n1", "n2"), UUID, at), NOTHING).holds


# -- reach -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("at", "holds"), [(150, True), (100, True), (98, False), (201, False), (99, False)])
def test_that_a_donor_must_cache_what_follows_and_not_stand_before_it(at: int, holds: bool) -> None:
    assert _reach(_hosts(), at) is holds


def test_that_a_donor_that_is_not_synced_or_of_another_cluster_is_none() -> None:
    assert _reach(_hosts(local_state="2", local_state_comment="Donor/Desynced"), 150) is False
    assert _reach(_hosts(cluster_state_uuid=UUID.replace("2", "3")), 150) is False
    assert _reach(_hosts(cluster_status="non-Primary"), 150) is False
    assert _reach(_hosts(local_cached_downto="0"), 150) is False


def test_that_no_answer_is_no_reach_and_one_that_is_able_is_enough() -> None:
    silent = _hosts()
    silent.sessions["n1"].state = silent.sessions["n2"].state = Unreachable("No.")
    assert _reach(silent, 150) is None
    silent.sessions["n2"].state = status(local_cached_downto="100", last_committed="200")
    assert _reach(silent, 150) is True


OPTIONS = "gcache.dir = /x; gcache.size = {ring}; gcache.page_size = 128M;"


def _moving(ring: str, **then: str) -> tuple[bool | None, str]:
    """Look at members that write meanwhile."""
    hosts, clock = _hosts(replicated_bytes="0", received_bytes="1000"), ManualClock()
    for name in ("n1", "n2"):
        rows = Rows(("Variable_name", "Value"), (("wsrep_provider_options", OPTIONS.format(ring=ring)),))
        hosts.sessions[name].rows["SHOW GLOBAL VARIABLES"] = rows
    sleep = clock.sleep

    def write(seconds: float, *more: object) -> bool | None:
        for name in ("n1", "n2"):
            hosts.sessions[name].state = status(**then)
        return sleep(seconds)

    clock.sleep = write  # type: ignore[method-assign,assignment]
    found = Attempt(hosts, clock).look(IstReaches("n3", ("n1", "n2"), UUID, 150), NOTHING)
    return found.holds, found.evidence


def test_that_a_cache_that_purges_what_is_needed_within_seconds_is_no_reach() -> None:
    holds, told = _moving(
        "128M", local_cached_downto="110", last_committed="300", replicated_bytes="0", received_bytes="1100"
    )
    assert holds is False
    assert "4 s more" in told


def test_that_a_ring_that_stands_still_between_two_purges_is_judged_by_its_room_and_the_writes() -> None:
    written = {"local_cached_downto": "100", "last_committed": "300", "replicated_bytes": "0"}
    assert _moving("1M", **written, received_bytes="101000")[0] is False
    assert _moving("128M", **written, received_bytes="101000")[0] is True
    assert _moving("", **written, received_bytes="101000")[0] is False


def test_that_a_cache_which_is_not_told_is_not_known_and_one_that_keeps_nothing_is_no_reach() -> None:
    told = _hosts(local_cached_downto="18446744073709551615")
    assert _reach(told, 150) is None
    told.sessions["n2"].state = status(local_cached_downto="100", last_committed="200")
    assert _reach(told, 150) is True


def test_that_a_donor_which_applies_late_serves_what_the_group_has() -> None:
    late = _hosts()
    late.sessions["n1"].state = status(local_cached_downto="0", last_committed="210")
    assert _reach(late, 205) is True, "n2 stands at 200, and serves the request behind all that is ordered before it"
    assert _reach(late, 211) is False


def test_that_the_caches_of_another_cluster_make_no_gap() -> None:
    other = _hosts(local_cached_downto="100", last_committed="1380")
    assert _reach(other, 105) is False
    stranger = {"local_cached_downto": "1", "last_committed": "1380", "cluster_state_uuid": UUID.replace("2", "3")}
    other.sessions["n1"].state = status(**stranger)
    assert _reach(other, 105) is False


# -- position and past -------------------------------------------------------------------------------------------------


def test_that_a_recovered_position_must_be_the_expected_one_to_the_number() -> None:
    def look(kept: dict[str, str]) -> bool | None:
        condition = RecoveredIs("n3", UUID, 25, Kept("recovered-n3"))
        return Attempt(_hosts(), ManualClock()).look(condition, Past(kept, {})).holds

    assert look({"recovered-n3": f"{UUID}:25"}) is True
    assert look({"recovered-n3": f"{UUID}:24"}) is False
    assert look({"recovered-n3": f"{UUID}:26"}) is False
    assert look({"recovered-n3": f"{UUID.replace('2', '3')}:25"}) is False
    assert look({}) is None


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(hosts: ScriptedHosts, **sums: str | None) -> None:
    for name, value in sums.items():
        hosts.sessions[name].rows["CHECKSUM TABLE"] = Rows(("Table", "Checksum"), (("shop.a", value),))
        hosts.sessions[name].state = status(last_committed="7")


def test_that_equal_sums_of_a_table_that_stands_still_are_equal_rows() -> None:
    hosts = two_members()
    _rows(hosts, n1="4711", n2="4711")
    assert Attempt(hosts, ManualClock()).look(SameRows("n1", "n2", ("shop.a",)), NOTHING).holds is True


def test_that_different_sums_count_when_they_were_found_thrice_and_are_never_accepted() -> None:
    hosts = two_members()
    _rows(hosts, n1="4711", n2="4712")
    attempt, condition = Attempt(hosts, ManualClock()), SameRows("n1", "n2", ("shop.a",), accepted=True)
    found = [attempt.look(condition, NOTHING) for _ in range(TIMES)]
    assert [one.holds for one in found] == [None, None, False]
    assert found[-1].final


@pytest.mark.parametrize("errno", [None, 1142, 1044, 1146])
def test_that_a_table_that_is_not_there_or_may_not_be_read_ends_the_wait_at_once_and_is_never_equal(
    errno: int | None,
) -> None:
    hosts = two_members()
    _rows(hosts, n1=None, n2=None)
    if errno:
        hosts.sessions["n2"].rows["CHECKSUM TABLE"] = QueryFailed("SELECT command denied", host="n2", errno=errno)
    found = Attempt(hosts, ManualClock()).look(SameRows("n1", "n2", ("shop.a",)), NOTHING)
    assert (found.holds, found.final) == (None, True)
    accepted = Attempt(hosts, ManualClock()).look(SameRows("n1", "n2", ("shop.a",), accepted=True), NOTHING)
    assert (accepted.holds, accepted.final) == (None, False)


def _columns(hosts: ScriptedHosts, host: str, extra: str) -> None:
    columns = ("Field", "Type", "Null", "Key", "Default", "Extra")
    rows = (("id", "int(11)", "NO", "PRI", None, "auto_increment"), ("twice", "int(11)", "YES", "", None, extra))
    hosts.sessions[host].rows["SHOW COLUMNS"] = Rows(columns, rows)


@pytest.mark.parametrize("extra", ["STORED GENERATED", "VIRTUAL GENERATED", "PERSISTENT", "VIRTUAL"])
def test_that_another_sum_of_a_table_with_a_generated_column_is_not_known_and_no_difference(extra: str) -> None:
    hosts = two_members()
    _rows(hosts, n1="4711", n2="4712")
    _columns(hosts, "n2", extra)
    attempt = Attempt(hosts, ManualClock())
    for _ in range(TIMES):
        found = attempt.look(SameRows("n1", "n2", ("shop.a",)), NOTHING)
        assert (found.holds, found.final) == (None, True)
    assert "generated column (twice)" in found.evidence
    taken, accepted = Attempt(hosts, clock := ManualClock()), SameRows("n1", "n2", ("shop.a",), accepted=True)
    assert taken.look(accepted, NOTHING).holds is None
    clock.advance(REACH_S + 1.0)
    assert taken.look(accepted, NOTHING).holds is True
    assert Attempt(hosts, ManualClock()).look(Comparable("n2", ("shop.a",)), NOTHING).holds is False


def test_that_tables_that_are_there_without_a_generated_column_can_be_compared_and_absent_ones_not() -> None:
    hosts, condition = two_members(), Comparable("n2", ("shop.a",))
    _columns(hosts, "n2", "DEFAULT_GENERATED")
    assert Attempt(hosts, ManualClock()).look(condition, NOTHING).holds is True
    hosts.sessions["n2"].rows["SHOW COLUMNS"] = QueryFailed("no such table", host="n2", errno=1146)
    found = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    assert (found.holds, found.final) == (False, True)
    assert "shop.a does not exist on n2" in found.evidence


def test_that_a_table_that_only_the_donor_has_is_a_difference_and_not_only_not_known() -> None:
    hosts = two_members()
    _rows(hosts, n1=None, n2="4711")
    attempt, condition = Attempt(hosts, ManualClock()), SameRows("n1", "n2", ("shop.a",), accepted=True)
    assert [attempt.look(condition, NOTHING).holds for _ in range(TIMES)] == [None, None, False]


def test_that_a_joiner_that_does_not_get_as_far_as_the_donor_is_not_known() -> None:
    hosts = two_members()
    _rows(hosts, n1="4711", n2="4711")
    hosts.sessions["n1"].state = status(last_committed="6")
    found = Attempt(hosts, ManualClock()).look(SameRows("n1", "n2", ("shop.a",)), NOTHING)
    assert found.holds is None
    assert "did not reach" in found.evidence


# -- folders -----------------------------------------------------------------------------------------------------------


def _look(hosts: ScriptedHosts, condition: object) -> bool | None:
    return Attempt(hosts, ManualClock()).look(condition, NOTHING).holds  # type: ignore[arg-type]


def test_that_a_folder_holds_only_what_was_kept() -> None:
    hosts, condition = _hosts(), OnlyKept("n3", "/var/lib/mysql", "/var/lib/mysql/.kept")
    for listed, holds in ((".kept\n", True), (".kept\nlost+found\n", True), (".kept\nibdata1\n", False), ("", False)):
        hosts.sessions["n3"].programs["ls"] = out(listed)
        assert _look(hosts, condition) is holds
    hosts.sessions["n3"].programs["ls"] = out("", 2, "ls: cannot open")
    assert _look(hosts, condition) is None


def test_that_what_an_undo_left_is_told_and_no_note_is_nothing_left() -> None:
    hosts, condition = _hosts(), NothingLeft("n3", "/var/lib/mysql.came")
    assert left_note("/var/lib/mysql.came").startswith("/var/lib/pilothouse/made/")
    hosts.sessions["n3"].programs["cat"] = out("", 1, "cat: x: No such file or directory")
    assert _look(hosts, condition) is True
    hosts.sessions["n3"].programs["cat"] = out("/var/lib/mysql.came: 1, as dump.sql\n")
    answer = Attempt(hosts, ManualClock()).look(condition, NOTHING)
    assert (answer.holds, "dump.sql" in answer.evidence) == (False, True)
    hosts.sessions["n3"].programs["cat"] = out("", 1, "cat: x: Permission denied")
    assert _look(hosts, condition) is None


@pytest.mark.parametrize("emptied", [False, True])
def test_that_a_folder_is_swept_where_it_is_gone_or_what_stays_is_noted(emptied: bool) -> None:
    """Its undo was taken for done where the run was killed between the folder and the file: the folder stayed."""
    hosts, condition = _hosts(), Swept("n3", "/var/lib/mysql.came", emptied=emptied)
    programs = hosts.sessions["n3"].programs
    programs["cat"] = out("", 1, "cat: x: No such file or directory")
    programs["stat"] = programs["ls"] = out("", 1, "stat: cannot statx 'x': No such file or directory")
    assert _look(hosts, condition) is True
    programs["stat"], programs["ls"] = out("directory\n"), out("dump.sql\n")
    assert _look(hosts, condition) is False
    programs["cat"] = out("/var/lib/mysql.came: 1, as dump.sql\n")
    assert _look(hosts, condition) is True
    programs["cat"] = out("", 1, "cat: x: Permission denied")
    assert _look(hosts, condition) is None


def test_that_an_owner_is_the_servers() -> None:
    hosts = _hosts()
    hosts.sessions["n3"].programs["stat"] = out("106\n")
    assert _look(hosts, OwnedBy("n3", "/x", 106)) is True
    assert _look(hosts, OwnedBy("n3", "/x", 107)) is False
    assert _look(hosts, OwnedBy("n3", "/x", None)) is True


TOLD = (
    "backup /b/i\nreal /b/i\nsize 7\ncounts {counts}\nfile checkpoints\n| backup_type = {kind}\n| last_lsn = 9\n\n"
    "file info\n| uuid = {uuid}\n\nfile galera_info\n| " + UUID + ":25 0\n\nend\n"
)


@pytest.mark.parametrize(
    ("counts", "kind", "uuid", "holds"),
    [
        ("0 0 0 9 0", "incremental", "u", True),
        ("1 0 0 9 0", "incremental", "u", False),
        ("0 2 0 9 0", "incremental", "u", False),
        ("0 0 0 9 1", "incremental", "u", False),
        ("0 0 0 8 0", "incremental", "u", False),
        ("0 0 0 9 0", "log-applied", "u", False),
        ("0 0 0 9 0", "incremental", "other", False),
    ],
)
def test_that_a_backup_is_the_one_that_was_planned_with_and_unused(
    counts: str, kind: str, uuid: str, holds: bool
) -> None:
    hosts = _hosts()
    hosts.sessions["n3"].programs["timeout"] = out(TOLD.format(counts=counts, kind=kind, uuid=uuid))
    assert _look(hosts, BackupIs("n3", "/b/i", "u", 9, 7, 9)) is holds
    if holds:
        assert _look(hosts, BackupIs("n3", "/b/i", "u", 9, 8, 9)) is False


def test_that_a_prepared_copy_stands_at_the_backup_it_was_prepared_with() -> None:
    hosts = _hosts()
    hosts.sessions["n3"].programs["timeout"] = out(TOLD.format(counts="0 0 0 0 0", kind="log-applied", uuid="u"))
    assert _look(hosts, PreparedTo("n3", "/b/i", "u", UUID, 25)) is True
    assert _look(hosts, PreparedTo("n3", "/b/i", "former", UUID, 25)) is False
    assert _look(hosts, PreparedTo("n3", "/b/i", "u", UUID, 26)) is False
    hosts.sessions["n3"].programs["timeout"] = out("", 124)
    assert _look(hosts, PreparedTo("n3", "/b/i", "u", UUID, 25)) is None


def test_that_where_no_table_could_be_compared_an_accepted_step_says_that_nothing_was() -> None:
    hosts, clock = two_members(), ManualClock()
    _rows(hosts, n1=None, n2=None)
    attempt, condition = Attempt(hosts, clock), SameRows("n1", "n2", ("shop.a", "shop.b"), accepted=True)
    assert attempt.look(condition, NOTHING).holds is None, "it is tried for a while first"
    clock.advance(REACH_S + 1)
    found = attempt.look(condition, NOTHING)
    assert found.holds is True
    assert found.evidence.startswith("nothing was compared: no rows of 2 tables could be compared on n1 and n2")
    assert "not compared, as you accepted: shop.a" in found.evidence
    assert "equal" not in found.evidence


def test_that_a_difference_that_was_found_once_is_not_accepted_as_a_table_that_could_not_be_compared() -> None:
    hosts, clock = two_members(), ManualClock()
    _rows(hosts, n1="4711", n2="4712")
    attempt, condition = Attempt(hosts, clock), SameRows("n1", "n2", ("shop.a",), accepted=True)
    attempt.look(condition, NOTHING)
    clock.advance(REACH_S + 1)
    assert attempt.look(condition, NOTHING).holds is None
    _rows(hosts, n1=None, n2=None)
    clock.advance(REACH_S + 1)
    assert attempt.look(condition, NOTHING).holds is None, "what differed once is not settled by being unreadable"
    _rows(hosts, n1="4712", n2="4712")
    assert attempt.look(condition, NOTHING).holds is True


@pytest.mark.parametrize(
    ("now", "kept", "holds"),
    [
        (out("2049:77 1700000000\n"), "2049:77 1700000000", True),
        (out("2049:78 1700000000\n"), "2049:77 1700000000", False),  # another folder of that name
        (out("2049:77 1700000009\n"), "2049:77 1700000000", False),  # something was taken out of it
        (out("", 1, "stat: cannot statx '/d/.kept': No such file or directory"), "2049:77 1700000000", False),
        (out("", 1, "sudo: a password is required"), "2049:77 1700000000", None),
        (out("2049:77 1700000000\n"), "", None),
    ],
)
def test_that_a_folder_is_the_one_that_was_seen_only_by_device_inode_and_time(
    now: Output, kept: str, holds: bool | None
) -> None:
    hosts = _hosts()
    hosts.sessions["n3"].programs["stat"] = now
    past = replace(NOTHING, kept={"aside-n3": kept} if kept else {})
    answer = Attempt(hosts, ManualClock()).look(SameFolder("n3", "/d/.kept", Kept("aside-n3")), past)
    assert answer.holds is holds
