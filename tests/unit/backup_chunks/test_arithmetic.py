"""The arithmetic of backup chunks: every number of its specification, and what lies at its edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.backup_chunks.advice import FILES, LARGER, LEAVE, MEMORY, TEST, advise, most_for, range_for
from services.backup_chunks.arithmetic import apart, fails, memory_bound, objects_of, reckon, together, trying_s
from services.backup_chunks.model import MIB, Backup, Network
from services.backup_chunks.telling import count_words, lines_of, money_words, odds_words, size_words
from services.facts.server.tablespaces import FileClass

MB, GB, TB = 10**6, 10**9, 10**12


@pytest.mark.parametrize(
    ("size", "chunk", "objects"),
    [
        (1 * TB, 10 * MB, 100_000),
        (8 * TB, 10 * MB, 800_000),
        (1 * TB, 200 * MB, 5_000),
        (8 * TB, 200 * MB, 40_000),
        (0, 10 * MB, 0),
        (1, 10 * MB, 1),
        (10 * MB + 1, 10 * MB, 2),
    ],
)
def test_that_the_objects_are_the_bytes_by_the_chunk(size: int, chunk: int, objects: int) -> None:
    assert reckon(Backup(size), chunk).objects.count == objects


def test_that_what_compression_takes_away_makes_no_objects() -> None:
    assert reckon(Backup(8 * TB, ratio=0.25), 10 * MB).objects.count == 200_000


def test_that_one_terabyte_in_objects_of_10_mb_costs_1_54_in_operations_which_is_13_percent_of_both() -> None:
    out = reckon(Backup(1 * TB), 10 * MB)
    assert [round(c, 9) for c in (out.store_cost, out.verify_cost, out.move_cost)] == [0.50, 0.04, 1.00]
    assert round(out.operations_cost, 9) == 1.54
    assert round(out.storage_cost, 9) == 10.0
    assert round(out.operations_cost + out.storage_cost, 9) == 11.54
    assert round(out.operations_share, 2) == 0.13


def test_that_one_terabyte_in_objects_of_200_mb_costs_0_077_in_operations() -> None:
    assert round(reckon(Backup(1 * TB), 200 * MB).operations_cost, 9) == 0.077


def test_that_800_000_objects_fail_in_8_of_10_000_backups_where_errors_are_apart() -> None:
    network = Network(error=0.001, attempts=3)
    out = reckon(Backup(8 * TB, network=network), 10 * MB)
    assert apart(network) == pytest.approx(1e-9)
    assert out.fails == pytest.approx(0.0008, rel=1e-3)
    assert odds_words(out.fails) == "0.08\u202f%"


def test_that_the_same_fail_nearly_always_where_errors_last() -> None:
    network = Network(error=0.001, again=0.1, attempts=3)
    out = reckon(Backup(8 * TB, network=network), 10 * MB)
    assert together(network) == pytest.approx(1e-5)
    assert round(out.fails_in_outage, 4) == 0.9997
    assert odds_words(out.fails_in_outage) == "99.97\u202f%"


def test_that_odds_stay_between_never_and_always() -> None:
    assert (fails(0, 0.5), fails(10, 0.0), fails(10, 1.0), fails(0, 1.0)) == (0.0, 0.0, 1.0, 0.0)
    assert fails(1, 0.25) == pytest.approx(0.25)
    assert fails(10**9, 1e-18) == pytest.approx(1e-9)


def test_that_ten_retries_are_about_17_minutes_of_trying() -> None:
    assert trying_s(10) == 510 + 2 * 300  # Percona's page says 'approximately 17 minutes'; its algorithm makes 18.5
    assert abs(trying_s(10) / 60 - 17) < 2
    assert trying_s(5, longest_s=10.0) == 2 + 4 + 8 + 10 + 10
    assert trying_s(10**12) == pytest.approx(300.0 * 10**12)


def test_that_time_is_the_sending_and_the_fixed_time_of_each_object() -> None:
    slow = Backup(8 * TB, uploads=8, network=Network(rate=500 * MB, object_s=0.080))
    out = reckon(slow, 10 * MB)
    assert (out.sending_s, out.objects_s) == (16_000, 800_000 * 0.080 / 8)
    assert out.seconds == 24_000
    assert reckon(replace(slow, network=Network()), 10 * MB).seconds is None


def test_that_memory_is_bounded_by_a_buffer_for_each_thread_two_for_each_that_encrypts_one_for_each_upload() -> None:
    assert memory_bound(200 * MB, 8, 4, 16) == 8 * 200 * MB + 4 * 2 * 200 * MB + 16 * 200 * MB
    assert reckon(Backup(TB, parallel=8, encrypt_threads=0, uploads=2), 200 * MB).memory == 2 * GB
    assert most_for(40 * GB, 8, 4, 16) == 10 * GB // 32 // MIB * MIB


# -- files -------------------------------------------------------------------------------------------------------------


def test_that_many_small_tables_set_the_floor_whatever_the_chunk() -> None:
    files = (FileClass(200_000, 20 * GB, 9 * MB), FileClass(4, 4 * TB, 2 * TB))
    assert reckon(Backup(4_020 * GB, files=files), 200 * MB).objects.least >= 200_000
    assert reckon(Backup(4_020 * GB, files=files), 10**15).objects.count == 200_004


def test_that_the_objects_of_known_files_lie_between_their_bounds() -> None:
    sizes = [11 * MB, 25 * MB, 99 * MB, 40 * MB]
    found = objects_of(sum(sizes), 1.0, 10 * MB, (FileClass(len(sizes), sum(sizes), max(sizes)),))
    exact = sum(-(-size // (10 * MB)) for size in sizes)
    assert found.most is not None
    assert found.least <= exact <= found.most
    assert found.least <= found.count <= found.most
    assert found.files == 4


# -- advice ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "code", "low", "high"),
    [
        (0.9 * TB, LEAVE, 10, 10),
        (1 * TB, TEST, 10, 50),
        (2 * TB, TEST, 10, 50),
        (2.1 * TB, LARGER, 100, 200),
        (10 * TB, LARGER, 100, 200),
        (11 * TB, LARGER, 200, 500),
        (400 * TB, LARGER, 200, 500),
    ],
)
def test_that_the_range_is_that_of_the_size(size: float, code: str, low: int, high: int) -> None:
    assert range_for(int(size)) == (low * MB, high * MB)
    advice = advise(Backup(int(size)))
    assert advice.code == code
    if advice.changes:
        assert advice.chunk % MIB == 0
        assert low * MB <= advice.chunk <= high * MB + MIB
        assert advice.chunk < GB
        assert advice.then.objects.count <= 50_000 or advice.chunk >= high * MB


def test_that_a_backup_of_few_objects_is_left_alone() -> None:
    advice = advise(Backup(4 * TB, ratio=0.1))
    assert (advice.code, advice.chunk, advice.changes) == (LEAVE, 10 * MB, False)


def test_that_a_chunk_takes_a_quarter_of_the_free_memory_at_most() -> None:
    job = Backup(8 * TB, parallel=8, encrypt_threads=4, uploads=8, free_memory=11 * GB)
    advice = advise(job)
    assert advice.chunk < advise(replace(job, free_memory=None)).chunk
    assert advice.then.memory <= 11 * GB / 4
    assert advice.code == LARGER
    assert advise(replace(job, free_memory=6 * GB)).code == MEMORY


def test_that_a_larger_chunk_is_not_advised_where_small_files_are_the_objects() -> None:
    files = (FileClass(300_000, 3 * TB, 10 * MB), FileClass(10, GB, 500 * MB))
    assert advise(Backup(3_001 * GB, files=files)).code == FILES


def test_that_what_was_seen_is_told_where_it_is_the_reason() -> None:
    assert any(
        "Below 1 TB, larger chunks were slower in a test: 1 300 s instead of 1 000 s." in reason
        for reason in advise(Backup(TB // 2)).reasons
    )
    large = Backup(8 * TB, network=Network(rate=10**9))
    assert any(
        "On a cluster of many terabytes, 200 MB instead of 10 MB reduced 18 000 s to 13 000 s." in reason
        for reason in advise(large).reasons
    )
    assert any("--fifo-streams" in reason for reason in advise(large).reasons)
    assert not any("--fifo-streams" in r for r in advise(replace(large, network=Network(rate=10**8))).reasons)


# -- words -------------------------------------------------------------------------------------------------------------


def test_that_each_line_shows_its_formula_with_the_numbers_in_it() -> None:
    backup = Backup(8 * TB, uploads=8, network=Network(attempts=3))
    lines = {line.code: line for line in lines_of(backup, reckon(backup, 10 * MB))}
    plain = {
        code: (line.formula.replace("\u202f", " "), line.value.replace("\u202f", " ")) for code, line in lines.items()
    }
    assert plain["objects"] == ("N = S / C = 8 TB / 10 MB", "800 000")
    assert plain["fails"] == ("1 − (1 − p^r)^N = 1 − (1 − 0.001^3)^800 000", "0.08 %")
    assert plain["fails-in-outage"] == ("1 − (1 − p·pc^(r−1))^N = 1 − (1 − 0.001·0.1^2)^800 000", "99.97 %")
    assert plain["operations"][1] == "12.32"
    assert "not known" in plain["time"][1]
    assert "not known" in plain["memory"][1]


@pytest.mark.parametrize(
    ("amount", "words"), [(1.54, "1.54"), (0.077, "0.077"), (0.5, "0.50"), (0.0, "0.00"), (10, "10.00")]
)
def test_that_money_has_its_places(amount: float, words: str) -> None:
    assert money_words(amount) == words


def test_that_sizes_and_counts_have_their_units() -> None:
    assert [size_words(n) for n in (0, 999, 153 * MIB, 8 * TB)] == [
        "0\u202fB",
        "999\u202fB",
        "160\u202fMB",
        "8\u202fTB",
    ]
    assert count_words(1_234_567) == "1\u202f234\u202f567"
    assert [odds_words(n) for n in (0.0, 1.0, 0.5)] == ["0\u202f%", "100\u202f%", "50\u202f%"]
    assert [odds_words(n) for n in (1e-20, 1 - 1e-9)] == ["< 0.0001\u202f%", "> 99.99\u202f%"]
