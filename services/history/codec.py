"""Columnar chunks: a table of float64 columns as a few small zstd frames, read back bit for bit. Pure.

Layout of a block (little endian; resources/docs/recording-format.md has the same for readers in other languages):
    u8 version (1), 3 bytes zero, u32 length of each of the 7 frames, then the frames, each its own zstd frame:
    0 header: u32 rows, u32 constants, u32 columns, u32 zero;
              constants: u32 id[], f64 value[];
              columns: u32 id[], u8 kind[], u8 frame[], u8 gaps[], i64 first[]
    1..4 deltas of 1, 2, 4, 8 bytes: per column (rows - 1) signed differences, zigzag, bytes shuffled into planes
    5 raw: per column rows u64, each XORed with the one before, bytes shuffled
    6 gaps: per column with gaps a bitmap of the missing rows
Kind 0: whole numbers below 2**53; kind 1 to 9: decimals with that many digits, stored as whole numbers; kind 255: bits.
One frame per width, so that reading one metric unpacks only the frame it lives in. Measured on real status streams, a
difference beats a difference of differences and XOR (docs: benchmarks, budget 10).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]

VERSION = 1
FRAMES = 7
RAW_FRAME, GAPS_FRAME = 5, 6
RAW = 255
DECIMALS = 9
EXACT = float(2**53)
_HEAD = struct.Struct("<B3x7I")
_COUNTS = struct.Struct("<4I")
_WIDTHS: dict[int, type[np.unsignedinteger[Any]]] = {1: np.uint8, 2: np.uint16, 3: np.uint32, 4: np.uint64}


class CodecError(ValueError):
    """The bytes are not a block this program can read."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of one chunk: constants (ids, values) and `columns` of shape (len(ids), rows); NaN is missing."""

    rows: int
    constant_ids: Ids
    constants: Floats
    ids: Ids
    columns: Floats


def encode(table: Table, level: int = 3) -> bytes:
    """Return the block of a table. Columns that don't vary become constants by themselves."""
    bits = table.columns.view(np.int64)
    if len(table.ids) and table.rows:
        same = (bits == bits[:, :1]).all(axis=1)
        constant_ids = np.concatenate((table.constant_ids, table.ids[same])).astype(np.uint32)
        constants = np.concatenate((table.constants, table.columns[same, 0]))
        ids, columns = table.ids[~same], np.ascontiguousarray(table.columns[~same])
    else:
        constant_ids, constants, ids, columns = table.constant_ids, table.constants, table.ids, table.columns
    present = ~np.isnan(constants)
    constant_ids, constants = constant_ids[present], constants[present]
    order = np.argsort(constant_ids, kind="stable")
    frames, kinds, groups, gaps, first = _columns(columns)
    counts = _COUNTS.pack(table.rows, len(constant_ids), len(ids), 0)
    header = b"".join(
        (
            counts,
            constant_ids[order].astype("<u4").tobytes(),
            constants[order].astype("<f8").tobytes(),
            ids.astype("<u4").tobytes(),
            kinds.tobytes(),
            groups.tobytes(),
            gaps.tobytes(),
            first.astype("<i8").tobytes(),
        )
    )
    packer = zstandard.ZstdCompressor(level=level, write_checksum=True)
    packed = [packer.compress(frame) if frame else b"" for frame in (header, *frames)]
    return _HEAD.pack(VERSION, *map(len, packed)) + b"".join(packed)


def _columns(
    columns: Floats,
) -> tuple[list[bytes], npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint8], Ints]:
    """Return frames 1 to 6 and, per column, kind, frame number, gap flag and first value."""
    count, rows = columns.shape
    kinds = np.zeros(count, np.uint8)
    groups = np.zeros(count, np.uint8)
    missing = np.isnan(columns)
    gaps: npt.NDArray[np.uint8] = np.asarray(missing.any(axis=1), np.uint8)
    bitmaps = np.packbits(missing[gaps.astype(bool)], axis=1).tobytes() if gaps.any() else b""
    filled = _fill(columns, missing) if gaps.any() else columns
    numbers = _as_numbers(filled, kinds)
    first = numbers[:, 0].copy() if rows else np.zeros(count, np.int64)
    whole = kinds != RAW
    steps = np.diff(numbers, axis=1)
    zigzag = ((steps << 1) ^ (steps >> 63)).view(np.uint64)
    most = zigzag.max(axis=1, initial=0) if count else np.zeros(0, np.uint64)
    groups[whole] = 1 + np.searchsorted(np.array([0xFF, 0xFFFF, 0xFFFFFFFF], np.uint64), most[whole])
    groups[~whole] = RAW_FRAME
    frames = [_shuffle(zigzag[groups == group].astype(_WIDTHS[group])) for group in (1, 2, 3, 4)]
    raw = filled[~whole].view(np.uint64)
    crossed = raw.copy()
    crossed[:, 1:] ^= raw[:, :-1]
    return [*frames, _shuffle(crossed), bitmaps], kinds, groups, gaps, first


def _fill(columns: Floats, missing: npt.NDArray[np.bool_]) -> Floats:
    """Return the columns with each missing value replaced by the one before it (a leading one by the first present)."""
    rows = columns.shape[1]
    index = np.where(missing, 0, np.arange(rows))
    np.maximum.accumulate(index, axis=1, out=index)
    start = np.argmin(missing, axis=1)[:, None]
    filled: Floats = np.take_along_axis(columns, np.maximum(index, start), axis=1)
    return filled


def _as_numbers(columns: Floats, kinds: npt.NDArray[np.uint8]) -> Ints:
    """Return the columns as int64 where that is exact (setting `kinds`), zeros where only the bits will do."""
    numbers = np.zeros(columns.shape, np.int64)
    rest = np.arange(len(columns))
    bits = columns.view(np.int64)
    for digits in range(DECIMALS + 1):
        if not len(rest):
            break
        scale = 10.0**digits
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.rint(columns[rest] * scale)
            small = (np.abs(scaled) < EXACT).all(axis=1)
            integers = scaled.astype(np.int64)  # through integers, as reading will: -0.0 is not 0 in bits
            back = (integers / scale).view(np.int64)
        exact = small & (back == bits[rest]).all(axis=1)
        kinds[rest[exact]] = digits
        numbers[rest[exact]] = integers[exact]
        rest = rest[~exact]
    kinds[rest] = RAW
    return numbers


def _shuffle(values: npt.NDArray[np.unsignedinteger[Any]]) -> bytes:
    """Return the bytes of each column (row of `values`) as planes: all lowest bytes, then all second bytes ..."""
    width = values.dtype.itemsize
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    planes = little.view(np.uint8).reshape(values.shape[0], values.shape[1], width).transpose(0, 2, 1)
    return planes.tobytes()


class Block:
    """A block opened for reading: the header at once, frames when a column in them is asked for."""

    def __init__(self, data: bytes) -> None:
        try:
            version, *lengths = _HEAD.unpack_from(data)
        except struct.error as problem:
            raise CodecError("the block is shorter than its head") from problem
        if version != VERSION:
            message = f"block version {version} is not known"
            raise CodecError(message)
        if len(data) != _HEAD.size + sum(lengths):
            raise CodecError("the block is cut short")
        self._data = data
        self._offsets = np.concatenate(([0], np.cumsum(lengths))) + _HEAD.size
        self._frames: dict[int, bytes] = {}
        self._read_header(self._frame(0))

    def _frame(self, number: int) -> bytes:
        frame = self._frames.get(number)
        if frame is None:
            packed = self._data[int(self._offsets[number]) : int(self._offsets[number + 1])]
            try:
                frame = zstandard.ZstdDecompressor().decompress(packed) if packed else b""
            except zstandard.ZstdError as problem:
                raise CodecError("a frame is damaged") from problem
            self._frames[number] = frame
        return frame

    def _read_header(self, header: bytes) -> None:
        self.rows, constants, columns, _ = _COUNTS.unpack_from(header)
        at = _COUNTS.size
        fields: list[npt.NDArray[np.generic]] = []
        for kind, count in (("<u4", constants), ("<f8", constants), ("<u4", columns), ("u1", columns),
                            ("u1", columns), ("u1", columns), ("<i8", columns)):  # fmt: skip
            array = np.frombuffer(header, kind, count, at)
            at += array.nbytes
            fields.append(array)
        self.constant_ids, self.constants, self.ids, self._kinds, self._groups, self._gaps, self._first = fields

    def column(self, number: int) -> Floats | None:
        """Return one column, shape (rows,), or None when the block doesn't have it."""
        place = int(np.searchsorted(self.constant_ids, number))
        if place < len(self.constant_ids) and self.constant_ids[place] == number:
            return np.full(self.rows, self.constants[place])
        found = np.flatnonzero(self.ids == number)
        return self._unpack(found)[0] if len(found) else None

    def table(self) -> Table:
        """Return everything, unpacked."""
        return Table(
            self.rows,
            self.constant_ids.astype(np.uint32),
            self.constants.astype(np.float64),
            self.ids.astype(np.uint32),
            self._unpack(np.arange(len(self.ids))),
        )

    def _unpack(self, places: npt.NDArray[np.intp]) -> Floats:
        out = np.empty((len(places), self.rows))
        groups = self._groups[places]
        for group in np.unique(groups):
            members = np.flatnonzero(self._groups == group)
            ranks = np.searchsorted(members, places[groups == group])
            out[groups == group] = self._group(int(group), ranks, places[groups == group])
        flagged = np.flatnonzero(self._gaps)
        for i, place in enumerate(places):
            if self._gaps[place]:
                size = (self.rows + 7) // 8
                start = int(np.searchsorted(flagged, place)) * size
                bitmap = np.frombuffer(self._frame(GAPS_FRAME), np.uint8, size, start)
                out[i, np.unpackbits(bitmap, count=self.rows).astype(bool)] = np.nan
        return out

    def _group(self, group: int, ranks: npt.NDArray[np.intp], places: npt.NDArray[np.intp]) -> Floats:
        """Return the columns `places`, which are the `ranks`-th of their frame."""
        raw = group == RAW_FRAME
        kind = np.dtype(np.uint64 if raw else _WIDTHS[group])
        length = self.rows if raw else self.rows - 1
        planes = np.frombuffer(self._frame(group), np.uint8).reshape(-1, kind.itemsize, length)[ranks]
        values = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(kind.newbyteorder("<"))[:, :, 0]
        if raw:
            return np.bitwise_xor.accumulate(values, axis=1).astype(np.uint64).view(np.float64)
        wide = values.astype(np.uint64)
        steps = (wide >> np.uint64(1)).view(np.int64) ^ -(wide & np.uint64(1)).view(np.int64)
        numbers = np.empty((len(places), self.rows), np.int64)
        numbers[:, 0] = self._first[places]
        numbers[:, 1:] = steps
        np.cumsum(numbers, axis=1, out=numbers)
        scale = 10.0 ** self._kinds[places].astype(np.float64)
        return numbers / scale[:, None]


def merge(tables: Sequence[Table]) -> Table:
    """Return the tables one after the other as one: ids united, NaN where a table lacks a column.

    A metric that is constant with the same bits in all tables stays a constant.
    """
    ids = np.unique(np.concatenate([np.concatenate((t.constant_ids, t.ids)) for t in tables])).astype(np.uint32)
    rows = sum(t.rows for t in tables)
    columns = np.full((len(ids), rows), np.nan)
    at = 0
    for table in tables:
        columns[np.searchsorted(ids, table.constant_ids), at : at + table.rows] = table.constants[:, None]
        columns[np.searchsorted(ids, table.ids), at : at + table.rows] = table.columns
        at += table.rows
    none = np.zeros(0, np.uint32)
    return Table(rows, none, np.zeros(0), ids, columns)
