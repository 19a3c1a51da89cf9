"""Columnar chunks: a table of float64 columns as small zstd frames, read back bit for bit. Pure.

Layout of a block (little endian; resources/docs/recording-format.md has the same for readers in other languages):
    u8 version (1), 3 bytes zero, u32 length of the header's frame, the header's zstd frame, then the frames one by one.
    Header: u32 rows, u32 constants, u32 columns, u32 frames;
        constants: u32 id[], f64 value[];
        columns, by frame: u32 id[], u8 kind[], u8 gaps[], u16 frame[], i64 first[];
        frames: u8 width[], u32 length[] (bytes in the block).
    A frame of width 1, 2, 4 or 8 holds, per column, rows - 1 signed differences of that many bytes, zigzag, bytes
    shuffled into planes; of width 0 raw columns, rows u64 each XORed with the one before, shuffled too; the last frame
    (width 255, only where there are gaps) holds per column with gaps a bitmap of its missing rows.
Kind 0: whole numbers below 2**53; kind 1 to 9: decimals with that many digits, stored as whole numbers; kind 255: raw
bits. At most eight columns share a frame, so that reading one metric unpacks little; against one frame per width that
costs
1.7 % of the size. The clock columns (ids below 16), which every read needs, have a frame of their own. Measured on real
status streams, a difference beats a difference of differences and XOR (docs: benchmarks, budget 10).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from services.history.columns.distinct import distinct
from services.history.recordings.bounds import (
    MOST_CELLS,
    MOST_FRAME,
    MOST_HEADER,
    MOST_KEPT,
    MOST_ROWS,
    CodecError,
    blob,
    unpacked,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]

VERSION = 1
CLOCK_IDS = 16
PER_FRAME = 8
RAW_WIDTH, GAPS_WIDTH = 0, 255
RAW = 255
DECIMALS = 9
EXACT = float(2**53)
_HEAD = struct.Struct("<B3xI")
_COUNTS = struct.Struct("<4I")
_KINDS = (*range(DECIMALS + 1), RAW)
_UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


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
    packer = zstandard.ZstdCompressor(level=level, write_checksum=True)
    packed = _pack_columns(ids, columns, packer)
    header = b"".join(
        (
            _COUNTS.pack(table.rows, len(constant_ids), len(ids), len(packed.frames)),
            constant_ids[order].astype("<u4").tobytes(),
            constants[order].astype("<f8").tobytes(),
            ids[packed.order].astype("<u4").tobytes(),
            packed.kinds[packed.order].tobytes(),
            packed.gaps[packed.order].tobytes(),
            packed.owners.astype("<u2").tobytes(),
            packed.first[packed.order].astype("<i8").tobytes(),
            np.array(packed.widths, "u1").tobytes(),
            np.array([len(frame) for frame in packed.frames], "<u4").tobytes(),
        )
    )
    head = packer.compress(header)
    return b"".join((_HEAD.pack(VERSION, len(head)), head, *packed.frames))


@dataclass(slots=True)
class _Packed:
    """Columns on their way into a block: per column (in the table's order) what the header says, and the frames.

    `order`: the table's columns in the order of the frames; `owners`: frame number of each, in that order.
    """

    kinds: Bytes
    gaps: Bytes
    first: Ints
    order: npt.NDArray[np.intp]
    owners: npt.NDArray[np.intp]
    widths: list[int]
    frames: list[bytes]


def _pack_columns(ids: Ids, columns: Floats, packer: zstandard.ZstdCompressor) -> _Packed:
    count, rows = columns.shape
    kinds = np.zeros(count, np.uint8)
    missing = np.isnan(columns)
    gaps: Bytes = np.asarray(missing.any(axis=1), np.uint8)
    filled = _fill(columns, missing) if gaps.any() else columns
    numbers = _as_numbers(filled, kinds)
    first = numbers[:, 0].copy() if rows else np.zeros(count, np.int64)
    steps = np.diff(numbers, axis=1)
    zigzag = ((steps << 1) ^ (steps >> 63)).view(np.uint64)
    widths = _widths(ids, kinds, zigzag)
    packed = _Packed(kinds, gaps, first, np.zeros(0, np.intp), np.zeros(0, np.intp), [], [])
    members: list[npt.NDArray[np.intp]] = []
    for width, places in _groups(ids, widths):
        values = _crossed(filled[places]) if width == RAW_WIDTH else zigzag[places].astype(_UNSIGNED[width])
        members.append(places)
        packed.widths.append(width)
        packed.frames.append(packer.compress(_shuffle(values)))
    if members:
        packed.order = np.concatenate(members)
        packed.owners = np.repeat(np.arange(len(members)), [len(places) for places in members])
    flagged = packed.order[gaps[packed.order].astype(bool)]
    if len(flagged):
        packed.widths.append(GAPS_WIDTH)
        packed.frames.append(packer.compress(np.packbits(missing[flagged], axis=1).tobytes()))
    return packed


def _widths(ids: Ids, kinds: Bytes, zigzag: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
    """Return the bytes each column's differences need; the clock columns share the widest of theirs."""
    most = zigzag.max(axis=1, initial=0) if len(ids) else np.zeros(0, np.uint64)
    widths = np.array([1, 2, 4, 8], np.intp)[np.searchsorted(np.array([0xFF, 0xFFFF, 0xFFFFFFFF], np.uint64), most)]
    widths[kinds == RAW] = RAW_WIDTH
    clock = (ids < CLOCK_IDS) & (kinds != RAW)
    if clock.any():
        widths[clock] = widths[clock].max()
    return widths


def _groups(ids: Ids, widths: npt.NDArray[np.intp]) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Yield (width, places of the columns) of each frame."""
    clock = ids < CLOCK_IDS
    for group in (clock, ~clock):
        for width in (1, 2, 4, 8, RAW_WIDTH):
            places = np.flatnonzero(group & (widths == width))
            for start in range(0, len(places), PER_FRAME):
                yield width, places[start : start + PER_FRAME]


def _crossed(columns: Floats) -> npt.NDArray[np.uint64]:
    raw = columns.view(np.uint64)
    crossed = raw.copy()
    crossed[:, 1:] ^= raw[:, :-1]
    return crossed


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
    """A block opened for reading: the header at once, a frame when a column in it is asked for."""

    def __init__(self, data: bytes) -> None:
        try:
            version, length = _HEAD.unpack_from(blob(data))
        except struct.error as problem:
            raise CodecError("the block is shorter than its head") from problem
        if version != VERSION:
            message = f"block version {version} is not known"
            raise CodecError(message)
        self._data = data
        self._unpacker = zstandard.ZstdDecompressor()
        self._opened: dict[int, bytes] = {}
        self._kept = 0
        self._read_header(unpacked(data[_HEAD.size : _HEAD.size + length], MOST_HEADER, self._unpacker))
        self._offsets = np.cumsum(np.concatenate(([_HEAD.size + length], self._lengths.astype(np.int64))))
        if len(data) != self._offsets[-1]:
            raise CodecError("the block is cut short")
        self._sizes = self._sizes_of_frames()

    def _frame(self, number: int) -> bytes:
        frame = self._opened.get(number)
        if frame is None:
            size = self._sizes[number]
            if size > MOST_FRAME:
                raise CodecError("a frame is larger than it may be")
            offset, length = int(self._offsets[number]), int(self._lengths[number])
            frame = unpacked(self._data[offset : offset + length], size, self._unpacker)
            if len(frame) != size:
                raise CodecError("a frame is shorter than its columns")
            if self._kept > MOST_KEPT:
                self._opened.clear()
                self._kept = 0
            self._opened[number] = frame
            self._kept += size
        return frame

    def _read_header(self, header: bytes) -> None:
        try:
            self.rows, constants, columns, frames = _COUNTS.unpack_from(header)
            at = _COUNTS.size
            fields: list[npt.NDArray[Any]] = []
            for kind, count in (
                ("<u4", constants), ("<f8", constants),
                ("<u4", columns), ("u1", columns), ("u1", columns), ("<u2", columns), ("<i8", columns),
                ("u1", frames), ("<u4", frames),
            ):  # fmt: skip
                array = np.frombuffer(header, kind, count, at)
                at += array.nbytes
                fields.append(array)
        except (struct.error, ValueError) as problem:
            raise CodecError("the header is cut short") from problem
        self.constant_ids, self.constants, self.ids, self._kinds, self._gaps = fields[:5]
        self._owners, self._first, self._widths, self._lengths = fields[5:]
        self._refuse_nonsense()

    def _refuse_nonsense(self) -> None:
        """Every number that a later step uses as a size or a place is looked at once, here."""
        owners = self._owners.astype(np.int64)
        if not 1 <= self.rows <= MOST_ROWS:
            raise CodecError("a block has no such number of rows")
        if len(owners) and ((np.diff(owners) < 0).any() or owners[-1] >= len(self._widths)):
            raise CodecError("a column lies in no frame")
        packed = self._widths[distinct(owners)]
        if not np.isin(packed, (*_UNSIGNED, RAW_WIDTH)).all() or not np.isin(self._kinds, _KINDS).all():
            raise CodecError("a column has no such form")
        if self._gaps.any() and self._widths[-1] != GAPS_WIDTH:
            raise CodecError("a block lacks its gaps")

    def _sizes_of_frames(self) -> list[int]:
        """Return the bytes that each frame has when unpacked, by what the header says of its columns."""
        members = np.bincount(self._owners, minlength=len(self._widths)).tolist()
        sizes = []
        for count, width in zip(members, self._widths.tolist(), strict=True):
            if width == GAPS_WIDTH:
                sizes.append(int(np.count_nonzero(self._gaps)) * ((self.rows + 7) // 8))
            else:
                sizes.append(count * (self.rows * 8 if width == RAW_WIDTH else (self.rows - 1) * width))
        return sizes

    def column(self, number: int) -> Floats | None:
        """Return one column, shape (rows,), or None when the block doesn't have it."""
        place = int(np.searchsorted(self.constant_ids, number))
        if place < len(self.constant_ids) and self.constant_ids[place] == number:
            return np.full(self.rows, self.constants[place])
        found = np.flatnonzero(self.ids == number)
        return self._unpack(found)[0] if len(found) else None

    def table(self) -> Table:
        """Return everything, unpacked."""
        if len(self.ids) * self.rows > MOST_CELLS:
            raise CodecError("a block holds more than it may")
        return Table(
            self.rows,
            self.constant_ids.astype(np.uint32),
            self.constants.astype(np.float64),
            self.ids.astype(np.uint32),
            self._unpack(np.arange(len(self.ids))),
        )

    def _unpack(self, places: npt.NDArray[np.intp]) -> Floats:
        out = np.empty((len(places), self.rows))
        owners = self._owners[places]
        for frame in distinct(owners):
            mine = owners == frame
            first = int(np.searchsorted(self._owners, frame))  # owners ascend: columns lie in the order of the frames
            out[mine] = self._columns_of(int(frame), places[mine] - first, places[mine])
        flagged = np.flatnonzero(self._gaps)
        size = (self.rows + 7) // 8
        for i, place in enumerate(places):
            if self._gaps[place]:
                start = int(np.searchsorted(flagged, place)) * size
                bitmap = np.frombuffer(self._frame(len(self._widths) - 1), np.uint8, size, start)
                out[i, np.unpackbits(bitmap, count=self.rows).astype(bool)] = np.nan
        return out

    def _columns_of(self, frame: int, ranks: npt.NDArray[np.intp], places: npt.NDArray[np.intp]) -> Floats:
        """Return the columns `places`, which are the `ranks`-th of the frame."""
        width = int(self._widths[frame])
        raw = width == RAW_WIDTH
        kind = np.dtype(np.uint64 if raw else _UNSIGNED[width])
        length = self.rows if raw else self.rows - 1
        opened = self._frame(frame)
        try:
            planes = np.frombuffer(opened, np.uint8).reshape(-1, kind.itemsize, length)[ranks]
        except ValueError as problem:
            raise CodecError("a frame is shorter than its columns") from problem
        values = np.ascontiguousarray(planes.transpose(0, 2, 1)).view(kind.newbyteorder("<"))[:, :, 0]
        if raw:
            return np.bitwise_xor.accumulate(values, axis=1).astype(np.uint64).view(np.float64)
        wide = values.astype(np.uint64)
        numbers = np.empty((len(places), self.rows), np.int64)
        numbers[:, 0] = self._first[places]
        numbers[:, 1:] = (wide >> np.uint64(1)).view(np.int64) ^ -(wide & np.uint64(1)).view(np.int64)
        np.cumsum(numbers, axis=1, out=numbers)
        scale = 10.0 ** self._kinds[places].astype(np.float64)
        return numbers / scale[:, None]


def merge(tables: Sequence[Table]) -> Table:
    """Return the tables one after the other as one: ids united, NaN where a table lacks a column.

    A metric that is constant with the same bits in all tables stays a constant.
    """
    ids = distinct(np.concatenate([np.concatenate((t.constant_ids, t.ids)) for t in tables])).astype(np.uint32)
    rows = sum(t.rows for t in tables)
    columns = np.full((len(ids), rows), np.nan)
    at = 0
    for table in tables:
        columns[np.searchsorted(ids, table.constant_ids), at : at + table.rows] = table.constants[:, None]
        columns[np.searchsorted(ids, table.ids), at : at + table.rows] = table.columns
        at += table.rows
    none = np.zeros(0, np.uint32)
    return Table(rows, none, np.zeros(0), ids, columns)
