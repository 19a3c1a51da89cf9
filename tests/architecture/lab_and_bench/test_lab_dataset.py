"""The lab's data of gigabytes, as far as no host is needed to see it: how many rows, which statements, whose names."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest

from tests.lab.estate.servers.dataset import (
    _PAYLOAD,
    DDL,
    LEAST_ROUNDS,
    LIKE_SYSBENCH,
    ROUND_BYTES,
    TABLES,
    DataSet,
    _round,
)
from tests.lab.estate.spec import ESTATES, REJOIN, STEER


@pytest.mark.parametrize("size", [10**6, 31 * 10**6, 2 * 10**9, 20 * 10**9])
def test_that_the_payload_that_stays_is_what_was_reckoned_with(size: int) -> None:
    wanted = DataSet(size)
    assert wanted.rounds >= LEAST_ROUNDS
    rounds = dict.fromkeys(_PAYLOAD, wanted.rounds)
    rounds["happened"] = wanted.rounds - wanted.rounds * 3 // 4
    tables = {"sbtest": len(LIKE_SYSBENCH)}
    kept = sum(rounds[k] * wanted.rows(k) * _PAYLOAD[k] * tables.get(k, 1) for k in _PAYLOAD)
    assert wanted.payload <= kept <= 1.1 * wanted.payload + 4 * _PAYLOAD["picture"] * wanted.rounds


def test_that_a_round_is_a_few_megabytes_a_table_however_large_the_whole() -> None:
    wanted = DataSet(20 * 10**9)
    assert max(wanted.rows(kind) * size for kind, size in _PAYLOAD.items()) < ROUND_BYTES / 2


def test_that_every_statement_is_of_its_seed_and_round_alone() -> None:
    wanted = DataSet(10**8, seed=7)
    again = [";".join(_round(wanted, number)) for number in range(wanted.rounds)]
    assert again == [";".join(_round(wanted, number)) for number in range(wanted.rounds)]
    assert len(set(again)) == wanted.rounds
    other = dataclasses.replace(wanted, seed=8)
    assert not set(again) & {";".join(_round(other, number)) for number in range(wanted.rounds)}


def test_that_no_row_number_comes_twice_and_none_is_left_out() -> None:
    wanted = DataSet(10**8)
    for table in TABLES:
        text = ";".join(statement for number in range(wanted.rounds) for statement in _round(wanted, number))
        found = re.finditer(rf"INSERT INTO {table} .*? FROM seq_(\d+)_to_(\d+)", text)
        spans = [(int(span[1]), int(span[2])) for span in found]
        assert spans[0][0] == 1
        assert all(former[1] + 1 == later[0] for former, later in itertools.pairwise(spans)), table


@pytest.mark.parametrize("size", [10**6, 10**8, 2 * 10**9])
def test_that_ddl_stands_between_rows_once_each_after_a_quarter_a_half_and_three_quarters(size: int) -> None:
    wanted = DataSet(size)
    places = [n for n in range(wanted.rounds) for statement in _round(wanted, n) if statement in DDL]
    assert [place + 1 for place in places] == [wanted.rounds * quarter // 4 for quarter in (1, 2, 3)]


def test_that_every_estate_has_a_name_a_letter_and_a_network_of_its_own() -> None:
    for kind in ("name", "code", "network"):
        assert len({getattr(spec, kind) for spec in ESTATES}) == len(ESTATES)


def test_that_the_estate_for_gigabytes_has_the_shape_of_the_one_for_procedures() -> None:
    assert REJOIN.hosts == STEER.hosts
    assert REJOIN.disk_gib > 2 * 2.6
