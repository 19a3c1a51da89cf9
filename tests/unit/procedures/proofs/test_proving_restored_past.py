"""The past of restored data, held against the members' binary logs and the old one of its node, on scripted hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.facts.binlog.marks import Mark
from services.procedures.conditions.galera.history.restored import RestoredHistory, by_change, by_old_log, held_against
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import NOTHING, UUID, Attempt, ScriptedHosts, out, status

AT = "261124 18:21:20"


def _hosts(**more: str) -> ScriptedHosts:
    hosts = ScriptedHosts("n1", "n2", "n3")
    for name in ("n1", "n2"):
        hosts.sessions[name].state = status(**{"local_cached_downto": "100", "last_committed": "200"} | more)
        hosts.sessions[name].rows["SHOW GLOBAL VARIABLES"] = Rows(("Variable_name", "Value"), ())
    return hosts


def _marks(*marks: tuple[int | None, str, int]) -> tuple[Mark, ...]:
    return tuple(Mark(gtid, server, AT, xid) for xid, gtid, server in marks)


def test_that_a_gtid_at_the_seqno_shows_one_past_and_another_servers_change_a_fork() -> None:
    there = _marks((24, "0-43-20", 43), (25, "0-43-21", 43), (26, "0-41-22", 41))
    assert held_against("0-43-21", 25, "n1", there).outcome == "same"
    assert held_against("0-41-21", 25, "n1", there).outcome == "forked"
    assert held_against("0-43-20", 25, "n1", there).outcome == "not known"
    assert held_against("", 25, "n1", there).outcome == "not known"
    assert held_against("0-43-21", 25, "n1", None).outcome == "not known"
    assert held_against("0-43-21", 23, "n1", there).outcome == "not known"


def test_that_of_several_domains_only_a_transaction_at_the_very_seqno_shows_one_past() -> None:
    """Its last change may be in the other domain, on one side of a fork only, where the other had a change of view."""
    there = _marks((24, "0-43-20", 43), (27, "0-43-21", 43))
    assert held_against("0-43-20", 25, "n1", there).outcome == "same"
    assert held_against("0-43-20,7-41-3", 25, "n1", there).outcome == "not known"
    assert held_against("0-43-20,7-41-3", 24, "n1", there).outcome == "same"


def test_that_a_statement_after_the_last_transaction_is_no_fork() -> None:
    there = _marks((24, "0-43-20", 43), (None, "0-41-22", 41), (27, "0-41-23", 41))
    assert held_against("0-43-21", 25, "n1", there).outcome == "not known"


def test_that_a_statement_right_behind_the_transaction_at_the_seqno_is_not_taken_for_it() -> None:
    there = _marks((25, "0-43-21", 43), (None, "0-43-22", 43), (27, "0-41-23", 41))
    assert held_against("0-43-21", 25, "n1", there).outcome == "same"
    assert held_against("0-43-21", 25, "n1", there[:1]).outcome == "same"
    assert held_against("0-43-22", 26, "n1", there).outcome == "same"
    assert held_against("0-41-21", 25, "n1", there).outcome == "forked"


def test_that_server_and_time_show_one_transaction_where_nodes_count_gtids_differently() -> None:
    there = _marks((25, "0-43-99", 43), (None, "0-43-100", 43))
    same, forked = by_change((43, AT), 25, "n1", there), by_change((41, AT), 25, "n1", there)
    assert same is not None
    assert same.outcome == "same"
    assert forked is not None
    assert forked.outcome == "forked"
    assert by_change((43, "261124 18:21:21"), 25, "n1", there) not in {same, None}
    assert by_change((43, AT), 26, "n1", there) is None
    assert by_change((43, AT), 25, "n1", None) is None


def test_that_the_old_binary_log_leads_from_the_gtid_to_a_transaction_that_both_have() -> None:
    ours = _marks((24, "0-43-20", 43), (None, "0-43-21", 43))
    theirs = _marks((24, "0-41-30", 43), (None, "0-41-31", 41), (27, "0-41-32", 41))
    held = by_old_log("0-43-21", 25, ("n3", ours), ("n1", theirs))
    assert held is not None
    assert held.outcome == "same"
    forked = by_old_log("0-43-21", 25, ("n3", ours), ("n1", _marks((24, "0-41-30", 41))))
    assert forked is not None
    assert forked.outcome == "forked"
    shorter = by_old_log("0-43-21", 25, ("n3", ours), ("n1", _marks((24, "0-41-30", 43))))
    assert shorter is not None
    assert shorter.outcome == "not known"
    assert by_old_log("0-43-99", 25, ("n3", ours), ("n1", theirs)) is None


def test_that_a_ddl_right_behind_the_backup_on_the_members_is_no_doubt_of_its_past() -> None:
    """MariaDB 10.11.18: the backup ends with Xid 166, and the members' next change was CREATE TABLE, without an Xid."""
    ours = _marks((165, "0-41-161", 41), (166, "0-41-162", 41))
    theirs = _marks((165, "0-41-161", 41), (166, "0-41-162", 41), (None, "0-41-163", 41), (169, "0-41-164", 41))
    held = by_old_log("0-41-162", 166, ("n3", ours), ("n1", theirs))
    assert held is not None
    assert held.outcome == "same"


def test_that_a_past_that_nothing_shows_holds_only_where_a_person_accepted_that() -> None:
    hosts = _hosts()
    hosts.sessions["n3"].programs["cat"] = out(f"version: 2.1\nuuid:    {UUID}\nseqno:   -1\nsafe_to_bootstrap: 0\n")

    def look(*, accepted: bool) -> bool | None:
        condition = RestoredHistory("n3", ("n1", "n2"), UUID, "/var/lib/mysql", 25, gtid="0-43-21", accepted=accepted)
        return Attempt(hosts, ManualClock()).look(condition, NOTHING).holds

    assert look(accepted=False) is None
    assert look(accepted=True) is True
    hosts.sessions["n3"].programs["cat"] = out(f"version: 2.1\nuuid:    {UUID}\nseqno:   25\nsafe_to_bootstrap: 0\n")
    assert look(accepted=True) is False


def _marked(
    hosts: ScriptedHosts, name: str, server_id: str, mode: str | None, mark: str = f"{AT} 43 0-43-21 25"
) -> None:
    session = hosts.sessions[name]
    for wanted, rows in (
        ("IN", (("log_bin_index", "/var/lib/mysql/mysql-bin.index"),)),
        ("= 'server_id'", (("server_id", server_id),)),
        ("= 'wsrep_gtid_mode'", (("wsrep_gtid_mode", mode),) if mode is not None else ()),
    ):
        statement = f"SHOW GLOBAL VARIABLES WHERE Variable_name {wanted}"
        session.rows[statement] = Rows(("Variable_name", "Value"), rows)
    session.rows.pop("SHOW GLOBAL VARIABLES", None)
    session.programs["timeout"] = out(f"mark {mark}\n")


_CASES = (
    (("41", "42"), "OFF", True), (("41", "42"), None, True), (("41", "41"), "OFF", None), (("1", "42"), "OFF", None),
    (("41", "42"), "ON", None),
)  # fmt: skip


@pytest.mark.parametrize(("ids", "mode", "holds"), _CASES)
@pytest.mark.parametrize("old_log", ["", "/var/lib/mysql/mysql-bin.index"])
def test_that_a_gtid_shows_nothing_where_its_middle_names_no_server(
    ids: tuple[str, str], mode: str | None, holds: bool | None, old_log: str
) -> None:
    """Both sides of a fork count the same GTIDs then; an old binary log that has the same one shows no more."""
    hosts = _hosts()
    for name, number in zip(("n1", "n2"), ids, strict=True):
        _marked(hosts, name, number, mode)
    hosts.sessions["n3"].programs["timeout"] = out(f"mark {AT} 43 0-43-21 25\n")
    condition = RestoredHistory("n3", ("n1", "n2"), UUID, "", 25, gtid="0-43-21", old_log=old_log)
    assert _look(hosts, condition) is holds
    # By server and time another count of GTIDs shows nothing against it; one server id for both sides still does.
    counted = RestoredHistory("n3", ("n1", "n2"), UUID, "", 25, gtid="0-43-99", server=43, time=AT)
    assert _look(hosts, counted) is holds
    assert _look(hosts, replace(counted, server=44, accepted=True)) is False


@pytest.mark.parametrize("old_log", ["", "/var/lib/mysql/mysql-bin.index"])
def test_that_no_change_of_a_backup_is_younger_than_the_backup(old_log: str) -> None:
    """The server that wrote the losing side came back and wrote on: the same GTID at the same seqno, another change."""
    hosts = _hosts()
    for name, number in (("n1", "41"), ("n2", "42")):
        _marked(hosts, name, number, "OFF", "261125 18:30:00 43 0-43-21 25")
    hosts.sessions["n3"].programs["timeout"] = out("mark 261125 18:30:00 43 0-43-21 25\n")
    condition = RestoredHistory("n3", ("n1", "n2"), UUID, "", 25, gtid="0-43-21", old_log=old_log)
    assert _look(hosts, replace(condition, until="261125 18:30:00")) is True
    assert _look(hosts, replace(condition, until="261125 18:29:10")) is True  # clocks are never quite alike
    assert _look(hosts, replace(condition, until="261125 18:25:00", accepted=True)) is False


def _look(hosts: ScriptedHosts, condition: object) -> bool | None:
    return Attempt(hosts, ManualClock()).look(condition, NOTHING).holds  # type: ignore[arg-type]


def test_that_a_last_change_that_was_local_hides_no_past_and_a_forks_older_one_shows_none() -> None:
    """The backup's list has the newest of each server: the group's own at its seqno, then what its node did alone."""
    there = _marks((24, "0-43-20", 43), (25, "0-41-21", 41), (26, "0-41-22", 41))
    local = held_against("0-43-24", 25, "n1", there, "0-41-21,0-43-24")
    assert (local.outcome, "on its node alone" in local.told) == ("same", True)
    assert held_against("0-43-24", 25, "n1", there).outcome == "forked"
    assert held_against("0-43-21", 25, "n1", there, "0-41-19,0-43-21").outcome == "forked"
    assert held_against("0-43-20", 25, "n1", there, "0-41-21,0-43-20").outcome == "forked"
    assert held_against("7-43-24", 25, "n1", there, "0-41-21,7-43-24").outcome != "same"


def test_that_a_past_that_stays_not_known_names_the_ways_on() -> None:
    told = RestoredHistory("n3", ("n1",), UUID, "", 25, way="Take a newer backup")
    answer = Attempt(_hosts(), ManualClock()).look(told, Past({}, {}))
    assert answer.holds is None
    assert answer.evidence.endswith(". Take a newer backup")


@pytest.mark.parametrize(("at", "final"), [(25, True), (20, True), (40, False)], ids=["read", "purged", "to come"])
def test_that_a_past_that_no_later_look_shows_is_not_waited_for(at: int, final: bool) -> None:
    """Seen on the lab: ten minutes of looks at one GTID that the node's own return had made to count anew."""
    hosts = _hosts()
    for name in ("n1", "n2"):
        session = hosts.sessions[name]
        index = (("log_bin_index", "/var/lib/mysql/b.index"),)
        session.rows = {"SHOW GLOBAL VARIABLES WHERE Variable_name IN": Rows(("Variable_name", "Value"), index)}
        session.programs["timeout"] = out("".join(f"mark {AT} 41 0-41-{xid - 4} {xid}\n" for xid in (24, 25, 26)))
    told = RestoredHistory("n3", ("n1", "n2"), UUID, "", at, gtid="0-41-99", way="Take a newer backup")
    answer = Attempt(hosts, ManualClock()).look(told, NOTHING)
    assert (answer.holds, answer.final) == (None, final), answer.evidence
    hosts.sessions["n2"].programs["timeout"] = out("", 6)
    assert not Attempt(hosts, ManualClock()).look(told, NOTHING).final  # n2 may answer yet
    hosts.sessions["n2"].programs["timeout"] = hosts.sessions["n1"].programs["timeout"]
    for ended, settled in ((3, final), (6, False)):  # 3: its own old log is gone, with the folder that was emptied
        hosts.sessions["n3"].programs["timeout"] = out("", ended)
        own = Attempt(hosts, ManualClock()).look(replace(told, old_log="/var/lib/mysql/b.index"), NOTHING)
        assert (own.holds, own.final) == (None, settled), own.evidence
