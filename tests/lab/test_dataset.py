"""The lab's data of gigabytes: it holds what it says, alike on every member, beside a writer whose rows are counted.

Small sizes here; `lab.py load rejoin data` makes the 2 GB.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import dataset
from tests.lab.estate.servers.dataset import DataSet
from tests.lab.estate.waiting import on_this_machine
from tests.lab.procedures.states.writer import Writer

LAB = str(Path(__file__).resolve().parents[2] / "packaging" / "lab.py")
MEMBERS = ("s1", "s2", "s3")
SMALL = DataSet(size=8 * 10**6, seconds=120)

pytestmark = pytest.mark.long


def test_that_a_data_set_holds_what_it_says_on_every_member(rejoining: Estate) -> None:
    made = dataset.make(rejoining.spec, "s1", SMALL)
    assert made.whole
    assert made.files >= SMALL.size
    assert set(made.rows) == set(dataset.TABLES)
    for table in (*dataset.LIKE_SYSBENCH, "picture", "account", "entry"):
        kind = "sbtest" if table in dataset.LIKE_SYSBENCH else table
        assert made.rows[table] == SMALL.rounds * SMALL.rows(kind), table
    assert made.rows["happened"] == SMALL.rounds // 4 * SMALL.rows("happened"), "the last DDL let go of the rest"
    rejoining.wait_synced(MEMBERS)
    told = {name: dataset.sums(rejoining.spec, name) for name in MEMBERS}
    assert told["s1"] == told["s2"] == told["s3"]
    assert {table: rows for table, (rows, _) in told["s1"].items()} == made.rows
    rejoining.sql("s1", "USE big; DELETE FROM account WHERE id = (SELECT MIN(account) FROM entry)")
    assert dataset.counts(rejoining.spec, "s1")["entry"] < made.rows["entry"], "children go with their parent"


def test_that_its_columns_are_as_told(rejoining: Estate) -> None:
    dataset.make(rejoining.spec, "s1", SMALL)

    def one(question: str) -> list[str]:
        return rejoining.sql("s1", f"USE big; {question}")[0]

    assert one("SELECT MIN(LENGTH(data)), MAX(LENGTH(data)) FROM picture") == ["65536", "65536"]
    halves = one(
        "SELECT LENGTH(COMPRESS(LEFT(data, 32768))), LENGTH(COMPRESS(RIGHT(data, 32768))) FROM picture LIMIT 1"
    )
    assert int(halves[0]) > 32_000, "half cannot be compressed"
    assert int(halves[1]) < 1_000
    keys = "SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = 'big' AND constraint_type = "
    assert one(f"{keys}'PRIMARY KEY'") == [str(len(dataset.TABLES) - 1)], "one table has none"
    assert one(f"{keys}'FOREIGN KEY'") == ["1"]
    assert one("SELECT COUNT(DISTINCT added), MIN(added) FROM sbtest1") == ["1", "7"]
    assert one("SHOW INDEX FROM entry WHERE Key_name = 'by_time'")[2] == "by_time"


def test_that_a_seed_makes_the_same_rows_again_and_another_seed_makes_others(rejoining: Estate) -> None:
    def told(seed: int) -> dict[str, tuple[int, str]]:
        dataset.make(rejoining.spec, "s1", dataclasses.replace(SMALL, size=4 * 10**6, seed=seed))
        return dataset.sums(rejoining.spec, "s1")

    first, other, again = told(1), told(2), told(1)
    assert first == again
    for table in dataset.TABLES:
        assert first[table][0] == other[table][0]
        assert first[table][1] != other[table][1], table


def test_that_it_ends_by_itself_when_its_time_is_over_and_says_that_it_is_not_whole(rejoining: Estate) -> None:
    made = dataset.make(rejoining.spec, "s1", DataSet(size=400 * 10**6, seconds=2))
    assert not made.whole
    assert 0 < made.rounds < made.wanted
    assert made.seconds < on_this_machine(30)
    assert made.rows["sbtest1"] == made.rounds * DataSet(size=400 * 10**6).rows("sbtest")


@pytest.mark.parametrize(("size", "seconds"), [(0, 10), (10**12, 10), (10**6, 0), (10**6, 10**6)])
def test_that_a_data_set_without_bounds_is_refused(rejoining: Estate, size: int, seconds: float) -> None:
    with pytest.raises(LabError, match="a data set has"):
        dataset.make(rejoining.spec, "s1", DataSet(size=size, seconds=seconds))


def test_that_a_size_that_a_members_disk_has_no_room_for_is_refused(rejoining: Estate) -> None:
    rejoining.fill("s3", leave_mb=64)
    try:
        with pytest.raises(LabError, match=r"s3 has \d+ MB free"):
            dataset.make(rejoining.spec, "s1", DataSet(size=10**9, seconds=10))
    finally:
        rejoining.unfill("s3")


def test_that_no_acknowledged_row_of_a_writer_beside_it_is_lost(rejoining: Estate) -> None:
    with Writer(rejoining, MEMBERS, seconds=120) as writer:
        made = dataset.make(rejoining.spec, "s2", SMALL)
    assert made.whole
    writer.assert_nothing_lost(MEMBERS)


def test_that_the_lab_command_makes_it_and_prints_its_rows(rejoining: Estate) -> None:
    words = [sys.executable, LAB, "load", "rejoin", "data", "--size", "4MB", "--seconds", "100", "--seed", "3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == dataset.counts(rejoining.spec, "s1")
    assert "4 of 4 rounds" in done.stderr
    dataset.drop(rejoining.spec, "s1")
    assert dataset.files(rejoining.spec, "s1") == 0
