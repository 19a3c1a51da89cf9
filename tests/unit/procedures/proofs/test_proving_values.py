"""Conditions about values: a cache's reach, an option that can't be read back, a size with its suffix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.clock import ManualClock
from services.connections.ports import Rows
from services.connections.reads.read import SqlRead
from services.connections.reads.registry import statement_of
from services.facts.server.values import same
from services.procedures.conditions.galera.config.provider_option import ProviderOption
from services.procedures.conditions.galera.data.clean_position import CleanPosition
from services.procedures.conditions.galera.transfer.cache import CacheLasts
from services.procedures.conditions.server.variable import VariableIs
from services.procedures.looking.asked import number_of
from services.procedures.plan.condition import Kept
from services.procedures.plan.looks import Past
from tests.unit.procedures.scripted_sessions import NOTHING, Attempt, ScriptedHosts, out


@pytest.fixture
def hosts() -> ScriptedHosts:
    return ScriptedHosts("n1")


@pytest.fixture
def prover(hosts: ScriptedHosts) -> Attempt:
    return Attempt(hosts, ManualClock())


def test_that_the_rate_of_two_seconds_tells_how_long_a_cache_lasts(prover: Attempt, hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]

    def wrote(each_second: int) -> None:
        counters = [(0, 0), (10, each_second * 2 - 240)]

        def query(read: SqlRead, *, limit_s: float = 5.0) -> Rows:
            del limit_s
            if "wsrep_provider_options" in statement_of(read):
                return Rows(("n", "v"), (("wsrep_provider_options", "gcache.size = 128M;"),))
            seqno, written = counters.pop(0)
            return Rows(("n", "v"), (("wsrep_last_committed", str(seqno)), ("wsrep_replicated_bytes", str(written))))

        session.query = query  # type: ignore[method-assign]

    lasts = 0.8 * 128 * 2**20 / 100_000
    wrote(100_000)
    assert prover.look(CacheLasts("n1", lasts - 1), NOTHING).holds is True
    wrote(100_000)
    answer = prover.look(CacheLasts("n1", lasts + 1), NOTHING)
    assert (answer.holds, "the cache of n1 lasts 1074 s" in answer.evidence) == (False, True)


def test_that_an_option_that_can_not_be_read_back_holds_only_where_that_is_enough(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    hosts.sessions["n1"].rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), ())
    assert prover.look(VariableIs("n1", "loose_x", "1"), NOTHING).holds is False
    assert prover.look(VariableIs("n1", "loose_x", "1", if_there=True), NOTHING).holds is True


def test_that_a_value_that_no_running_server_can_change_ends_the_wait_for_another(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    hosts.sessions["n1"].rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("innodb_force_recovery", "4"),))
    fixed = VariableIs("n1", "innodb_force_recovery", "0", if_there=True, fixed=True)
    answer = prover.look(fixed, NOTHING)
    assert (answer.holds, answer.final, answer.evidence) == (False, True, "innodb_force_recovery is 4 on n1")
    assert prover.look(replace(fixed, fixed=False), NOTHING).final is False
    assert prover.look(replace(fixed, value="4"), NOTHING).final is False


def test_that_a_third_value_is_the_servers_rounding_only_while_the_file_says_what_was_asked_for(
    prover: Attempt, hosts: ScriptedHosts
) -> None:
    session = hosts.sessions["n1"]
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("max_connections", "333"),))
    wanted = VariableIs("n1", "max_connections", "222", if_there=True, was="151")
    session.programs = {"my_print_defaults": out("--max_connections=222\n")}
    answer = prover.look(wanted, NOTHING)
    assert (answer.holds, answer.evidence) == (True, "requested max_connections = 222, the server on n1 set 333")
    assert [said for _, said in answer.kept] == ["Requested max_connections = 222, the server on n1 set 333."]
    session.programs = {"my_print_defaults": out("--max_connections=222\n--max_connections=333\n")}
    answer = prover.look(wanted, NOTHING)
    assert (answer.holds, answer.final, answer.kept) == (False, True, ())
    assert "the files were changed (max_connections of [mysqld] on n1 is 333)" in answer.evidence
    session.programs = {"my_print_defaults": out(code=1, errors="my_print_defaults: no")}
    assert prover.look(wanted, NOTHING).holds is None


def test_that_a_state_file_without_a_position_is_not_waited_for_once_the_server_is_stopped_for_seconds(
    hosts: ScriptedHosts,
) -> None:
    clock, session = ManualClock(), hosts.sessions["n1"]
    prover, uuid = Attempt(hosts, clock), "8f21c0de-0000-11ee-8000-000000000001"
    clean = CleanPosition("n1", "/var/lib/mysql", uuid)
    state = out(f"# GALERA saved state\nversion: 2.1\nuuid: {uuid}\nseqno: -1\n")
    session.programs = {"cat": state, "ps": out(code=1), "systemctl": out("ActiveState=deactivating\nResult=success\n")}
    assert prover.look(clean, NOTHING).final is False
    session.programs["systemctl"] = out("ActiveState=inactive\nResult=success\n")
    answer = prover.look(clean, NOTHING)
    assert (answer.final, "not a clean shutdown" in answer.evidence) == (False, False)
    clock.advance(2.5)
    prover.look(clean, NOTHING)
    clock.advance(2.5)
    answer = prover.look(clean, NOTHING)
    assert (answer.holds, answer.final) == (False, True)
    assert answer.evidence.startswith("grastate.dat of n1 says -1 although the server stopped (was the file replaced?)")
    session.programs["systemctl"] = out("ActiveState=failed\nResult=signal\n")
    assert (
        "and mariadb.service has failed (signal): it was not a clean shutdown" in prover.look(clean, NOTHING).evidence
    )


def test_that_a_rounded_secret_shows_no_value(prover: Attempt, hosts: ScriptedHosts) -> None:
    session = hosts.sessions["n1"]
    session.rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("wsrep_sst_auth", "sst:N0w"),))
    session.programs = {"my_print_defaults": out("--wsrep_sst_auth=sst:Wanted\n")}
    answer = prover.look(VariableIs("n1", "wsrep_sst_auth", "sst:Wanted", was="sst:Old"), NOTHING)
    assert answer.holds
    assert not any(value in f"{answer.evidence} {answer.kept}" for value in ("N0w", "Wanted", "Old"))


@pytest.mark.parametrize(("left", "right", "alike"), [
    ("1073741824", "1G", True), ("1073741824", "1g", True), ("65536", "64K", True), ("1000", "1K", False),
])  # fmt: skip
def test_that_a_size_with_its_suffix_is_the_same_as_its_bytes(left: str, right: str, alike: bool) -> None:
    assert same(left, right) is alike


@pytest.mark.parametrize(("printed", "number"), [("70K", 71_680), ("71681", 71_681), ("1M", 2**20), ("3G", 3 * 2**30)])
def test_that_a_freeze_at_a_multiple_of_1024_is_read_compared_and_kept_as_its_number(
    prover: Attempt, hosts: ScriptedHosts, printed: str, number: int
) -> None:
    options = f"gcache.freeze_purge_at_seqno = {printed}; gcache.size = 128M;"
    hosts.sessions["n1"].rows["SHOW GLOBAL VARIABLES"] = Rows(("n", "v"), (("wsrep_provider_options", options),))
    option = "gcache.freeze_purge_at_seqno"
    answer = prover.look(ProviderOption("n1", option, ">=", "0", keep="frozen_at"), NOTHING)
    assert (answer.holds, answer.kept) == (True, (("frozen_at", str(number)),))
    assert prover.look(ProviderOption("n1", option, "=", str(number)), NOTHING).holds is True
    assert prover.look(ProviderOption("n1", option, "<", str(number)), NOTHING).holds is False
    older = Past({"frozen_at": printed}, {})  # as a run of an older Pilothouse has kept it
    assert number_of(Kept("frozen_at"), older) == number
