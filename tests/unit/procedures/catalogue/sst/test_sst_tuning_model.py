"""The model of an SST, figure for figure of its page: stages, the limit, the choice, the time."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from services.procedures.catalogue.galera.sst_tuning.model import (
    Packer,
    Road,
    allowed,
    better_readers,
    choose,
    core_share,
    forecast,
    slowest,
    table,
    threads_of,
)

MB = 1e6
ZSTD = Packer("zstd", 0.40, 300 * MB, 900 * MB)
LZ4 = Packer("lz4", 0.55, 500 * MB, 2000 * MB)
PIGZ = Packer("pigz", 0.35, 60 * MB, 250 * MB)
GZIP = Packer("gzip", 0.35, 60 * MB, 250 * MB)
EVERY = (ZSTD, LZ4, PIGZ, GZIP)
GIGABIT = Road(50 * 10**9, read=500 * MB, read_4=530 * MB, net=115 * MB, write=400 * MB, cores=8, cpu_share=0.5)


def test_that_the_rate_is_the_slowest_stage_and_the_network_carries_packed_bytes() -> None:
    assert slowest(GIGABIT, None, 1) == (115 * MB, "network")
    assert slowest(GIGABIT, ZSTD, 1) == (pytest.approx(115 * MB / 0.40), "network")
    assert slowest(GIGABIT, LZ4, 1) == (pytest.approx(115 * MB / 0.55), "network")


@pytest.mark.parametrize(
    ("change", "packer", "limit"),
    [
        ({"read": 50 * MB, "read_4": 50 * MB}, ZSTD, "disk read"),
        ({"write": 40 * MB}, ZSTD, "disk write"),
        ({"cores": 1}, PIGZ, "donor CPU"),
        ({"cipher": 20 * MB}, ZSTD, "cipher"),
        ({"net": 1.0 * MB}, ZSTD, "network"),
        ({"net": 900 * MB, "read": 900 * MB, "write": 900 * MB, "cores": 64}, PIGZ, "joiner CPU"),
    ],
)
def test_that_each_stage_can_be_the_limit_and_is_named(change: dict[str, float], packer: Packer, limit: str) -> None:
    assert slowest(replace(GIGABIT, **change), packer, 1)[1] == limit  # type: ignore[arg-type]


def test_that_what_was_not_measured_limits_nothing_and_nothing_measured_is_not_known() -> None:
    blind = replace(GIGABIT, read=None, read_4=None, net=None, write=None)
    assert slowest(blind, None, 1) == (None, "not known")
    assert math.isnan(forecast(blind, None).seconds)
    assert choose(blind, EVERY) is None


def test_that_the_time_is_the_pause_the_copy_the_preparing_and_the_catching_up() -> None:
    written = replace(GIGABIT, redo=10 * MB, writes=500.0, applies=2000.0)
    found = forecast(written, None)
    copy = 50e9 / (115 * MB)
    assert found.copy_s == pytest.approx(copy)
    assert found.prepare_s == pytest.approx(10 * MB * copy / 50e6)
    assert found.catch_up_s == pytest.approx(copy * 500 / 1500)
    assert found.seconds == pytest.approx(15.0 + copy + found.prepare_s + found.catch_up_s)
    assert found.prepare_limits is False
    assert forecast(replace(written, redo=40 * MB), None).prepare_limits is True


def test_that_a_tiny_database_takes_no_less_than_the_fixed_pause() -> None:
    assert forecast(replace(GIGABIT, data_bytes=1), None).seconds >= 13.0


def test_that_a_cluster_that_writes_as_fast_as_it_applies_never_catches_up() -> None:
    assert math.isinf(forecast(replace(GIGABIT, writes=2000.0, applies=2000.0), ZSTD).seconds)


def test_that_compressing_takes_its_share_of_the_donors_cores_and_one_where_there_are_no_threads() -> None:
    assert threads_of(GIGABIT, ZSTD) == 4
    assert threads_of(replace(GIGABIT, cores=1), ZSTD) == 1
    assert threads_of(GIGABIT, LZ4) == 1
    assert threads_of(GIGABIT, None) == 0


# -- the choice rule ---------------------------------------------------------------------------------------------------


def test_that_a_network_as_fast_as_the_disk_needs_no_compression() -> None:
    assert choose(replace(GIGABIT, net=530 * MB), EVERY) is None


def test_that_of_those_that_keep_up_with_the_network_the_best_ratio_is_taken() -> None:
    chosen = choose(GIGABIT, EVERY)
    assert chosen is not None
    assert chosen.name == "zstd"  # 4 x 300 MB/s keeps up with 115 / 0.4; pigz packs better and is not allowed
    slow = replace(ZSTD, pack=60 * MB)
    chosen = choose(GIGABIT, (slow, LZ4))  # 240 MB/s doesn't keep up with 287; lz4's 500 does with 209
    assert chosen is not None
    assert chosen.name == "lz4"


def test_that_gzip_is_never_taken_and_pigz_only_on_a_dedicated_donor_of_eight_cores() -> None:
    assert [p.name for p in allowed(GIGABIT, EVERY)] == ["zstd", "lz4"]
    assert "pigz" in [p.name for p in allowed(replace(GIGABIT, dedicated=True), EVERY)]
    assert "pigz" not in [p.name for p in allowed(replace(GIGABIT, dedicated=True, cores=7), EVERY)]
    assert choose(GIGABIT, (GZIP,)) is None


def test_that_pages_of_a_ratio_of_about_one_are_not_compressed() -> None:
    assert choose(GIGABIT, (replace(ZSTD, ratio=0.99), replace(LZ4, ratio=1.0))) is None


def test_that_where_none_keeps_up_one_that_shortens_the_time_is_taken_all_the_same() -> None:
    small = replace(GIGABIT, cores=2)  # one thread of 200 MB/s against 115 / 0.4 = 287 MB/s: still faster than 115
    chosen = choose(small, (replace(ZSTD, pack=200 * MB),))
    assert chosen is not None
    assert chosen.name == "zstd"
    assert choose(small, (replace(ZSTD, pack=120 * MB),)) is None  # not a tenth faster than 115 MB/s


def test_that_a_figure_without_a_network_chooses_nothing() -> None:
    assert choose(replace(GIGABIT, net=None), EVERY) is None


# -- readers -----------------------------------------------------------------------------------------------------------


def test_that_more_readers_are_set_only_where_reading_limits_and_they_read_more() -> None:
    disk = replace(GIGABIT, read=265 * MB, read_4=530 * MB, net=1200 * MB, write=2000 * MB)
    assert better_readers(disk, None) == 4
    assert forecast(disk, None, 4).rate == pytest.approx(530 * MB)
    assert better_readers(replace(disk, read_4=280 * MB), None) == 1
    assert better_readers(GIGABIT, None) == 1  # the network limits
    assert better_readers(replace(disk, parallel=4), None) == 4


def test_that_the_table_has_every_choice_the_shortest_first() -> None:
    rows = table(GIGABIT, EVERY)
    assert {row.packer for row in rows} == {"none", "zstd", "lz4", "pigz", "gzip"}
    assert [row.seconds for row in rows] == sorted(row.seconds for row in rows)


# -- what else runs ----------------------------------------------------------------------------------------------------


def test_that_a_load_takes_its_part_of_the_cores_from_a_compressor() -> None:
    busy = replace(GIGABIT, cores=2, donor_load=18.0)
    assert slowest(busy, replace(PIGZ, pack=132 * MB), 1) == (pytest.approx(132 * MB * 2 / 19), "donor CPU")
    assert core_share(8, 2.0, 4) == 1.0  # there are cores to spare
    assert core_share(0, 50.0, 1) == 1.0  # not known how many: nothing is taken off
