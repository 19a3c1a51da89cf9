"""Do two nodes share their past: from what real servers told of a real fork, and what is left where something lacks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.facts.binlog.marks import Mark
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.state_files import Grastate
from services.procedures.plan.host_facts import Facts, HostFacts, TwoPrimaries
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.pasts.histories import WINDOW, by_marks, by_views, compared, histories, window
from services.procedures.plan.pasts.histories_model import Side
from tests.unit.procedures.facts_of_three import UUID as CLUSTER
from tests.unit.procedures.facts_of_three import down, facts
from tests.unit.procedures.host_of import changed
from tests.unit.recorded.histories_recorded import s1, s3_at

OTHER = "aaaaaaaa-e5aa-11f1-ae7d-76e16c615942"


def without(side: Side, *parts: str) -> Side:
    return replace(side, trace=replace(side.trace, **dict.fromkeys(parts, ())))


# -- the fork of the lab -----------------------------------------------------------------------------------------------


def test_that_a_minority_bootstrapped_by_hand_is_a_fork_though_uuid_and_seqno_agree() -> None:
    joiner = s3_at(25)
    found = compared(joiner, s1(joiner))
    assert found.outcome == "forked"
    assert found.shared_to == 19
    assert "Xid 21, GTID 0-43-16 on s3, Xid 21, GTID 0-41-16 on s1" in found.evidence
    assert "made Primary by hand" in found.evidence


def test_that_the_binary_logs_alone_show_the_fork_and_where_it_begins() -> None:
    joiner = s3_at(25)
    found = by_marks(joiner, s1(joiner))
    assert (found.outcome, found.shared_to) == ("forked", 19)


def test_that_the_views_alone_show_the_fork_and_where_it_begins() -> None:
    joiner = s3_at(25)
    found = by_views(joiner, s1(joiner))
    assert (found.outcome, found.shared_to) == ("forked", 19)


def test_that_both_sides_killed_are_forks_whoever_is_asked() -> None:
    joiner = s3_at(25)
    assert compared(joiner, s1(joiner, serves=False)).outcome == "forked"
    majority = s1(joiner, serves=False)
    assert by_views(majority, joiner).outcome == "forked"


def test_that_a_node_that_went_before_the_fork_shares_the_past_of_either_side() -> None:
    joiner = s3_at(19, of_fork=False)
    assert by_marks(joiner, s1(joiner)).outcome == "same"
    assert by_views(joiner, s1(joiner)).outcome == "same"
    assert compared(joiner, s1(joiner)).outcome == "same"


def test_that_one_write_set_more_than_the_donors_took_out_of_the_view_is_a_fork() -> None:
    joiner = s3_at(20, of_fork=False)
    found = by_views(joiner, s1(joiner))
    assert (found.outcome, found.shared_to) == ("forked", 19)
    assert "s1 left it at 19, s3 has 20 of it" in found.evidence


def test_that_the_nodes_that_stopped_with_it_in_one_view_share_its_past_and_none_is_asked_to_have_gone_on() -> None:
    joiner = s3_at(19, of_fork=False)
    donor = s1(joiner, seqno=19, serves=False)
    assert by_views(joiner, donor).outcome == "same"


def test_that_a_donor_that_serves_in_the_old_view_is_no_home_for_one_that_went_on() -> None:
    joiner = s3_at(25)
    donor = s1(joiner)
    donor = replace(donor, trace=replace(donor.trace, views=donor.trace.views[:4]))
    assert by_views(joiner, donor).outcome == "forked"
    resting = replace(donor, serves=False, seqno=19)
    assert by_views(joiner, resting).outcome == "same"  # it stopped there: what the other has is only more


# -- filters of a binary log -------------------------------------------------------------------------------------------

FILTER = ("s1: its server says binlog_ignore_db = shop",)


def leaving_out(side: Side, beside: Side, xid: int) -> Side:
    """The side as a filter leaves it: that transaction is in its tables, and not in its binary log."""
    marks = tuple(mark for mark in side.trace.marks if mark.xid != xid)
    since = tuple(mark for mark in dict(side.trace.since).get(beside.host, ()) if mark.xid != xid)
    return replace(side, trace=replace(side.trace, marks=marks, since=((beside.host, since),)))


def test_that_a_transaction_which_the_others_filter_left_out_is_no_fork_and_without_a_filter_is_one() -> None:
    """Seen in a random night: three nodes with all rows each, and the console said that s1 and s2 are FORKED."""
    joiner = s3_at(19, of_fork=False)
    gone = next(mark.xid for mark in reversed(joiner.trace.marks[:-1]) if mark.xid is not None)
    donor = leaving_out(s1(joiner), joiner, gone)
    assert by_marks(joiner, donor).outcome == "forked"
    found = by_marks(joiner, replace(donor, left_out=FILTER))
    assert (found.outcome, found.logs) == ("not known", "")
    assert (
        "apart from the transactions that s1 left out (s1: its server says binlog_ignore_db = shop)" in found.evidence
    )
    told = compared(joiner, replace(donor, left_out=FILTER))
    assert told.outcome == "same"
    assert "only the error logs show this" in told.evidence


def test_that_what_the_joiners_own_filter_left_out_is_no_other_count_of_gtids() -> None:
    joiner = s3_at(19, of_fork=False)
    donor = s1(joiner)
    gone = next(mark.xid for mark in reversed(joiner.trace.marks[:-1]) if mark.xid is not None)
    joiner = replace(leaving_out(joiner, donor, gone), left_out=("s3: binlog_do_db",))
    found = by_marks(joiner, donor)
    assert found.outcome == "not known"
    assert "apart from the transactions that s3 left out (s3: binlog_do_db)" in found.evidence


def test_that_a_fork_shows_among_what_a_filter_leaves_out() -> None:
    joiner = s3_at(25)
    donor = replace(s1(joiner), left_out=FILTER)
    assert by_marks(joiner, leaving_out(donor, joiner, 21)).outcome == "forked"
    assert compared(joiner, donor).outcome == "forked"


# -- what lacks --------------------------------------------------------------------------------------------------------


def test_that_nothing_read_is_not_known_and_says_what_would_have_to_be_read() -> None:
    joiner = without(s3_at(25), "views", "marks")
    donor = without(s1(joiner), "views", "marks", "since")
    joiner = replace(joiner, trace=replace(joiner.trace, unread=("the log of s3 could not be read",)))
    found = compared(joiner, donor)
    assert found.outcome == "not known"
    assert "the log of s3 could not be read" in found.missing
    assert found.missing


def test_that_without_binary_logs_the_views_decide() -> None:
    joiner = without(s3_at(25), "marks")
    assert compared(joiner, s1(joiner)).outcome == "forked"
    joiner = without(s3_at(19, of_fork=False), "marks")
    assert compared(joiner, s1(joiner)).outcome == "same"


def test_that_the_views_decide_where_the_other_log_ends_before_with_statements_alone() -> None:
    """A young cluster whose first node went down after DDL only: its log ends where the other's transactions begin."""
    began = (Mark("0-41-11", 41, "261122 17:47:21"), Mark("0-41-12", 41, "261122 17:48:41"))
    later = tuple(Mark(f"0-42-{xid}", 42, "261122 17:48:48", xid) for xid in range(18, 23))
    first, second = view(2, 1, 2, 3), view(17, 2, 3)
    ahead = Side("s2", CLUSTER, 22, serves=False, trace=Trace((first, second), (*began, *later)))
    read = (("s2", ()),)
    behind = Side("s1", CLUSTER, 16, serves=False, trace=Trace((first,), began, since=read))
    found = compared(ahead, behind)
    assert (found.outcome, found.logs) == ("same", "")
    assert "only the error logs show this" in found.evidence
    of_transactions = replace(behind.trace, marks=(Mark("0-41-11", 41, "261122 17:47:21", 11), *began[1:]))
    assert compared(ahead, replace(behind, trace=of_transactions)).outcome == "not known"
    further = replace(behind, seqno=18)  # it was there when the first of these was written, and has none
    assert compared(ahead, further).outcome != "same"


def test_that_a_position_that_is_not_known_yet_is_no_proof_of_one_past() -> None:
    joiner = s3_at(None, of_fork=False)
    found = compared(joiner, s1(joiner))
    assert found.outcome == "not known"
    assert any("how far s3 went" in sentence for sentence in found.missing)


def test_that_a_fork_shows_before_the_position_is_known() -> None:
    assert compared(s3_at(None), s1(s3_at(None))).outcome == "forked"


def test_that_equal_transactions_say_nothing_of_what_came_after_them() -> None:
    joiner = s3_at(22, of_fork=False)  # its binary log ends at 19: what 20 to 22 were it does not say
    assert by_marks(joiner, s1(joiner)).outcome == "not known"


def test_that_views_after_the_last_transaction_leave_no_room_for_one_of_the_donor_s() -> None:
    joiner = s3_at(19, of_fork=False)
    last = joiner.trace.views[-1]
    left = replace(joiner.trace, views=(*joiner.trace.views, replace(last, seqno=20)))  # another node left before it
    joiner = replace(joiner, seqno=20, trace=left)
    donor = s1(joiner)
    marks = [mark for mark in donor.trace.since[0][1] if (mark.xid or 0) <= 19]
    since = (("s3", (*marks, Mark("0-41-99", 41, "261122 6:20:00"))),)  # a statement for all, which has no Xid
    donor = replace(donor, trace=replace(donor.trace, since=since))
    assert by_marks(joiner, donor).outcome == "same"
    unexplained = replace(joiner, trace=replace(left, views=joiner.trace.views[:-1]))
    assert by_marks(unexplained, donor).outcome == "not known"


def test_that_gtids_counted_differently_are_neither_one_past_nor_a_fork() -> None:
    joiner = s3_at(19, of_fork=False)
    donor = s1(joiner)
    since = tuple(replace(mark, gtid=f"{mark.gtid}9") for mark in donor.trace.since[0][1])
    donor = replace(donor, trace=replace(donor.trace, since=(("s3", since),)))
    assert by_marks(joiner, donor).outcome == "not known"


def test_that_of_a_binary_log_that_went_back_only_what_came_after_is_compared() -> None:
    marks = tuple(Mark(f"0-1-{n}", 1, f"261122 6:00:{n:02}", n) for n in (5, 6, 7, 6))
    assert window(marks, None) == marks[3:]


def test_that_a_transaction_that_the_donor_has_not_though_it_went_past_it_is_a_fork() -> None:
    joiner = s3_at(25)
    donor = s1(joiner)
    only_common = tuple(m for m in donor.trace.since[0][1] if (m.xid or 0) <= 19)
    donor = replace(donor, trace=replace(donor.trace, since=(("s3", only_common),)))
    assert by_marks(joiner, donor).outcome == "forked"


def test_that_another_state_uuid_is_another_past_and_no_position_is_not_known() -> None:
    joiner = s3_at(25)
    assert compared(replace(joiner, state_uuid=OTHER), s1(joiner)).outcome == "forked"
    assert compared(replace(joiner, state_uuid=""), s1(joiner)).outcome == "not known"


def test_that_a_view_of_itself_alone_made_by_hand_is_a_fork_where_the_others_went_on() -> None:
    joiner = replace(without(s3_at(25), "views", "marks"), alone_by_hand=True)
    donor = without(s1(joiner), "views", "marks", "since")
    assert compared(joiner, donor).outcome == "forked"
    assert compared(joiner, replace(donor, serves=False)).outcome == "not known"


# -- among the members of a cluster ------------------------------------------------------------------------------------


def member(uuid: str, name: str, number: int) -> tuple[str, str]:
    return (f"{number:08}-{uuid[9:]}", name)


def view(seqno: int, *numbers: int) -> PrimaryView:
    return PrimaryView(CLUSTER, seqno, tuple(member(CLUSTER, f"n{n}", n) for n in numbers))


def estate(*, n3: HostFacts, n1: Trace | None, n2: Trace | None) -> Facts:
    base = facts(n3)
    traces = {"n1": n1, "n2": n2}
    hosts = tuple(changed(h, trace=traces.get(h.host, h[Traces].trace)) for h in base.hosts)
    return replace(base, hosts=hosts)


def away(seqno: int, *views: PrimaryView) -> HostFacts:
    last = (Mark("0-1-9", 1, "261122 6:00:00", seqno),)  # what its grastate.dat claims is accounted for
    return down("n3", grastate=Grastate(CLUSTER, seqno), trace=Trace(views, last))


def test_that_a_seqno_in_a_file_that_nothing_accounts_for_makes_neither_a_fork_nor_one_past() -> None:
    n1 = Trace((view(10, 1, 2, 3), view(90, 1, 2)))
    claimed = changed(away(95, view(10, 1, 2, 3)), trace=Trace((view(10, 1, 2, 3),)))
    assert histories(estate(n3=claimed, n1=n1, n2=None), "n3", "n1").outcome == "not known"


def test_that_what_one_member_knows_holds_for_a_donor_beside_it() -> None:
    n1 = Trace((view(10, 1, 2, 3), view(90, 1, 2)))
    found = estate(n3=away(80, view(10, 1, 2, 3)), n1=n1, n2=None)
    assert histories(found, "n3", "n2").outcome == "same"
    forked = estate(n3=away(95, view(10, 1, 2, 3), view(90, 3)), n1=n1, n2=None)
    assert histories(forked, "n3", "n2").outcome == "forked"


def test_that_two_primary_components_once_seen_outweigh_all_that_speaks_for_one_past() -> None:
    n1 = Trace((view(10, 1, 2, 3), view(90, 1, 2)))
    found = estate(n3=away(80, view(10, 1, 2, 3)), n1=n1, n2=n1)
    seen = replace(found, two_primaries=(TwoPrimaries(CLUSTER, 1.0, (("n1", "n2"), ("n3",)), "both were seen"),))
    assert histories(seen, "n3", "n1") == replace(histories(seen, "n3", "n1"), outcome="forked")
    assert "both were seen" in histories(seen, "n3", "n1").evidence


def test_that_what_was_seen_does_not_hide_from_where_on_the_traces_tell_a_fork() -> None:
    n1 = Trace((view(10, 1, 2, 3), view(90, 1, 2)))
    found = estate(n3=away(95, view(10, 1, 2, 3), view(90, 3)), n1=n1, n2=n1)
    told = histories(found, "n3", "n1")
    seen = replace(found, two_primaries=(TwoPrimaries(CLUSTER, 1.0, (("n1", "n2"), ("n3",)), "both were seen"),))
    assert told.shared_to == 89
    assert histories(seen, "n3", "n1") == replace(told, evidence=f"both were seen; {told.evidence}")


# -- any past at all ---------------------------------------------------------------------------------------------------


@st.composite
def two_of_one_past(draw: st.DrawFn) -> tuple[tuple[PrimaryView, ...], int, int]:
    """Views of one past, and how far two nodes of it went."""
    steps = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    seqno, found = 0, []
    for number, step in enumerate(steps):
        seqno += step
        found.append(view(seqno, 1, 2, 10 + number))
    low, high = sorted(draw(st.tuples(st.integers(found[0].seqno, seqno + 9), st.integers(found[0].seqno, seqno + 9))))
    return tuple(found), low, high


@given(two_of_one_past(), st.booleans(), st.booleans())
def test_that_two_nodes_of_one_past_are_never_called_forks(
    past: tuple[tuple[PrimaryView, ...], int, int], donor_is_behind: bool, knows_all: bool
) -> None:
    found, low, high = past
    first, second = (high, low) if donor_is_behind else (low, high)
    logs = found if knows_all else found[-1:]
    joiner = Side("n3", CLUSTER, first, serves=False, trace=Trace(tuple(v for v in logs if v.seqno <= first)))
    # One that serves goes on in the newest view: nobody is ahead of it.
    serves = not donor_is_behind and second >= found[-1].seqno
    donor = Side("n1", CLUSTER, second, serves=serves, trace=Trace(tuple(v for v in found if v.seqno <= second)))
    assert by_views(joiner, donor).outcome != "forked"


@given(two_of_one_past(), st.integers(1, 5), st.integers(1, 5), st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_that_two_that_went_on_from_one_past_each_in_a_component_of_its_own_are_never_called_one(
    past: tuple[tuple[PrimaryView, ...], int, int], ours: int, theirs: int, more: int, others: int, serves: bool
) -> None:
    found, _, _ = past
    end = found[-1].seqno
    mine, other = view(end + ours, 3), view(end + theirs, 1, 2)
    joiner = Side("n3", CLUSTER, mine.seqno + more, serves=False, trace=Trace((*found, mine)))
    donor = Side("n1", CLUSTER, other.seqno + others, serves=serves, trace=Trace((*found, other)))
    assert by_views(joiner, donor).outcome == "forked"
    assert (by_views(joiner, donor).shared_to or 0) <= min(mine.seqno, other.seqno) - 1


@pytest.mark.parametrize("seqno", [None, 18, 19, 20, 25])
def test_that_the_window_never_goes_beyond_the_position(seqno: int | None) -> None:
    ours = window(s3_at(None).trace.marks, seqno)
    assert len(ours) <= WINDOW
    assert all(seqno is None or mark.xid is None or mark.xid <= seqno for mark in ours)
