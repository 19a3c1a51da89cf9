"""Lines of an error log can be forged by who may name a table or a login: where binary logs speak, views need them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.binlog.marks import Mark
from services.procedures.looking.histories import has_only_its_own
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.pasts.histories import among, by_views, compared
from services.procedures.plan.pasts.histories_model import Side
from tests.unit.procedures.host_of import host_of
from tests.unit.recorded.histories_recorded import marks, s1, s3_at

ALONE = "only the error logs show this: "


def telling_one_past(joiner: Side, donor: Side, *, forged: bool = False) -> tuple[Side, Side]:
    """Return both with logs that tell of one Primary Component alone."""
    views = joiner.trace.views[:4] if forged else joiner.trace.views
    joiner = replace(joiner, trace=replace(joiner.trace, views=views))
    donor = replace(donor, trace=replace(donor.trace, views=views))
    assert by_views(joiner, donor).outcome == "same"
    return joiner, donor


def with_since(donor: Side, *told: Mark) -> Side:
    return replace(donor, trace=replace(donor.trace, since=(("s3", told),)))


def upto(seqno: int) -> tuple[Mark, ...]:
    return tuple(m for m in marks("s1") if m.xid is not None and m.xid <= seqno)


def test_that_forged_views_of_one_past_don_t_hide_the_fork_that_binary_logs_show() -> None:
    joiner, donor = telling_one_past(s3_at(25), s1(s3_at(25)), forged=True)
    assert compared(joiner, donor).outcome == "forked"


@pytest.mark.parametrize("last", [16, 18])
def test_that_views_of_one_past_are_no_proof_where_the_donor_s_log_has_not_what_the_joiner_s_has(last: int) -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False), seqno=18))
    found = compared(joiner, with_since(donor, *upto(last)))
    assert found.outcome == "not known"
    assert found.evidence == "the error logs of s3 and s1 show one history, but their binary logs disagree"
    assert any("the binary log of s1" in sentence for sentence in found.missing)


def test_that_views_of_one_past_are_no_proof_where_the_logs_have_other_transactions() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    inside = joiner.trace.marks[1]
    other = replace(inside, xid=(inside.xid or 0) + 1000, gtid="0-9-9")
    ours = replace(joiner, seqno=5000, trace=replace(joiner.trace, marks=(inside, replace(inside, xid=5000))))
    assert compared(ours, with_since(donor, other)).outcome == "not known"


def test_that_a_donor_s_log_that_begins_later_was_purged_and_leaves_the_views_alone() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    found = compared(joiner, with_since(donor, *(m for m in marks("s1") if (m.xid or 0) > 21)))
    assert found.outcome == "same"
    assert ALONE in found.evidence
    assert "have no Xid of s3's newest" in found.evidence


def test_that_without_a_binary_log_the_views_alone_decide_and_say_so() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    bare = [replace(side, trace=replace(side.trace, marks=(), since=())) for side in (joiner, donor)]
    found = compared(*bare)
    assert found.outcome == "same"
    assert found.evidence.endswith(f"{ALONE}the binary log of s3 contains no transaction to compare")
    unread = replace(donor, trace=replace(donor.trace, since=()))  # it could not be read
    assert ALONE in compared(joiner, unread).evidence


def test_that_agreement_up_to_the_last_transaction_lets_views_tell_the_rest() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    assert "agree at Xid" in compared(joiner, donor).evidence
    counted = tuple(replace(mark, gtid=f"{mark.gtid}9") for mark in donor.trace.since[0][1])
    found = compared(joiner, with_since(donor, *counted))  # wsrep_gtid_mode is off
    assert (found.outcome, found.logs) == ("same", "agree")
    assert "count their GTIDs differently; both were in" in found.evidence
    statement = Mark("0-43-99", 43, "261122 6:20:00")  # a statement that only this node ran, and has stopped after
    alone = replace(joiner, trace=replace(joiner.trace, marks=(*joiner.trace.marks, statement)))
    assert compared(alone, donor).outcome == "not known"


def test_that_one_proof_by_transactions_outweighs_and_views_alone_don_t() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    agree, differ = compared(joiner, donor), compared(joiner, with_since(donor))
    alone = compared(joiner, replace(donor, trace=replace(donor.trace, since=())))
    assert [one.outcome for one in (agree, differ, alone)] == ["same", "not known", "same"]
    assert among((differ, alone, agree)) == agree
    assert among((alone, differ)).outcome == "not known"


def test_that_a_log_of_a_node_s_own_transactions_alone_shows_neither_a_fork_nor_one_past() -> None:
    joiner, donor = telling_one_past(s3_at(19, of_fork=False), s1(s3_at(19, of_fork=False)))
    own = with_since(donor, joiner.trace.marks[-2])  # the last one is another node's
    found = compared(joiner, replace(own, trace=replace(own.trace, partial=True)))
    assert found.outcome == "same"
    assert found.evidence.endswith(f"{ALONE}the binary log of s1 has only what was written on s1 itself "
                                   "(log_slave_updates is off)")  # fmt: skip


def test_that_log_slave_updates_is_read_from_the_server_its_files_or_the_log_itself() -> None:
    def host(*options: tuple[str, str], live: str = "") -> HostFacts:
        given = tuple(("mysqld", name, value) for name, value in options)
        return host_of("s1", options_given=given, variables_values=(("log_slave_updates", live),) if live else ())

    own = (Mark("0-41-7", 41, "261122 6:00:00", 7),)
    server = ("server_id", "41")
    assert has_only_its_own(host(live="OFF"), ())
    assert not has_only_its_own(host(("log_slave_updates", "OFF"), live="ON"), own)
    assert has_only_its_own(host(("log_slave_updates", "0")), ())
    assert has_only_its_own(host(("skip_log_slave_updates", "")), ())
    assert not has_only_its_own(host(("log_slave_updates", ""), server), own)
    assert has_only_its_own(host(server), own)  # MariaDB's default
    assert not has_only_its_own(host(server), (*own, Mark("0-42-8", 42, "261122 6:00:01", 8)))
    assert not has_only_its_own(host(server), (Mark("b5718c95-e63b-11f1-bb02-eea2b3654d9a:7", 41, "x", 7),))
    assert not has_only_its_own(host(), own)
