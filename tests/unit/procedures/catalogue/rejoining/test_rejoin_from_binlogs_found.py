"""rejoin-from-binlogs: what is refused by what stands in the backup and the binary logs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.replication.write_rate import Rates
from services.procedures.catalogue.galera.rejoin_from_binlogs.survey import survey_name
from services.procedures.plan.checks import Verdict
from services.procedures.plan.parts.galera.write_rate import WriteRate
from services.procedures.plan.parts.server.options import Options
from tests.faults.scripted.cluster import CLUSTER
from tests.faults.scripted.facts import facts_of
from tests.unit.procedures.catalogue.binlogs_facts import (
    TOLD,
    cluster_without_n3,
    continued,
    facts_told,
    with_parts,
)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (f"uuid={CLUSTER}", "uuid=aaaaaaaa-2222-11f0-9c0e-3b2f8d5a7c11", "OTHER-UUID"),
        ("kind=full-backuped", "kind=incremental", "BACKUP-KIND"),
        ("kind=full-backuped", "kind=packed", "BACKUP-KIND"),
        ("kind=full-backuped", "kind=log-applied", "BACKUP-USED"),
        ("kind=full-backuped", "kind=full-prepared", "BACKUP-USED"),
        ("last=990", "last=999999", "AHEAD"),
        ("stmts=0 stmtat=-", "stmts=1 stmtat=5000", "STATEMENT-EVENTS"),
        ("back=0", "back=1", "XID-ORDER"),
        ("xa=0", "xa=1", "XA"),
        ("users=0 userat=-", "users=2 userat=5000", "DONE-BY"),
        ("odd=0", "odd=1", "BINLOG-UNREAD"),
        ("missing=0 hole=-", "missing=20 hole=99-120-0", "HOLES"),
        ("holes=0", "holes=61", "HOLES"),
        ("links=0 oldlinks=0", "links=1 oldlinks=0", "BACKUP-LINKED"),
        ("links=0 oldlinks=0", "links=0 oldlinks=2", "OLD-LINKED"),
        ("links=0 oldlinks=0", "links=- oldlinks=0", "BACKUP-LINKED"),
        ("recent=-,989~261122~6:00:00~1,990~261122~6:00:00~1", "recent=-", "BINLOG-UNREAD"),
        ("above=51 abovefrom=4000", "above=- abovefrom=-", "NO-TARGET"),
        ("last=990", "last=60", "RACE"),
        ("size=500000000", "size=900000000000", "DISK-ROOM"),
    ],
)
def test_that_each_thing_wrong_with_the_files_stops_before_anything_is_changed(old: str, new: str, code: str) -> None:
    assert old in TOLD
    checks, _, _ = continued(facts_told(TOLD.replace(old, new)))
    assert checks[code].verdict is Verdict.BLOCK


@pytest.mark.parametrize(
    ("writer", "verdict"),
    [("1", Verdict.PASS), ("2", Verdict.PASS), ("7", Verdict.PASS), ("44", Verdict.BLOCK), ("-", Verdict.BLOCK)],
)
def test_that_logs_of_a_server_that_nobody_asked_are_not_taken_for_unfiltered(writer: str, verdict: Verdict) -> None:
    """FILTERS asks the node's and the members' option files: those of a server that is gone are asked by nobody."""
    facts = facts_of(cluster_without_n3(), ((survey_name("n3"), TOLD.replace(" by=1 ", f" by={writer} ")),))
    options = facts.host("n3")[Options]
    given = replace(options, given=(*options.given, ("mysqld", "server_id", "7")))
    check = continued(with_parts(facts, "n3", given))[0]["WRITER"]
    assert (check.verdict, check.absolute) == (verdict, False)


def test_that_statements_among_the_rows_are_refused_and_told_what_makes_such_a_thing() -> None:
    check = continued(facts_told(TOLD.replace("stmts=0 stmtat=-", "stmts=1 stmtat=5000")))[0]["STATEMENT-EVENTS"]
    assert any("CREATE TABLE ... SELECT" in advice for advice in check.try_)


def test_that_other_versions_are_refused() -> None:
    one = TOLD.replace("version=10.11.18-MariaDB-log log=", "version=10.11.17-MariaDB-log log=")
    assert continued(facts_told(one))[0]["SERVER-VERSION"].verdict is Verdict.BLOCK
    both = TOLD.replace("10.11.18", "10.11.17")
    assert continued(facts_told(both))[0]["SERVER-VERSION-JOINER"].verdict is Verdict.BLOCK


def test_that_a_backup_from_which_ist_reaches_needs_no_binary_logs() -> None:
    near = TOLD.replace("stands=50 ", "stands=500 ").replace("below=50", "below=500").replace("above=51", "above=501")
    check = continued(facts_told(near))[0]["IST-REACHES"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert "rejoin-from-incrementals" in check.try_[0]


def test_that_the_race_is_told_with_its_numbers_and_refused_where_it_will_be_lost() -> None:
    facts = facts_told()
    fast = Rates(200e6, 50.0, 2.0)
    lost = with_parts(with_parts(facts, "n1", WriteRate(fast)), "n2", WriteRate(fast))
    assert continued(facts)[0]["RACE"].verdict is not Verdict.BLOCK
    check = continued(lost)[0]["RACE"]
    assert (check.verdict, check.absolute) == (Verdict.BLOCK, False)
    assert "s more by bytes" in check.evidence


@pytest.mark.parametrize(
    "told", ["refused BACKUP it says no position", "refused BINLOGS no file", "refused LEFT x", "nonsense", ""]
)
def test_that_what_could_not_be_read_ends_the_plan_there(told: str) -> None:
    checks, first, then = continued(facts_told(told))
    assert then == first
    code = "BACKUP-UNREAD" if "BACKUP" in told else "REPLAY-LEFT" if "LEFT" in told else "BINLOG-UNREAD"
    assert (checks[code].verdict, checks[code].absolute) == (Verdict.BLOCK, True)


@pytest.mark.parametrize(
    ("told", "code", "place"),
    [("refused NOBACKUP /srv/backup is no", "BACKUP-ABSENT", "/srv/backup"),
     ("refused NOLOGS /srv/binlogs is no", "BINLOGS-ABSENT", "/srv/binlogs")],
)  # fmt: skip
def test_that_what_is_not_on_the_node_is_refused_with_the_command_that_brings_it_there(
    told: str, code: str, place: str
) -> None:
    checks, first, then = continued(facts_told(told))
    assert then == first
    assert (checks[code].verdict, checks[code].absolute) == (Verdict.BLOCK, True)
    address = facts_told(told).host("n3").address or "n3"
    there = f"'sudo mkdir -p {place} && sudo tar -C {place} -xpf -'"
    assert (
        checks[code]
        .try_[0]
        .endswith(f"run as root on the host that has it: tar -C {place} -cf - . | ssh {address} {there}")
    )


def test_that_logs_that_begin_too_late_are_told_with_the_logs_that_would_do() -> None:
    check = continued(facts_told(TOLD.replace("above=51 ", "above=95 ")))[0]["BACKUP-POSITION"]
    assert check.verdict is Verdict.BLOCK
    assert "contain everything after the backup's 50" in check.try_[0]
    assert "those of another member, or of the server that the backup was taken from, may" in check.try_[0]
    assert check.try_[-1] == "Bring the node back by SST with add-node."


def test_that_a_time_by_write_sets_is_not_told_as_one_by_bytes() -> None:
    slow = WriteRate(Rates(0.0, 50.0, 2.0))  # a busy hour of changes that were not counted in bytes
    check = continued(with_parts(with_parts(facts_told(), "n1", slow), "n2", slow))[0]["RACE"]
    assert " s more by the number of write sets" in check.evidence
    assert "by bytes" not in check.evidence


def test_that_a_race_without_a_measured_rate_is_not_known_and_not_won() -> None:
    unread = with_parts(with_parts(facts_told(), "n1", WriteRate(None)), "n2", WriteRate(None))
    check = continued(unread)[0]["RACE"]
    assert (check.verdict, check.not_known, check.absolute) == (Verdict.WARN, True, False)
    assert "cached for an unknown time" in check.evidence
    assert "as long as nothing is written" not in check.evidence
