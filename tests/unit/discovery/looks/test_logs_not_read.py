"""A log that can not be read: the transfers it told grow old and are not known any more, and why is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.clock import ManualClock
from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.discovery.looks.probe import log_facts, probe
from services.errors import SudoFailed, TimedOut
from services.facts.model import LOG_KEPT_S, NodeFacts, TransferFacts
from tests.unit.discovery.scenes import AT, estate, member, only, server, sql_gone
from tests.unit.recorded.replies import ReplaySession, load

HEALTHY = load("situations/galera-healthy.json")
SST = TransferFacts("db2", "db1", "SST", "mariabackup", since=AT - 20.0)


class LogLocked(ReplaySession):
    """A recorded host whose log gives what a test wants."""

    def __init__(self, answer: Output | Exception) -> None:
        super().__init__("n1", HEALTHY["hosts"]["n1"])
        self.answer = answer

    def run(self, read: CommandRead, *, limit_s: float = 10.0) -> Output:
        answer = super().run(read, limit_s=limit_s)
        if not any(word in self.asked[-1] for word in ("tail", "journalctl", "grep")):
            return answer
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def read(answer: Output | Exception, facts: NodeFacts | None = None) -> Any:
    clock = ManualClock(AT)
    known = facts or probe(ReplaySession("n1", HEALTHY["hosts"]["n1"]), clock, parts=("sql",))
    return log_facts(LogLocked(answer), known, clock)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (
            Output(1, b"", b"tail: cannot open 'error.log': Permission denied\n"),
            "Permission denied",
        ),
        (Output(1, b"", b""), "does not allow it"),
        (SudoFailed("n1 wants a password for sudo.", host="n1"), "does not allow it"),
        (TimedOut("No answer within 5 s.", host="n1"), "No answer within 5 s"),
    ],
)
def test_that_a_log_that_was_not_read_says_why_and_keeps_what_it_told_with_its_age(
    answer: Output | Exception, why: str
) -> None:
    before = probe(ReplaySession("n1", HEALTHY["hosts"]["n1"]), ManualClock(AT), parts=("sql",))
    logged = read(answer, replace(before, transfers=(SST,), transfers_at=AT - 30.0))
    assert (logged.transfers, logged.at) == ((SST,), AT - 30.0)
    assert logged.problem.part == "log"
    assert why in logged.problem.sentence


def test_that_a_log_that_was_read_takes_the_trouble_away() -> None:
    facts = probe(LogLocked(Output(1, b"", b"")), ManualClock(AT))
    assert [p.part for p in facts.problems] == ["log"]
    assert probe(ReplaySession("n1", HEALTHY["hosts"]["n1"]), ManualClock(AT), facts).problems == ()


def joining(read_at: float | None) -> tuple[NodeFacts, ...]:
    donor = replace(member(1, members=(), incoming_addresses=()), transfers=(SST,), transfers_at=read_at)
    return donor, replace(sql_gone(member(2)), ssh_at=AT - 500.0), member(3)


@pytest.mark.parametrize(("age", "runs"), [(None, True), (2.0, True), (LOG_KEPT_S - 1, True), (LOG_KEPT_S + 1, False)])
def test_that_a_transfer_runs_as_long_as_its_log_is_read(age: float | None, runs: bool) -> None:
    told = only(estate(*joining(None if age is None else AT - age)))
    assert [edge.active for edge in told.transfers] == ([True] if runs else [])


def test_that_a_transfer_of_which_nobody_reads_the_log_any_more_is_not_told_to_have_ended() -> None:
    seen = estate(*joining(AT))
    told = only(estate(*joining(AT - LOG_KEPT_S - 1), previous=seen))
    assert told.transfers == ()


def test_that_a_transfer_that_its_log_has_ended_stays_ended() -> None:
    facts = replace(member(1), transfers=(replace(SST, ended=AT - 5.0),), transfers_at=AT - 2 * LOG_KEPT_S)
    assert facts.known_transfers == facts.transfers
    assert server(1) is not None
