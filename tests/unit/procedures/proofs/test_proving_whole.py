"""Restored data are held against a member: files, tables that open, what is defined, rows; on scripted sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.command import Command
from services.connections.ports import Output
from services.connections.programs.whole_programs import PAIRS, SUMS, TABLES_TOLD
from services.connections.reads.read import CommandRead
from services.connections.reads.registry import command_of
from services.errors import SudoFailed
from services.procedures.conditions.server.compared import Compared
from services.procedures.conditions.server.files_paired import FilesPaired
from services.procedures.conditions.server.same_defined import SameDefined, TablesOpen
from services.procedures.conditions.server.same_rows import TIMES
from services.procedures.conditions.server.same_sums import TRIES, SameSums
from services.procedures.plan.condition import Answer, Condition, Kept
from services.procedures.plan.looks import AT_THE_END, Past
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, ScriptedSession, out, status

A, B = "73686F70.61", "73686F70.62"


class _Session(ScriptedSession):
    """Answers the three programs: `folders` by path, `defined`, and the sums of a table one after the other."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.state = status(last_committed="7")
        self.folders: dict[str, str] = {}
        self.defined = ""
        self.sums: dict[str, list[str]] = {}
        self.asked: list[tuple[str, ...]] = []

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        command: Command = command_of(read)
        if self.no_root:
            raise SudoFailed("No sudo.", host=self.host)
        words = command.argv
        if PAIRS in words:
            return out(self.folders.get(words[-1], "absent\n"))
        if TABLES_TOLD in words:
            return out(self.defined)
        assert SUMS in words, (words, limit_s)
        tables = words[words.index("pilothouse") + 2 :]
        self.asked.append(words[words.index("pilothouse") + 1 :])
        return out("".join(self._sum(one) for one in tables) + "end\n")

    def _sum(self, table: str) -> str:
        told = self.sums.get(table, ["none"])
        said = told.pop(0) if len(told) > 1 else told[0]
        return f"none\t{table}\tERROR 1064 (42000)\n" if said == "none" else f"sum\t{table}\t{said}\twhole\n"


def _hosts() -> tuple[ScriptedHosts, _Session, _Session]:
    made = ScriptedHosts("n1", "n3")
    member, joiner = _Session("n1"), _Session("n3")
    made.sessions = {"n1": member, "n3": joiner}
    for session in (member, joiner):
        session.defined = _told(_table(A), _table(B))
    return made, member, joiner


def _table(digits: str, engine: str = "InnoDB", size: int = 16384) -> str:
    schema, _, name = digits.partition(".")
    return f"table\t{schema}\t{name}\tBASE_TABLE\t{engine}\t{size}"


def _told(*lines: str) -> str:
    return "\n".join((*lines, "end\n"))


def _looks(hosts: ScriptedHosts, condition: Condition, times: int = 1, past: Past = NOTHING) -> Answer:
    attempt = Attempt(hosts, ManualClock())
    for _ in range(times - 1):
        attempt.look(condition, past)
    return attempt.look(condition, past)


# -- files -------------------------------------------------------------------------------------------------------------

PAIRED = FilesPaired("n3", ("/backup/full", "/backup/inc1"), "n1", "/var/lib/mysql")


def test_that_files_that_lack_nothing_are_whole_and_the_member_is_not_asked() -> None:
    hosts, _, joiner = _hosts()
    joiner.folders = {"/backup/full": "end 9\n", "/backup/inc1": "end 9\n"}
    found = _looks(hosts, PAIRED)
    assert (found.holds, found.evidence) == (True, "none of 18 files of tables is incomplete")


@pytest.mark.parametrize(
    ("theirs", "holds"), [("end 9\n", False), ("lacks frm shop/a\nend 9\n", True), ("lacks frm", None)]
)
def test_that_what_lacks_is_named_and_no_fault_where_the_member_lacks_it_too(
    theirs: str, *, holds: bool | None
) -> None:
    hosts, member, joiner = _hosts()
    joiner.folders = {"/backup/full": "lacks frm shop/a\nend 9\n", "/backup/inc1": "end 9\n"}
    member.folders = {"/var/lib/mysql": theirs}
    found = _looks(hosts, PAIRED)
    assert found.holds is holds
    assert found.final is (holds is False)
    assert "shop/a lacks its .frm file" in found.evidence


def test_that_a_folder_that_is_gone_is_refused_and_one_that_was_not_read_to_the_end_is_not_known() -> None:
    hosts, _, joiner = _hosts()
    assert _looks(hosts, PAIRED).holds is False
    joiner.folders = {"/backup/full": "lacks frm shop/a\n"}
    assert _looks(hosts, PAIRED).holds is None


# -- tables that open --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "member", "holds"),
    [
        ("end", "", True),
        ("", "", None),
        (f"{_table(A, '-')}\nend", _told(_table(A)), False),
        ("lost\tibd\tshop/b\nend", _told(_table(A)), False),
        ("lost\tibd\tshop/b\nend", _told("lost\tibd\tshop/b"), True),
        ("lost\tibd\tshop/b\nend", "cut", None),
    ],
)
def test_that_a_broken_table_of_restored_data_ends_the_run_unless_it_is_broken_on_the_member_too(
    seen: str, member: str, *, holds: bool | None
) -> None:
    hosts, donor, _ = _hosts()
    donor.defined = member
    found = _looks(hosts, TablesOpen("n3", "n1", Kept("looked-n3")), past=Past({"looked-n3": seen}, {}))
    assert (found.holds, found.final) == (holds, holds is False)


# -- what is defined ---------------------------------------------------------------------------------------------------


def test_that_the_same_definitions_hold_and_a_difference_counts_when_it_was_found_thrice() -> None:
    hosts, _, joiner = _hosts()
    assert _looks(hosts, SameDefined("n3", "n1")).evidence.startswith("2 tables and all other")
    joiner.defined = _told(_table(A))
    found = [_looks(hosts, SameDefined("n3", "n1", accepted=True), times) for times in range(1, TIMES + 1)]
    assert [(one.holds, one.final) for one in found] == [(None, False), (None, False), (False, True)]
    assert found[-1].evidence == "table shop.b is not there on n3, n1 has it"


def test_that_what_differs_between_the_members_is_told_and_no_fault_of_the_restored_data() -> None:
    hosts, member, joiner = _hosts()
    other = _Session("n2")
    hosts.sessions["n2"] = other
    joiner.defined = other.defined = _told(_table(A))
    condition = SameDefined("n3", "n1", others=("n2",))
    found = _looks(hosts, condition, TIMES)
    assert found.holds is True
    assert "the members differ as well: table shop.b is not there on n3" in found.evidence
    other.defined = member.defined
    assert _looks(hosts, condition, TIMES).holds is False
    other.no_root = True
    assert _looks(hosts, condition, TIMES).holds is False


def test_that_lists_of_root_that_can_not_be_read_are_not_known_until_a_person_accepts_it() -> None:
    hosts, member, _ = _hosts()
    member.no_root = True
    assert _looks(hosts, SameDefined("n3", "n1")).holds is None
    found = _looks(hosts, SameDefined("n3", "n1", accepted=True))
    assert (found.holds, found.evidence.startswith("not compared, as you accepted")) == (True, True)


def test_that_a_joiner_that_does_not_get_as_far_is_not_known() -> None:
    hosts, _, joiner = _hosts()
    joiner.state = status(last_committed="6")
    assert _looks(hosts, SameDefined("n3", "n1")).holds is None


# -- rows --------------------------------------------------------------------------------------------------------------

ROWS = SameSums("n3", "n1", 2**30)


def test_that_all_tables_with_equal_sums_hold_and_it_is_told_at_the_end_how_many() -> None:
    hosts, member, joiner = _hosts()
    member.defined = _told(_table(A), _table(B), _table("73686F70.63", "CONNECT"))
    member.sums = joiner.sums = {A: ["0:9-1-1"], B: ["0:0"]}
    found = _looks(hosts, ROWS)
    said = "2 of 2 tables are equal on n3 and n1; Galera does not replicate the rows of 1 of other engines: "
    said += "as restored shop.c (CONNECT)"
    assert (found.holds, found.evidence) == (True, said)
    assert found.kept == ((f"{AT_THE_END}rows of n3", f"{said}."),)


def test_that_small_tables_of_engines_that_are_not_replicated_are_read_and_named_where_they_differ() -> None:
    hosts, member, joiner = _hosts()
    c, d, e = (f"73686F70.6{number}" for number in (3, 4, 5))
    large = _table(e, "Aria", 65 * 2**20)
    member.defined = _told(_table(A), _table(c, "MyISAM"), _table(d, "Aria"), large)
    member.sums = {A: ["0:9-1-1"], c: ["0:4-1-1"], d: ["0:5-1-1"]}
    joiner.sums = {**member.sums, d: ["0:3-1-1"]}
    found = _looks(hosts, ROWS, times=TIMES)
    said = "1 of 1 tables are equal on n3 and n1; Galera does not replicate the rows of 3 of other engines: 1 equal, "
    assert (found.holds, found.evidence) == (True, said + "as restored shop.d (Aria); shop.e (Aria)")
    assert not any(e in asked for asked in (*member.asked, *joiner.asked)), "its writers would wait"


@pytest.mark.parametrize("ours", ["0:8-1-1", "none", "0:9-1-1/1:1-2-2"])
def test_that_rows_that_differ_or_a_table_that_is_not_there_count_when_found_thrice_and_are_never_accepted(
    ours: str,
) -> None:
    hosts, member, joiner = _hosts()
    member.sums, joiner.sums = {A: ["0:9-1-1"], B: ["0:0"]}, {A: [ours], B: ["0:0"]}
    accepting = replace(ROWS, accepted=True)
    assert [_looks(hosts, accepting, times).holds for times in range(1, TIMES + 1)] == [None, None, False]
    assert "shop.a" in _looks(hosts, ROWS, TIMES).evidence


def test_that_a_large_table_is_read_by_samples_and_by_the_bounds_that_the_member_told() -> None:
    hosts, member, joiner = _hosts()
    member.defined = _told(_table(A, size=2**31))
    member.sums = joiner.sums = {A: ["0:9-1-1/31:2-2-2"]}
    found = _looks(hosts, ROWS)
    assert found.evidence == "1 of 1 tables are equal on n3 and n1, 1 of them by samples"
    assert [words[0] for words in member.asked] == ["sampled", "whole"]


def test_that_of_a_table_that_does_not_stand_still_the_parts_that_do_are_compared() -> None:
    hosts, member, joiner = _hosts()
    member.defined = _told(_table(A))
    member.sums = {A: ["0:1-1-1", "0:2-2-2", "0:3-3-3/1:4-4-4", "0:9-9-9/1:4-4-4"]}
    joiner.sums = {A: ["0:2-2-2", "0:8-8-8/1:4-4-4"]}
    found = _looks(hosts, ROWS, 2)
    assert (found.holds, "by samples" in found.evidence) == (True, True)


def test_that_a_table_that_never_stands_still_is_not_known_and_holds_only_where_a_person_accepts_it() -> None:
    hosts, member, joiner = _hosts()
    member.defined, joiner.sums = _told(_table(A)), {A: ["0:1-1-1"]}
    member.sums = {A: [f"0:{number}-1-1" for number in range(200)]}
    found = _looks(hosts, ROWS, TRIES)
    assert (found.holds, found.final) == (None, True)
    assert "0 of 1 tables are equal" in found.evidence
    member.sums = {A: [f"0:{number}-1-1" for number in range(200)]}
    assert _looks(hosts, replace(ROWS, accepted=True), TRIES).holds is True


def test_that_a_difference_that_was_seen_once_and_then_never_stands_still_is_not_accepted() -> None:
    hosts, member, joiner = _hosts()
    member.defined, joiner.sums = _told(_table(A)), {A: ["0:1-1-1"]}
    member.sums = {A: ["0:7-7-7", "0:7-7-7", *(f"0:{number}-1-2" for number in range(200))]}
    found = _looks(hosts, replace(ROWS, accepted=True), TRIES)
    assert (found.holds, found.final) == (None, True)


def test_that_rows_are_not_known_where_root_can_not_list_the_tables() -> None:
    hosts, member, _ = _hosts()
    member.no_root = True
    assert _looks(hosts, ROWS).holds is None
    assert _looks(hosts, replace(ROWS, accepted=True)).holds is True


# -- while nobody is served --------------------------------------------------------------------------------------------


def test_that_each_session_of_the_programs_reads_a_node_that_refuses_clients() -> None:
    for program in (TABLES_TOLD, SUMS):
        sessions = program.split("SET SESSION TRANSACTION READ ONLY;")[1:]
        assert sessions
        assert all("wsrep_dirty_reads=ON" in one.partition("SELECT")[0] for one in sessions)


@pytest.mark.parametrize(
    ("kept", "there", "holds"),
    [({"rows": "8 of 8 tables are equal"}, True, True), ({}, True, False), ({}, False, True), ({}, None, None)],
)
def test_that_data_count_as_compared_by_the_comparisons_end_or_where_the_old_ones_lie_in_place(
    kept: dict[str, str], there: bool | None, holds: bool | None
) -> None:
    hosts = ScriptedHosts("n3")
    said = {True: out("directory\n"), False: out("", 1, "stat: cannot statx '/x': No such file or directory\n")}
    hosts.sessions["n3"].programs["stat"] = said[there] if there is not None else out("", 1, "stat: Input/output error")
    found = Attempt(hosts, ManualClock()).look(Compared("n3", "/x", Kept("rows")), replace(NOTHING, kept=kept))
    assert found.holds is holds, found
