"""Rows that a node wrote for itself with wsrep off: its binary log goes on with them, and no view tells of them.

`wsrep-off-*.marks`: what the reads told of s3 and s1 on the lab, MariaDB 10.11.18 with Galera 26.4.23. s3 was stopped
at seqno 22, started with --wsrep-on=OFF, three rows were committed on it, and it was shut down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.facts.binlog.marks import Mark, parse_marks
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import Grastate
from services.procedures.looking.histories import last_shared, searched
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.pasts.histories import by_marks, by_views, claim_is_confirmed, compared, window
from services.procedures.plan.pasts.histories_model import Side
from services.procedures.plan.pasts.own_transactions import asked_next, before_turn, own_after
from tests.unit.procedures.facts_of_three import UUID
from tests.unit.recorded.histories_recorded import FOLDER

AT = 22
VIEW = PrimaryView(UUID, 15, (("a", "s1"), ("b", "s2"), ("c", "s3")))


def recorded(host: str) -> tuple[Mark, ...]:
    return parse_marks((FOLDER / f"wsrep-off-{host}.marks").read_text().splitlines())


def from_xid(marks: tuple[Mark, ...], xid: int) -> tuple[Mark, ...]:
    start = next((at for at, mark in enumerate(marks) if mark.xid is not None and mark.xid >= xid), len(marks))
    return marks[start:]


def joining(marks: tuple[Mark, ...] | None = None) -> Side:
    trace = Trace((VIEW,), recorded("s3") if marks is None else marks, index="/x.index", log_told=True)
    return Side("s3", UUID, AT, serves=False, trace=trace)


def member(beside: Side, given: tuple[Mark, ...] | None = None, *, serves: bool = True, seqno: int = 24) -> Side:
    """s1, read as the second round reads it for `beside`."""
    log = recorded("s1") if given is None else given
    marks = beside.trace.marks
    ours = window(marks, beside.seqno) or window(marks, None)
    since = ((beside.host, from_xid(log, ours[0].xid or 0)),) if ours else ()
    turn = ((beside.host, tuple(m for xid in asked_next(marks, ()) for m in from_xid(log, xid))),)
    views = (VIEW, PrimaryView(UUID, 23, (("a", "s1"), ("b", "s2")))) if serves else (VIEW,)
    return Side("s1", UUID, seqno, serves=serves, trace=Trace(views, log, since=since, at_turn=turn))


def test_that_rows_committed_with_wsrep_off_are_a_fork_though_position_and_views_are_one() -> None:
    joiner = joining()
    donor = member(joiner)
    assert by_views(joiner, donor).outcome == "same"
    found = compared(joiner, donor)
    assert (found.outcome, found.shared_to, found.own) == ("forked", AT, 3)
    assert "3 transactions or more written with wsrep off, after Xid 22, GTID 0-41-18" in found.evidence


def test_that_they_are_a_fork_too_where_nobody_serves() -> None:
    joiner = joining()
    found = compared(joiner, member(joiner, serves=False, seqno=AT))
    assert (found.outcome, found.shared_to, found.own) == ("forked", AT, 3)


def test_that_where_the_members_logs_begin_later_they_are_not_known_whatever_the_views_say() -> None:
    joiner = joining()
    found = compared(joiner, member(joiner, ()))
    assert found.outcome == "not known"
    later = (Mark("0-41-90", 41, "261122 16:00:00", 90),)
    assert compared(joiner, member(joiner, later)).outcome == "not known"


def test_that_a_log_of_nothing_but_its_own_rows_is_never_one_past() -> None:
    own = tuple(mark for mark in recorded("s3") if mark.server_id == 43)
    joiner = joining(own)  # the files before them were purged: no step back is to be seen
    assert before_turn(own) == ()
    assert compared(joiner, member(joiner)).outcome == "not known"
    above = tuple(replace(mark, xid=(mark.xid or 0) + 100) for mark in own)  # its own count stands above its position
    assert compared(joining(above), member(joining(above))).outcome == "not known"


def test_that_its_own_count_above_its_position_is_a_fork_where_the_members_have_another_transaction_there() -> None:
    shared = tuple(mark for mark in recorded("s3") if mark.server_id == 41)
    joiner = joining((*shared, Mark("0-43-19", 43, "261122 15:27:17", 24)))
    log = (*recorded("s1"), Mark("0-41-19", 41, "261122 15:28:00", 24))
    found = by_marks(joiner, member(joiner, log))
    assert (found.outcome, found.shared_to) == ("forked", AT)


def test_that_own_rows_of_long_ago_that_all_lack_are_told_and_not_called_one_past() -> None:
    more = tuple(Mark(f"0-41-{n}", 41, f"261122 15:40:{n}", n) for n in range(24, 60))
    joiner = replace(joining((*recorded("s3"), *more)), seqno=59)
    donor = member(joiner, (*recorded("s1"), *more), seqno=70)
    found = compared(joiner, replace(donor, trace=replace(donor.trace, views=(VIEW,))))
    assert found.outcome == "not known"
    assert any("3 transactions or more written with wsrep off" in sentence for sentence in found.missing)


def test_that_an_older_state_that_was_started_from_is_no_row_of_its_own() -> None:
    shared = tuple(mark for mark in recorded("s1") if mark.xid is not None)
    again = (*shared, *shared[2:])  # restored at 18, and sent 19 to 22 once more
    assert own_after(again, shared) is None
    joiner = joining(again)
    assert compared(joiner, member(joiner)).outcome == "same"


def test_that_a_count_that_began_anew_under_a_new_uuid_is_one_past_where_the_members_have_the_same() -> None:
    old = tuple(replace(mark, xid=(mark.xid or 0) + 1000) for mark in recorded("s1") if mark.xid is not None)
    new = tuple(Mark(f"0-41-{n + 30}", 41, f"261122 16:00:{n}", n) for n in range(10, 23))
    joiner = joining((*old, *new))
    assert compared(joiner, member(joiner, (*old, *new))).outcome == "same"
    assert compared(joiner, member(joiner, new)).outcome == "same"


def test_that_statements_alone_after_the_last_write_set_are_not_known() -> None:
    shared = tuple(mark for mark in recorded("s3") if mark.server_id == 41)
    joiner = joining((*shared, Mark("0-43-19", 43, "261122 15:27:17")))
    assert compared(joiner, member(joiner)).outcome == "not known"


def test_that_a_position_in_grastate_dat_is_not_confirmed_by_a_log_that_goes_on_with_own_rows() -> None:
    assert not claim_is_confirmed(Grastate(UUID, AT), joining().trace)


# -- where both parted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("purged_to", [0, 40, 104])
def test_that_the_last_shared_transaction_is_found_where_one_log_begins_later(purged_to: int) -> None:
    shared = tuple(Mark(f"0-41-{n}", 41, f"261122 15:00:{n:03}", n) for n in range(1, 106))
    ours = (*shared, *(Mark(f"0-43-{n}", 43, f"261122 16:00:{n:03}", n) for n in range(106, 136)))
    theirs = (*shared[purged_to:], *(Mark(f"0-41-{n}", 41, f"261122 16:00:{n:03}", n) for n in range(106, 200)))
    found = last_shared(lambda xid: from_xid(ours, xid)[:64], lambda xid: from_xid(theirs, xid)[:64], 120)
    assert found == 105


def test_that_where_nothing_shared_is_found_it_is_not_known_and_never_0() -> None:
    ours = tuple(Mark(f"0-43-{n}", 43, f"261122 16:00:{n}", n) for n in range(10, 36))
    theirs = tuple(Mark(f"0-41-{n}", 41, f"261122 16:00:{n}", n) for n in range(10, 36))
    assert last_shared(lambda xid: from_xid(ours, xid), lambda xid: from_xid(theirs, xid), 20) is None
    assert last_shared(lambda xid: from_xid(ours, xid), lambda xid: (), 20) is None
    assert last_shared(lambda xid: from_xid(ours, xid), lambda xid: from_xid(theirs[20:], xid), 20) is None


def test_that_what_xa_prepared_with_wsrep_off_is_a_fork_too() -> None:
    """XA writes no Xid: 'ok HISTORY agree' was said, and IST mixed three transactions of s3 alone with the others'."""
    marks = recorded("s3")
    prepared = tuple(replace(mark, xid=0) for mark in marks[-3:])
    joiner = joining((*marks[:-3], *prepared))
    for serves in (True, False):
        found = compared(joiner, member(joiner, serves=serves))
        assert (found.outcome, found.shared_to, found.own) == ("forked", AT, 3)
    assert "3 transactions or more written with wsrep off, after Xid 22" in found.evidence
    assert compared(joiner, member(joiner, ())).outcome == "not known"


def test_that_a_log_that_does_not_answer_ends_the_search_and_gives_no_place_far_below() -> None:
    """A read in time-out counted as a log without the transaction: the search ended at 18, where both begin."""
    shared = tuple(Mark(f"0-41-{xid - 5}", 41, "261128 20:37:40", xid) for xid in range(18, 328))
    s1 = (*shared, *(Mark(f"0-41-{xid - 5}", 41, "261128 20:37:45", xid) for xid in range(329, 543)))
    s3 = (*shared, *(Mark(f"0-43-{xid - 5}", 43, "261128 20:37:52", xid) for xid in range(329, 420)))
    newest = s3[-50:]
    since = (("s3", from_xid(s1, window(newest, None)[0].xid or 0)[:64]),)
    sides = [
        HostFacts("s1").with_part(Traces(Trace((), s1[-50:], since=since, index="/s1.index", log_told=True))),
        HostFacts("s3").with_part(Traces(Trace((), newest, index="/s3.index", log_told=True))),
    ]
    facts = Facts(0.0, UUID, "lab", hosts=tuple(sides), members=("s1", "s3"))

    def road(log: tuple[Mark, ...], answers: int) -> Callable[[CommandRead, float], Output | None]:
        left = [answers]

        def read(asked: CommandRead, limit_s: float) -> Output | None:
            del limit_s
            left[0] -= 1
            marks = from_xid(log, int(asked.values[-1]))[:64]
            lines = "".join(f"mark {m.time} {m.server_id} {m.gtid} {m.xid}\n" for m in marks)
            return Output(0, lines.encode(), b"") if left[0] >= 0 else None

        return read

    whole = searched(facts, sides[1], sides[0], (road(s3, 99), road(s1, 99)))
    assert whole.shared == (("s3", 327),)
    for answers in range(7):
        told = searched(facts, sides[1], sides[0], (road(s3, 99), road(s1, answers)))
        assert told.shared == ()
        assert told.unread[-1] == "where the binary logs of s3 and s1 part: the log of s1 was not read there"
