"""What a member wrote with wsrep off has its server's own number as Xid: its log is read at a seqno all the same.

Seen on the lab (MariaDB 10.11.18, `SET SESSION wsrep_on=OFF` on a Synced member): '... Xid = 9297, Xid = 10848, Xid =
9298 ...'. The marks asked for at 10161 began at 10848, 64 of them ended before it, and the member told nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from services.connections.programs.binlog_programs import BINLOG_MARKS
from services.facts.binlog.marks import parse_marks
from services.procedures.conditions.galera.history.chain_known import held_in
from tests.unit.facts.binary_logs import a_binary_log, run


def a_log(xids: Iterable[int]) -> str:
    """Return what mariadb-binlog prints of transactions with these Xids, one after the other."""
    lines, place = list[str](), 256
    for at, xid in enumerate(xids):
        for kind, size in ((f"GTID 0-42-{9000 + at} trans", 40), (f"Xid = {xid}", 31)):
            end = place + size
            lines += [f"# at {place}", f"#261129 14:50:03 server id 42  end_log_pos {end} CRC32 0x35589446 \t{kind}"]
            place = end
    return "\n".join(lines) + "\n"


def told(folder: Path, since: int, *files: Iterable[int]) -> list[int | None]:
    index = a_binary_log(folder, *(a_log(xids) for xids in files))
    done = run(BINLOG_MARKS, index, str(index), str(since))
    return [mark.xid for mark in parse_marks(done.stdout.splitlines())] if not done.returncode else [done.returncode]


@pytest.mark.parametrize("local", [(10848,), (10848, 10850, 10861)], ids=["one", "some"])
def test_that_a_local_number_far_before_the_seqno_hides_no_mark_of_it(tmp_path: Path, local: tuple[int, ...]) -> None:
    found = told(tmp_path, 10129, (*range(9290, 9298), *local, *range(9298, 10300)))
    assert found == list(range(10129, 10193))


def test_that_a_stretch_behind_a_local_number_is_known_from_the_members_log(tmp_path: Path) -> None:
    index = a_binary_log(tmp_path, a_log((*range(9290, 9298), 10848, *range(9298, 10162), *range(10163, 10300))))
    marks = parse_marks(run(BINLOG_MARKS, index, str(index), "10129").stdout.splitlines())
    assert held_in(marks, (10161, 10163, 0)) == "same"


def test_that_a_log_that_never_comes_to_the_seqno_tells_no_mark(tmp_path: Path) -> None:
    assert told(tmp_path, 10129, (*range(9290, 9298), 10848, *range(9298, 9400))) == []


def test_that_a_local_number_at_the_end_stays_told_for_nothing_shows_it_is_before(tmp_path: Path) -> None:
    assert told(tmp_path, 9299, (*range(9290, 9298), 10848, 10849)) == [10848, 10849]


@pytest.mark.parametrize(
    ("xids", "since"),
    [
        ((97, 98, 99, 100, 101, 102, 5, 6, 7, 103), 100),  # a server's own count, young after its restart
        ((97, 98, 99, 100, 101, 102, 98, 99, 100, 101), 100),  # twice, as an SST under writes leaves them
        ((100, 101, 97, 98), 100),  # nothing older is there to lay it beside
        ((97, 99, 101, 102, 0, 103), 100),  # XA, which has no number
    ],
    ids=["low", "twice", "purged", "xa"],
)
def test_that_a_step_back_behind_the_seqno_is_told_as_it_stands(
    tmp_path: Path, xids: tuple[int, ...], since: int
) -> None:
    begins = next(at for at, xid in enumerate(xids) if xid >= since)
    assert told(tmp_path, since, xids) == list(xids[begins:])
