"""Views of a log and marks of a binary log, recorded from the lab (MariaDB 10.11.18, Galera 26.4.23)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.facts.binlog.marks import parse_marks, why_unread
from services.facts.galera.primary_views import parse_views
from tests.unit.recorded.histories_recorded import FOLDER, UUID, marks, views

STAMP = "1795328025.060451 s3 mariadbd[159]: "


def newest_first(*messages: str) -> list[str]:
    return [STAMP + message for message in reversed(messages)]


def block(seqno: int, *members: str, uuid: str = UUID, storage: bool = False, status: str = "primary") -> list[str]:
    begin = "2026-11-22  6:13:45 2 [Note] WSREP: Recovered view from SST:" if storage else "View:"
    lines = [begin, f"  id: {uuid}:{seqno}", f"  status: {status}"]
    lines += [f"\t{at}: {letter * 8}-e63b-11f1-ba60-baec77942897, s{at}" for at, letter in enumerate(members)]
    return lines


def seqnos(*blocks: list[str]) -> list[int]:
    return [v.seqno for v in parse_views(newest_first(*(line for one in blocks for line in one)))]


def test_that_each_primary_component_of_a_log_is_one_view_with_its_members() -> None:
    found = views("fork-s3")
    assert [(v.seqno, v.names) for v in found][2:] == [(14, ("s1", "s2")), (15, ("s1", "s2", "s3")), (20, ("s3",))]
    assert [v.by_hand for v in found] == [False, False, False, False, True]
    assert found[3].is_same(views("fork-s1")[3])
    assert not found[4].is_same(views("fork-s1")[4])


def test_that_a_copy_of_anothers_data_brings_a_past_of_its_own() -> None:
    assert [(v.seqno, v.names) for v in views("sst-s3")] == [(30, ("s1", "s2", "s3"))]
    copied = ["WSREP: Prepared IST receiver for 0-30, listening at: tcp://10.213.4.43:4568"]
    assert seqnos(block(20, "a"), copied, block(31, "b", "c")) == [31]
    kept = ["WSREP: Prepared IST receiver for 21-30, listening at: tcp://10.213.4.43:4568"]
    assert seqnos(block(20, "a"), kept, block(31, "b", "c")) == [20, 31]


def test_that_a_start_from_an_older_state_drops_what_was_given_up() -> None:
    assert seqnos(block(20, "a"), block(30, "a", "b"), block(25, "c")) == [20, 25]
    joined_at = [f"2026-11-22  6:12:47 3 [Note] WSREP: SST received: {UUID}:24"]
    assert seqnos(block(20, "a"), block(30, "a", "b"), joined_at) == [20]


def test_that_a_data_folder_of_another_past_is_seen_when_it_joins() -> None:
    stored = block(20, "b", storage=True)
    assert seqnos(block(10, "a"), block(20, "a"), stored, block(31, "b", "c")) == [20, 31]
    alike = block(20, "a", storage=True)
    assert seqnos(block(10, "a"), block(20, "a"), alike, block(31, "b", "c")) == [10, 20, 31]


def test_that_views_without_a_majority_or_of_another_state_are_no_part_of_it() -> None:
    assert seqnos(block(20, "a"), block(25, "a", status="non-primary")) == [20]
    assert seqnos(block(20, "a"), block(3, "a", uuid=UUID.replace("b", "c"))) == [3]


def test_that_marks_are_read_with_and_without_a_seqno() -> None:
    found = marks("s3")
    assert (found[0].gtid, found[0].xid) == ("0-41-12", None)
    assert (found[1].gtid, found[1].server_id, found[1].time, found[1].xid) == ("0-41-13", 41, "261122 6:13:34", 17)
    assert found[-1].text == "Xid 25, GTID 0-43-20"
    assert parse_marks(["mark 261122 6:13:34 41 3E11FA47-71CA-11E1-9E33-C80AA9429562:23 7"])[0].xid == 7


def test_that_why_a_binary_log_tells_nothing_is_said() -> None:
    assert why_unread(4, "") == "no program that reads binary logs is there"
    assert why_unread(124, "") == "it took too long"
    assert why_unread(1, "a\nPermission denied\n") == "Permission denied"
    assert why_unread(1, "") == ""


@given(st.lists(st.text(max_size=60) | st.sampled_from((FOLDER / "fork-s3.views").read_text().splitlines())))
def test_that_any_log_at_all_gives_views_in_order_and_never_ends_the_reading(lines: list[str]) -> None:
    found = [v.seqno for v in parse_views(lines)]
    assert found == sorted(set(found))
    parse_marks(lines)
