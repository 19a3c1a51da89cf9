"""Columnar blocks: every value comes back bit for bit, whatever the column looks like."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.history.columns.codec import Block, Table, encode, merge
from services.history.recordings.bounds import CodecError
from tests.bench.support.stream import read_stream
from tests.examples import examples

NONE = np.zeros(0, np.uint32)
COLUMN = st.one_of(
    st.lists(st.integers(0, 2**53).map(float), min_size=1, max_size=40),
    st.lists(st.integers(-(2**53), 2**53).map(float), min_size=1, max_size=40),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=40),
    st.lists(
        st.sampled_from([0.0, -0.0, 0.1, 1e-9, 2.0**64 - 1, 1.8446744073709552e19, math.nan]), min_size=1, max_size=40
    ),
    st.lists(st.decimals(-10, 10, places=4).map(float), min_size=1, max_size=40),
)


def _table(columns: list[list[float]]) -> Table:
    rows = min(len(c) for c in columns)
    matrix = np.array([c[:rows] for c in columns], np.float64)
    matrix[np.isnan(matrix)] = np.nan  # one NaN only: missing
    return Table(rows, NONE, np.zeros(0), np.arange(16, 16 + len(columns), dtype=np.uint32), matrix)


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((np.ascontiguousarray(a).view(np.int64) == np.ascontiguousarray(b).view(np.int64)).all())


@given(st.lists(COLUMN, min_size=1, max_size=12))
@settings(max_examples=examples(150), deadline=None)
def test_that_every_column_comes_back_bit_for_bit(columns: list[list[float]]) -> None:
    table = _table(columns)
    block = Block(encode(table))
    for i, number in enumerate(table.ids.tolist()):
        column = block.column(number)
        if column is None:  # a column that is missing throughout is not stored
            assert np.isnan(table.columns[i]).all()
        else:
            assert _same_bits(column, table.columns[i])


@given(st.lists(COLUMN, min_size=2, max_size=8))
@settings(max_examples=examples(60), deadline=None)
def test_that_merging_two_halves_gives_the_whole(columns: list[list[float]]) -> None:
    table = _table(columns)
    half = table.rows // 2
    if not half:
        return
    halves = [
        Table(half, NONE, np.zeros(0), table.ids, np.ascontiguousarray(table.columns[:, :half])),
        Table(table.rows - half, NONE, np.zeros(0), table.ids, np.ascontiguousarray(table.columns[:, half:])),
    ]
    merged = merge([Block(encode(h)).table() for h in halves])
    for i, number in enumerate(table.ids.tolist()):
        found = np.flatnonzero(merged.ids == number)
        if len(found):
            assert _same_bits(merged.columns[found[0]], table.columns[i])
        else:
            assert np.isnan(table.columns[i]).all()


def test_that_a_real_stream_comes_back_bit_for_bit_in_an_eighth_of_a_byte_per_value() -> None:
    stream = read_stream("mariadb_status")
    matrix = np.ascontiguousarray(stream.values.T)
    table = Table(len(stream.at), NONE, np.zeros(0), np.arange(16, 16 + len(matrix), dtype=np.uint32), matrix)
    data = encode(table, 9)
    assert _same_bits(merge([Block(data).table()]).columns, matrix)
    assert len(data) / matrix.size < 0.125


def test_that_values_beyond_two_to_the_53_keep_their_bits() -> None:
    column = [18446744073709551615.0, 9007199254740993.0, 9007199254740992.0, 1.0]
    table = _table([column])
    assert _same_bits(Block(encode(table)).column(16), table.columns[0])


@pytest.mark.parametrize("cut", [0, 10, 31, 60, -1])
def test_that_a_block_cut_short_is_refused(cut: int) -> None:
    data = encode(_table([[1.0, 2.0, 5.0], [7.0, 7.0, 7.0]]))
    with pytest.raises(CodecError):
        Block(data[:cut]).table()


def test_that_a_flipped_byte_in_a_frame_is_noticed() -> None:
    data = bytearray(encode(_table([[float(i * i % 97) for i in range(200)]])))
    data[-6] ^= 0x40
    with pytest.raises(CodecError):
        Block(bytes(data)).table()


def test_that_a_block_of_an_unknown_version_is_refused() -> None:
    data = bytearray(encode(_table([[1.0, 2.0]])))
    data[0] = 9
    with pytest.raises(CodecError, match="version 9"):
        Block(bytes(data))
