"""Filters: what servers, processes, units and files say, for the time that the binary logs cover."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.binlog.survey import parse_survey
from services.facts.server.start_line import start_line, words_that_leave_out
from services.procedures.catalogue.checks import rows_left_out
from services.procedures.plan.checks import Check, Verdict
from services.procedures.plan.host_facts import Facts
from services.procedures.plan.parts.server.log_filters import LogFilters
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables
from tests.faults.scripted.rejoining import BEGUN
from tests.unit.procedures.catalogue.binlogs_facts import TOLD, checks_of, continued, facts_told, with_parts

SHOP = (("binlog_ignore_db", "shop"),)
UNIT = (
    "LoadState=loaded\n"
    "ExecStart={ path=/usr/sbin/mariadbd ; argv[]=/usr/sbin/mariadbd $MYSQLD_OPTS ; ignore_errors=no ; }\n"
    'unit MYSQLD_OPTS="--binlog-ignore-db=shop --replicate-wild-ignore-table x.%"\n'
)


def told_by(facts: Facts, code: str) -> Check:
    return continued(facts)[0][code]


def with_filters(facts: Facts, host: str, **known: object) -> Facts:
    return with_parts(facts, host, replace(facts.host(host)[LogFilters], **known))  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["n1", "n2"])
@pytest.mark.parametrize("known", [{"said": SHOP}, {"started": SHOP}])
def test_that_a_filter_that_stands_in_no_option_file_refuses_it(host: str, known: dict[str, object]) -> None:
    check = checks_of(with_filters(facts_told(), host, **known))["FILTERS"]
    assert check.verdict is Verdict.BLOCK
    assert f"{host}: its server" in check.evidence
    assert "binlog_ignore_db = shop" in check.evidence


def test_that_a_filter_which_the_unit_of_a_stopped_node_gives_it_refuses_it() -> None:
    """Its server would apply the IST with it."""
    facts = facts_told()
    starting = replace(facts.host("n3")[Starting], line=start_line(UNIT, "mariadb.service"))
    check = checks_of(with_parts(facts, "n3", starting))["FILTERS"]
    assert check.verdict is Verdict.BLOCK
    assert "MYSQLD_OPTS in Environment= of mariadb.service gives --binlog-ignore-db=shop" in check.evidence
    assert "--replicate-wild-ignore-table=x.%" in check.evidence


def test_that_a_filter_set_on_a_running_server_refuses_it() -> None:
    facts = facts_told()
    variables = Variables((*facts.host("n2")[Variables].values, ("replicate_ignore_db", "shop")))
    assert "replicate_ignore_db = shop" in checks_of(with_parts(facts, "n2", variables))["FILTERS"].evidence


def test_that_filters_which_no_server_told_are_not_known_and_never_passed() -> None:
    check = checks_of(with_filters(facts_told(), "n1", said=None))["FILTERS"]
    assert check.result == "not known"
    assert checks_of(facts_told())["FILTERS"].verdict is Verdict.PASS


def test_that_the_filter_of_the_server_whose_logs_they_are_is_never_overridden() -> None:
    check = told_by(with_filters(facts_told(), "n1", said=SHOP), "FILTERED")
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, True)
    assert told_by(with_filters(facts_told(), "n2", said=SHOP), "FILTERS-THEN").verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("since", "verdict"),
    [(BEGUN - 900, Verdict.PASS), (BEGUN, Verdict.PASS), (BEGUN + 1, Verdict.BLOCK), (None, Verdict.BLOCK)],
)
def test_that_a_server_tells_only_of_the_time_since_its_start(since: int | None, verdict: Verdict) -> None:
    check = told_by(with_filters(facts_told(), "n1", since=since), "FILTERS-THEN")
    assert (check.verdict, check.absolute) == (verdict, False)


def test_that_starts_within_the_files_are_told_and_no_time_is_not_known() -> None:
    started = facts_told(TOLD.replace("startup=0", "startup=1"))
    told = told_by(with_filters(started, "n1", since=BEGUN + 60), "FILTERS-THEN")
    assert "1 server starts in them" in told.evidence
    silent = facts_told(TOLD.replace("begun=261122,4:00:00", "begun=-"))
    assert told_by(silent, "FILTERS-THEN").verdict is Verdict.BLOCK


def test_that_a_survey_of_an_older_run_still_loads_and_its_time_is_not_known() -> None:
    found = parse_survey(TOLD.replace("begun=261122,4:00:00 startup=0 ", ""))
    assert isinstance(found, tuple)
    assert found[1][0].begun is None


def test_that_what_a_server_that_does_not_run_was_started_with_is_accepted_by_a_person_alone() -> None:
    """The node's own logs: its unit says what it would be started with now, nothing says what it was."""
    facts = facts_told(TOLD.replace(" by=1 ", " by=3 "))
    check = told_by(facts, "FILTERS-THEN")
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert "n3, which wrote them, is not running" in check.evidence


def test_that_of_two_servers_with_one_id_it_is_not_known_which_wrote() -> None:
    facts = facts_told()
    given = tuple(one for one in facts.host("n3")[Options].given if one[1] != "server_id")
    check = told_by(with_parts(facts, "n3", Options((*given, ("mysqld", "server_id", "1")))), "FILTERS-THEN")
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("/usr/sbin/mariadbd --binlog-ignore-db=shop", (("binlog_ignore_db", "shop"),)),
        ("mariadbd --binlog_do=a --loose-replicate-rewrite-db=a->b",
         (("binlog_do_db", "a"), ("replicate_rewrite_db", "a->b"))),
        ("mariadbd --replicate-do-table shop.x --slave-exec-mode=STRICT", (("replicate_do_table", "shop.x"),)),
        ("mariadbd --slave-skip-errors=all --slave-run-triggers-for-rbr=NO", (("slave_skip_errors", "all"),)),
        ("mariadbd --binlog-format=ROW --binlog-row-image=FULL --slave-parallel-threads=4", ()),
    ],
)  # fmt: skip
def test_that_filters_are_found_in_a_command_line_as_they_may_be_typed(line: str, found: object) -> None:
    assert words_that_leave_out(line) == found


def test_that_a_member_which_leaves_rows_out_is_told_of_and_one_that_filters_what_it_applies_is_not() -> None:
    """Galera sends what the binary log's cache holds: what a filter leaves out of it reaches no member."""
    facts = facts_told()
    assert rows_left_out(facts, ("n1", "n2")) == ()
    (told,) = rows_left_out(with_filters(facts, "n2", said=SHOP), ("n1", "n2"))
    assert (told.code, told.verdict) == ("ROWS-LEFT-OUT", Verdict.WARN)
    assert told.evidence == "n2: its server says binlog_ignore_db = shop"
    variables = Variables((*facts.host("n2")[Variables].values, ("replicate_ignore_db", "shop")))
    assert rows_left_out(with_parts(facts, "n2", variables), ("n1", "n2")) == ()
