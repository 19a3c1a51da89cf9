"""Asking hosts: what does not answer becomes a reason, what is odd stays odd, and one host leads to all others."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.clock import ManualClock, SystemClock
from services.connections.ports import Output, Rows, SqlValue
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.registry import statement_of
from services.discovery.changes import events_between
from services.discovery.looks.crawl import crawl, leads_of
from services.discovery.looks.probe import FINDING_PARTS, log_facts, machine_facts, probe
from services.discovery.looks.probe_sql import facts_from_poll
from services.discovery.snapshot import updated_estate
from services.errors import SecretMissing, Unreachable, UserError
from services.facts.model import NodeFacts
from services.facts.server.dialect import VARIABLES
from services.inventory.lookalikes import skeleton
from services.inventory.model import HostEntry, Instance, SqlAccess
from services.inventory.trust import Trust
from services.types import Reach
from tests.unit.discovery.scenes import AT, address, machine, member
from tests.unit.recorded.replies import ReplaySession, load, rows

HEALTHY = load("situations/galera-healthy.json")


def _session(name: str = "n1", **bent: Any) -> ReplaySession:
    return ReplaySession(name, {**HEALTHY["hosts"][name], **bent})


def test_that_a_whole_host_is_read_over_both_roads() -> None:
    found = probe(_session(), ManualClock(AT), address="10.213.1.11")
    assert (found.reach, found.sql_at, found.ssh_at, found.problems) == (Reach.FULL, AT, AT, ())
    assert found.galera is not None
    assert found.machine is not None
    assert len(found.galera.members) == 3
    assert found.machine.unit == "mariadb.service"


def test_that_what_fails_keeps_its_old_value_and_its_old_time() -> None:
    clock = ManualClock(AT)
    before = probe(_session(), clock, address="10.213.1.11")
    clock.advance(5)
    after = probe(_session(status={"error": "timed-out", "sentence": "No answer within 0.9 s."}), clock, before)
    assert (after.reach, after.sql_at, after.ssh_at, after.at) == (Reach.SSH_ONLY, AT, AT + 5, AT + 5)
    assert after.galera == before.galera
    assert [(p.part, p.code) for p in after.problems] == [("sql", "timed-out")]
    clock.advance(5)
    back = probe(_session(), clock, after)
    assert (back.reach, back.problems) == (Reach.FULL, ())


def test_that_a_host_without_any_way_was_not_tried() -> None:
    assert probe(_session(ssh=False, sql=False), ManualClock(AT)).reach is Reach.NOT_TRIED


def test_that_a_refused_member_table_costs_only_itself() -> None:
    queries = {k: v for k, v in HEALTHY["hosts"]["n1"]["queries"].items() if "wsrep_cluster_members" not in k}
    found = probe(_session(queries=queries), ManualClock(AT))
    assert found.reach is Reach.FULL
    assert [p.part for p in found.problems] == ["members"]


def test_that_a_poll_keeps_what_it_did_not_ask() -> None:
    before = probe(_session(), ManualClock(AT))
    host = HEALTHY["hosts"]["n1"]
    variables = rows(host["queries"][statement_of(VARIABLES)]).pairs()
    after = facts_from_poll(before, host["status"], variables, AT + 1)
    assert after.galera is not None
    assert before.galera is not None
    assert after.galera.members == before.galera.members
    assert after.machine == before.machine
    moved = facts_from_poll(before, {**host["status"], "wsrep_cluster_conf_id": "99"}, variables, AT + 1)
    assert moved.galera is not None
    assert moved.galera.members == ()  # the table was read in another view


def test_that_the_slow_parts_can_be_read_alone() -> None:
    clock = ManualClock(AT)
    facts = probe(_session(), clock, parts=("sql",))
    assert machine_facts(_session(), clock, "/var/lib/mysql/").process_state == "S"
    transfers, unit, read_at, problem = log_facts(_session(), facts, clock)
    assert (read_at, problem) == (clock.wall(), None)
    assert unit is not None
    assert unit.unit_state == "active/running"
    assert isinstance(transfers, tuple)


EXPELLED = load("mysql/9.7.4-group-expelled.json")["hosts"]["g3"]


def test_that_a_server_in_offline_mode_is_told_with_the_reason_in_its_log_by_one_look_too() -> None:
    session = ReplaySession("g3", EXPELLED)
    found = probe(session, ManualClock(AT), parts=FINDING_PARTS)
    assert [(p.part, p.code) for p in found.problems] == [("sql", "offline-mode")]
    assert found.machine is not None
    assert found.machine.group_error.startswith("Member was expelled from the group")


def test_that_the_log_of_a_server_in_offline_mode_is_not_found_without_its_option_files() -> None:
    hidden = {words: told for words, told in EXPELLED["commands"].items() if not words.startswith("my_print_defaults")}
    found = probe(ReplaySession("g3", {**EXPELLED, "commands": hidden}), ManualClock(AT), parts=FINDING_PARTS)
    assert found.machine is not None
    assert (found.reach, found.machine.group_error) == (Reach.SSH_ONLY, "")


def test_that_the_log_of_a_server_that_answers_or_is_silent_is_not_asked_for_by_a_search() -> None:
    for status in ({}, {"status": {"error": "timed-out", "sentence": "No answer within 0.9 s."}}):
        session = _session(**status)
        probe(session, ManualClock(AT), parts=FINDING_PARTS)
        assert [words for words in session.asked if words.startswith(("tail ", "journalctl ", "my_print"))] == []


def test_that_ten_thousand_threads_are_survived() -> None:
    dumps = [[n, f"10.1.{n % 250}.9:1", "Binlog Dump"] for n in range(10_000)]
    crowd = {"columns": ["Id", "Host", "Command"], "rows": dumps}
    queries = {**HEALTHY["hosts"]["n1"]["queries"], "SHOW PROCESSLIST": crowd}
    found = probe(_session(queries=queries), ManualClock(AT))
    assert found.replication is not None
    assert len(found.replication.replicas) == 250


# --- hostile answers --------------------------------------------------------------------------------------------------

cell: st.SearchStrategy[SqlValue] = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(
        ["18446744073709551615", "-1", "Primary", "non-Primary", "ON", "[ 1, 2 ]", "10.0.0.1:0,,:0,[::1]:3"]
    ),
)
keys = sorted({*HEALTHY["hosts"]["n1"]["status"], "Uptime", "wsrep_ist_receive_seqno_current"})
status_maps = st.dictionaries(
    st.sampled_from(keys), st.one_of(st.text(max_size=20), st.integers().map(str)), max_size=20
)


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Return a result set with odd columns and rows of any length."""
    replication = ["Connection_name", "Master_Host", "Source_Host", "Seconds_Behind_Master", "Slave_IO_Running"]
    others = ["SQL_Delay", "Gtid_IO_Pos", "node_uuid", "Host", "Command", "Server_id", ""]
    names = st.sampled_from(replication + others)
    columns = tuple(draw(st.lists(names, max_size=8)))
    return Rows(columns, tuple(tuple(row) for row in draw(st.lists(st.lists(cell, max_size=9), max_size=4))))


class HostileSession(ReplaySession):
    """Answers anything at all, or fails."""

    def __init__(self, status: Mapping[str, str], table: Rows, text: bytes, error: UserError | None) -> None:
        super().__init__("hostile", {})
        self._status, self._table, self._text, self._error = status, table, text, error

    def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
        if self._error is not None:
            raise self._error
        return dict(self._status)

    def query(self, read: SqlRead, *, limit_s: float = 5.0) -> Rows:
        return self._table

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        return Output(0, self._text, b"")


@given(status_maps, st.lists(tables(), min_size=1, max_size=3), st.binary(max_size=80), st.booleans())
def test_that_no_answer_whatever_breaks_probe_or_drawing(
    status: dict[str, str], answers: list[Rows], text: bytes, fails: bool
) -> None:
    error = Unreachable("Gone.") if fails else None
    clock, snapshot, known = ManualClock(AT), None, {}
    for turn, table in enumerate(answers):
        session = HostileSession(status, table, text, error)
        known["hostile"] = probe(session, clock, known.get("hostile"))
        known["db1"] = member(1, at=AT + turn)
        known["db2"] = replace(
            member(2, at=AT + turn), galera=known["hostile"].galera, replication=known["hostile"].replication
        )
        new = updated_estate(snapshot, known, AT + turn)
        events_between(snapshot, new)
        assert {n.host for c in new.clusters for n in c.nodes} >= {"db1"}
        snapshot = new


@given(status_maps, status_maps, tables(), tables())
def test_that_no_poll_whatever_breaks_the_pure_facts(
    status: dict[str, str], variables: dict[str, str], channels: Rows, members: Rows
) -> None:
    bent = {**HEALTHY["hosts"]["n1"]["status"], **status}
    settings = {**rows(HEALTHY["hosts"]["n1"]["queries"][statement_of(VARIABLES)]).pairs(), **variables}
    facts = facts_from_poll(
        NodeFacts("n1", AT), bent, settings, AT, replication=channels, members=members, replicas=channels
    )
    assert facts.sql_at == AT


# --- crawling ---------------------------------------------------------------------------------------------------------


NEIGHBOURS = Trust(also=("10.0.0.0/8",))
"""Every host of these tests may be asked; who may be is tests/unit/discovery/test_who_is_asked.py's."""


def _entry(name: str, where: str) -> HostEntry:
    return HostEntry(name, where, sql=SqlAccess("observer"))


class Estate:
    """The recorded hosts by address; counts who was asked."""

    def __init__(self, hosts: dict[str, Any]) -> None:
        self.by_address = {host["address"]: host for host in hosts.values()}
        self.asked: list[str] = []

    def open(self, entry: HostEntry) -> ReplaySession:
        self.asked.append(entry.address)
        return ReplaySession(entry.name, self.by_address.get(entry.address, {"ssh": False}))


def test_that_each_member_leads_to_all_and_nobody_is_asked_twice() -> None:
    for name, host in HEALTHY["hosts"].items():
        estate = Estate(HEALTHY["hosts"])
        found = crawl([_entry(name, host["address"])], estate.open, SystemClock(), trust=NEIGHBOURS)
        assert sorted(found.facts) == ["n1", "n2", "n3"]
        assert sorted(estate.asked) == ["10.213.1.11", "10.213.1.12", "10.213.1.13"]
        assert found.entries["n3"].sql == SqlAccess("observer")


def test_that_sources_and_replicas_are_followed() -> None:
    hosts = load("situations/async-healthy.json")["hosts"]
    for seed in ("src", "r1"):
        found = crawl([_entry(seed, hosts[seed]["address"])], Estate(hosts).open, SystemClock(), trust=NEIGHBOURS)
        assert {facts.address for facts in found.facts.values()} == {"10.213.2.21", "10.213.2.22", "10.213.2.23"}


def test_that_a_second_name_of_a_host_that_nobody_wrote_down_is_an_alias() -> None:
    host = HEALTHY["hosts"]["n1"]["address"]
    found_before = replace(_entry("db-one", host), ways_of="n1")
    seeds, estate = [_entry("n1", host), found_before], Estate(HEALTHY["hosts"])
    found = crawl(seeds, estate.open, SystemClock(), trust=NEIGHBOURS)
    assert found.aliases == ("db-one",)
    assert sorted(found.entries) == ["n1", "n2", "n3"]


def test_that_a_host_that_a_person_wrote_down_twice_is_kept_twice_and_told() -> None:
    host = HEALTHY["hosts"]["n1"]["address"]
    seeds, estate = [_entry("n1", host), _entry("db-one", host)], Estate(HEALTHY["hosts"])
    found = crawl(seeds, estate.open, SystemClock(), trust=NEIGHBOURS)
    assert found.aliases == ()
    assert {"n1", "db-one"} <= set(found.facts)
    assert "same-server" in {problem.code for problem in found.problems}


def test_that_watched_hosts_are_not_asked_again_but_followed() -> None:
    estate = Estate(HEALTHY["hosts"])
    entry = _entry("n1", "10.213.1.11")
    known = {"n1": probe(estate.open(entry), SystemClock(), address=entry.address)}
    estate.asked.clear()
    found = crawl([entry], estate.open, SystemClock(), trust=NEIGHBOURS, known=known)
    assert sorted(estate.asked) == ["10.213.1.12", "10.213.1.13"]
    assert sorted(found.facts) == ["n1", "n2", "n3"]


def test_that_a_configured_fellow_that_leads_nowhere_is_dropped() -> None:
    alone = {"n1": HEALTHY["hosts"]["n1"]}
    queries = {k: v for k, v in alone["n1"]["queries"].items() if "wsrep_cluster_members" not in k}
    status = {**alone["n1"]["status"], "wsrep_incoming_addresses": "10.213.1.11:0", "wsrep_cluster_size": "1"}
    estate = Estate({"n1": {**alone["n1"], "queries": queries, "status": status}})
    found = crawl([_entry("n1", "10.213.1.11")], estate.open, SystemClock(), trust=NEIGHBOURS)
    assert sorted(found.entries) == ["n1"]
    assert len(estate.asked) == 3


def test_that_a_session_that_cannot_be_opened_is_a_reason() -> None:
    def refuse(entry: HostEntry) -> ReplaySession:
        raise SecretMissing("No such variable.")

    found = crawl([_entry("n1", "10.0.0.1")], refuse, SystemClock(), trust=NEIGHBOURS)
    assert [p.sentence for p in found.facts["n1"].problems] == ["No such variable."]


def test_that_a_hanging_host_costs_no_more_than_the_limit() -> None:
    released = threading.Event()

    class Hanging(ReplaySession):
        def status(self, *, limit_s: float = 5.0) -> dict[str, str]:
            released.wait(20)
            raise Unreachable("closed")

        def close(self) -> None:
            released.set()

    clock = SystemClock()
    started = clock.monotonic()
    found = crawl([_entry("slow", "10.0.0.1")], lambda e: Hanging(e.name, {}), clock, trust=NEIGHBOURS, limit_s=0.3)
    assert clock.monotonic() - started < 2
    assert [p.code for p in found.facts["slow"].problems] == ["timed-out"]


def test_that_loopback_addresses_lead_nowhere() -> None:
    facts = member(
        1,
        incoming_addresses=("127.0.0.1:0", "localhost:3306", f"{address(2)}:0", ""),
        members=(),
        cluster_address="gcomm://",
    )
    assert [lead.address for lead in leads_of(facts)] == [f"{address(2)}:0"]


def test_that_identical_member_names_get_different_keys() -> None:
    two = replace(member(1), machine=machine(1))
    assert two.galera is not None
    names = tuple(replace(m, name="node") for m in two.galera.members)
    bent = replace(two, galera=replace(two.galera, members=names))
    opened: list[str] = []

    def open_session(entry: HostEntry) -> ReplaySession:
        opened.append(entry.name)
        return ReplaySession(entry.name, {})

    crawl([_entry("db1", address(1))], open_session, SystemClock(), trust=NEIGHBOURS, known={"db1": bent})
    assert sorted(opened) == ["10.20.0.13", "node"]


@pytest.mark.parametrize("name", [address(3), "db-three.example.net"])
def test_that_a_host_that_calls_itself_by_another_members_address_hides_nobody(name: str) -> None:
    one = replace(member(1), machine=machine(1))
    assert one.galera is not None
    first, second, third = one.galera.members
    third = replace(third, address=f"{name}:3306", name="")
    bent = replace(one, galera=replace(one.galera, members=(first, replace(second, name=name), third)))
    opened: list[tuple[str, str]] = []

    def open_session(entry: HostEntry) -> ReplaySession:
        opened.append((entry.name, entry.address))
        return ReplaySession(entry.name, {"ssh": False})

    everywhere = Trust(also=("10.0.0.0/8", "db-three.example.net"))
    crawl([_entry("db1", address(1))], open_session, SystemClock(), trust=everywhere, known={"db1": bent})
    assert {address(2), name} <= {where for _, where in opened}
    assert len({key for key, _ in opened}) == len(opened)


@pytest.mark.parametrize(
    "name", ["n1:6032", "N1:6032", "n1\u22366032", "n\uff11:3307", "n1", "\u05781", "spare", "Spare."]
)
def test_that_a_member_gets_no_key_that_stands_in_the_inventory_or_looks_like_one(name: str) -> None:
    """Keys of instances that are only named, and of hosts that are no seeds this time, are somebody's too."""
    two = replace(member(1), machine=machine(1))
    assert two.galera is not None
    members = tuple(replace(m, name="n1" if m.name == "db1" else name) for m in two.galera.members if m.name != "db3")
    bent = replace(two, host="n1", galera=replace(two.galera, members=members))
    instances = (Instance("n1", "mysql", 3307, SqlAccess("inst", port=3307)), Instance("n1", "proxysql", 6032))
    seed = replace(_entry("n1", address(1)), beside=instances)
    spare = _entry("spare", "10.9.9.9")
    opened: list[str] = []

    def open_session(entry: HostEntry) -> ReplaySession:
        opened.append(entry.name)
        return ReplaySession(entry.name, {"ssh": False})

    trust = NEIGHBOURS.with_host(seed).with_host(spare)
    found = crawl([seed], open_session, SystemClock(), trust=trust, known={"n1": bent})
    assert address(2) in found.facts
    written = {key for host in (seed, spare) for key in host.keys}
    assert {skeleton(key) for key in found.facts} & {skeleton(key) for key in written} == {"n1"}
    assert opened == [address(2), address(3)]
