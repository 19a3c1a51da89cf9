"""A log that an SST under writes began has transactions twice: they are nobody's own, and nothing hides behind them.

`sst-*.binlog` and `sst-under-writes-*.marks`: MariaDB 10.11.18 with Galera 26.4.23 on the lab. s1 sent its data as
they were at seqno 1468, and with them a copy of the binary log's file that it had just begun, with 1470 in it. s3 got
1469 and 1470 by IST, and its log, which goes on after the copy, counts GTIDs of its own for them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from services.connections.ports import Output
from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.connections.reads.read import CommandRead
from services.facts.binlog.marks import MOST_MARKS, Mark, parse_marks
from services.facts.galera.primary_views import PrimaryView
from services.facts.galera.ran_alone import RanAlone
from services.facts.galera.state_files import Grastate
from services.procedures.looking.histories import second_round
from services.procedures.plan.host_facts import Facts, HostFacts
from services.procedures.plan.parts.galera.traces import Trace, Traces
from services.procedures.plan.pasts.histories import by_marks, claim_is_confirmed, compared, newest_run
from services.procedures.plan.pasts.histories_model import Histories, Side
from services.procedures.plan.pasts.own_transactions import asked_next, own_after
from tests.unit.facts.binary_logs import a_binary_log, run
from tests.unit.procedures.facts_of_three import UUID
from tests.unit.recorded.histories_recorded import FOLDER

AT = 2056
VIEW = PrimaryView(UUID, 1104, (("a", "s1"), ("b", "s2"), ("c", "s3")))
LEFT = PrimaryView(UUID, 2057, (("a", "s1"), ("b", "s2")))


def told(host: str) -> tuple[Mark, ...]:
    lines = (FOLDER / f"sst-under-writes-{host}.marks").read_text().splitlines()
    return tuple(mark for line in lines for mark in parse_marks([line]))


OURS, THEIRS = told("s3"), told("s1")
FEW = tuple(mark for mark in THEIRS if mark.xid in range(1469, 1476))
"""What s3 got after the copy, where it was stopped soon."""


def own(first: int, count: int = 3, *, day: str = "261126 23:59:0") -> tuple[Mark, ...]:
    """Rows of a server that was started on s3 with wsrep off, after all that it had of the cluster."""
    return tuple(Mark(f"0-43-{3000 + n}", 43, f"{day}{n % 10}", first + 2 * n) for n in range(count))


def joining(marks: tuple[Mark, ...], alone: RanAlone | None = None, *, seqno: int | None = AT) -> Side:
    trace = Trace((VIEW,), marks, index="/x.index", log_told=True, other_server=alone)
    return Side("s3", UUID, seqno, serves=False, trace=trace)


def beside(joiner: Side, log: tuple[Mark, ...] = THEIRS) -> Side:
    """s1, its log read by the second round itself, as it reads it on a host."""

    def read(asked: CommandRead, limit_s: float) -> Output:
        del limit_s
        since = int(asked.values[-1])
        start = next((at for at, mark in enumerate(log) if (mark.xid or 0) >= since), len(log))
        lines = [f"mark {m.time} {m.server_id} {m.gtid} {'-' if m.xid is None else m.xid}" for m in log[start:]]
        return Output(0, "\n".join(lines[:MOST_MARKS]).encode(), b"")

    host = HostFacts("s1").with_part(Traces(Trace((VIEW, LEFT), log[-50:], index="/y.index", log_told=True)))
    other = HostFacts("s3").with_part(Traces(joiner.trace))
    facts = Facts(0.0, UUID, "lab", hosts=(host, other), members=("s1", "s3"))
    return Side("s1", UUID, AT + 3, serves=True, trace=second_round(facts, host, {"s3": other}, read))


def again(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """What came with the SST, and these as s3 counts them: on from the copy's last GTID."""
    return (OURS[0], *(replace(mark, gtid=f"0-41-{1465 + n}") for n, mark in enumerate(marks)))


def judged(joiner: Side, log: tuple[Mark, ...] = THEIRS) -> Histories:
    return compared(joiner, beside(joiner, log))


def test_that_the_real_files_hold_a_copy_and_the_same_transactions_again_with_gtids_of_the_joiner(
    tmp_path: Path,
) -> None:
    def xids(host: str, *files: str) -> list[tuple[int | None, str]]:
        (tmp_path / host).mkdir()
        index = a_binary_log(tmp_path / host, *((FOLDER / f"sst-{file}.binlog").read_text() for file in files))
        marks = parse_marks(run(BINLOG_MARKS, index, str(index), "1").stdout.splitlines())
        return [(mark.xid, mark.gtid) for mark in marks]

    assert xids("s1", "donor-before-s1", "donor-copied-s1") == [
        (1469, "0-41-1463"), (1470, "0-41-1464"), (1471, "0-41-1465"), (1472, "0-41-1466"),
    ]  # fmt: skip
    assert xids("s3", "copied-s3", "joined-s3") == [
        (1470, "0-41-1464"), (1469, "0-41-1465"), (1470, "0-41-1466"), (1471, "0-41-1467"),
    ]  # fmt: skip
    assert OURS[:2] == (Mark("0-41-1464", 41, "261126 23:47:40", 1470), Mark("0-41-1465", 41, "261126 23:47:40", 1469))


def test_that_what_stands_twice_is_nobodys_own_where_the_other_log_has_it() -> None:
    """'50 transactions or more written with wsrep off' was said: the first that came again was not asked for."""
    joiner = joining(OURS)
    assert asked_next(OURS, ()) == (1469, 1470)
    assert asked_next(OURS, THEIRS[8:]) == (1469, 1470)  # from 1470 on, as it was asked before
    donor = beside(joiner)
    assert own_after(OURS, donor.trace.at_turn[0][1]) is None
    found = compared(joiner, donor)
    assert (found.outcome, found.logs) == ("same", "agree")
    assert "agree in Xids, servers and times, and count their GTIDs differently" in by_marks(joiner, donor).evidence


def test_that_its_position_is_not_taken_from_its_state_file() -> None:
    assert newest_run(OURS) == OURS[1:]
    assert not claim_is_confirmed(Grastate(UUID, AT), joining(OURS).trace)


@pytest.mark.parametrize("seqno", [AT, None])
def test_that_a_server_that_ran_alone_after_it_leaves_the_past_unknown_whatever_the_position(seqno: int | None) -> None:
    found = judged(joining(OURS, RanAlone(" at 2026-11-26 23:48:50 UTC"), seqno=seqno))
    assert (found.outcome, found.outside) == ("not known", True)
    assert found.missing[0].startswith("s3: a server ran on its data without the cluster at 2026-11-26 23:48:50 UTC")
    doubted = judged(joining(OURS, RanAlone("", certain=False), seqno=AT))
    assert "whether another server ran on the data behind it is not known" in doubted.evidence


def test_that_rows_of_its_own_behind_it_are_a_fork() -> None:
    marks = (*again(FEW), *own(3))
    joiner = joining(marks, seqno=1475)
    assert asked_next(marks, THEIRS) == (3, 1469, 1475)
    for log in (THEIRS, FEW):
        found = judged(joiner, log)
        assert (found.outcome, found.shared_to, found.own) == ("forked", 1475, 3)
        assert "3 transactions or more written with wsrep off, after Xid 1475" in found.evidence


def test_that_rows_of_its_own_at_once_after_the_copy_are_a_fork() -> None:
    """Nothing came again: the copy's last is the donor's, and what follows is not."""
    for first in (3, 1469, 1470):
        found = judged(joining((OURS[0], *own(first)), seqno=1470))
        assert (found.outcome, found.own) == ("forked", 3), found


def test_that_many_rows_of_its_own_are_a_fork_where_the_other_log_begins_above_them() -> None:
    rows = own(3, 120)
    joiner = joining((*again(FEW)[-4:], rows[0], *rows[-50:]), seqno=1475)
    found = judged(joiner)
    assert (found.outcome, found.own) == ("forked", 51)


def test_that_an_xid_of_the_other_log_with_another_time_or_server_is_no_repeat() -> None:
    for other in (replace(OURS[1], time="261126 23:47:41"), replace(OURS[1], server_id=43)):
        assert judged(joining((OURS[0], other, *OURS[2:]))).outcome != "same"


def test_that_what_the_other_log_purged_in_between_is_not_known_and_not_called_its_own() -> None:
    purged = tuple(mark for mark in THEIRS if (mark.xid or 0) >= 1470)
    found = judged(joining(OURS), purged)
    assert (found.outcome, found.logs) == ("not known", "differ")
    (said,) = (sentence for sentence in found.missing if "step back" in sentence)
    assert "whether they were written with wsrep off, or are listed twice, as after an SST under writes" in said
    assert "with wsrep off, after" not in said
    short = judged(joining(again(FEW), seqno=1475), purged)
    assert short.outcome == "not known"
