"""The lean reader: a text result set straight from the socket into Python values.

Budget 4 (performance notes): PyMySQL builds five objects per packet and reads each with two small reads, which costs
5.7 times mysqlclient's CPU for SHOW GLOBAL STATUS. Reading large pieces and walking them by offset costs 1.6 times.
It also decodes leniently (servers do send invalid UTF-8 in statements and names), and bounds size and time.

Format: "Text Resultset", dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response.html; integers and
strings with a length in front: page_protocol_basic_dt_integers.html. CLIENT_DEPRECATE_EOF is not negotiated.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Final

from services.connections.ports import Rows, SqlValue
from services.connections.tls.policy import SocketLike
from services.i18n import tr

_CHUNK: Final = 65536
_ANY: Final = -1
_MOST_HEADS: Final = 64
MOST_COLUMNS: Final = 4096  # of a table, in MariaDB as in MySQL; nothing that is read has more than 120
MOST_ROWS: Final = 200_000
MOST_VALUES: Final = 1_000_000
"""A value of one byte takes fifty here: without this a reply within the limit of bytes takes gigabytes."""
MOST_MESSAGE: Final = 1000  # characters; a server's own have 512 bytes at most (mysql_com.h, MYSQL_ERRMSG_SIZE)
_BINARY: Final = 63  # the "binary" character set: such a column holds bytes, not text
_INTEGERS: Final = frozenset({1, 2, 3, 8, 9, 13})  # TINY SHORT LONG LONGLONG INT24 YEAR
_FLOATS: Final = frozenset({4, 5})  # FLOAT DOUBLE
_BYTES: Final = frozenset({16, 249, 250, 251, 252, 253, 254, 255})  # BIT, blobs, strings: bytes if the set is binary
_MORE_RESULTS: Final = 0x0008

Decoder = Callable[[bytes], SqlValue]


class ServerError(Exception):
    """The server answered with an error packet."""

    def __init__(self, errno: int, message: str) -> None:
        super().__init__(message)
        self.errno = errno
        self.message = message


class BadReply(Exception):  # noqa: N818 - it is the reply that is bad
    """What came is not the protocol, or more than the limit."""


_AT_ONCE_S = 0.001


class PacketReader:
    """Packets of one reply, read in large pieces.

    Args:
        sock: the connection, its timeout already set to `limit_s`; it is set anew only when little of that is left.
        limit_s: of the whole reply, from now on; TimeoutError then. most: bytes of the whole reply.
    """

    __slots__ = ("_buffer", "_deadline", "_enough", "_grace", "_left", "_pos", "_sequence", "_sock")

    def __init__(self, sock: SocketLike, *, limit_s: float, most: int) -> None:
        self._sock = sock
        self._deadline = time.monotonic() + limit_s
        self._enough, self._grace = limit_s * 0.9, limit_s
        self._left = most
        self._buffer = b""
        self._pos = 0
        self._sequence = 1

    def _more(self, pieces: list[bytes], have: int, want: int) -> bytes:
        """Receive until `want` bytes are there."""
        while have < want:
            left = self._deadline - time.monotonic()
            if 0 < left < self._enough:
                self._sock.settimeout(left)
            try:
                piece = self._sock.recv(_CHUNK) if left > 0 else self._arrived()
            except TimeoutError:
                piece = self._arrived()
            if not piece:
                raise EOFError
            self._left -= len(piece)
            if self._left < 0:
                raise BadReply(tr("it is larger than the limit for results"))
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def _arrived(self) -> bytes:
        """Return what lies there though the limit is over: where this program was late itself it may have come in time.

        Raises TimeoutError where nothing does, and when the limit is over a second time.
        """
        if time.monotonic() > self._deadline + self._grace:
            raise TimeoutError
        self._sock.settimeout(_AT_ONCE_S)
        return self._sock.recv(_CHUNK)

    def packet(self) -> bytes:
        """Return the next packet's payload (those of 16 MB and more come in parts)."""
        parts: list[bytes] = []
        while True:
            buffer, pos = self._buffer, self._pos
            if len(buffer) - pos < 4:
                buffer = self._more([buffer[pos:]], len(buffer) - pos, 4)
                pos = 0
            size = int.from_bytes(buffer[pos : pos + 3], "little")
            if self._sequence not in {_ANY, buffer[pos + 3]}:
                raise BadReply("packets out of order")
            self._sequence = (buffer[pos + 3] + 1) & 255
            end = pos + 4 + size
            if len(buffer) < end:
                buffer = self._more([buffer[pos:]], len(buffer) - pos, 4 + size)
                pos, end = 0, 4 + size
            self._buffer, self._pos = buffer, end
            parts.append(buffer[pos + 4 : end])
            if size < 0xFFFFFF:
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def fill(self) -> None:
        """Receive at least one more byte behind what is available."""
        rest = self._buffer[self._pos :]
        self._buffer, self._pos = self._more([rest], len(rest), len(rest) + 1), 0

    def available(self) -> tuple[bytes, int]:
        """Return what has been received, and where the next packet starts in it."""
        return self._buffer, self._pos

    def took(self, pos: int) -> None:
        """Go on at `pos`: packets were taken straight from `available` (uncounted, so the next number is believed)."""
        if pos != self._pos:
            self._pos = pos
            self._sequence = _ANY


Columns = tuple[tuple[str, ...], tuple[Decoder, ...]]
"""The head of a result set: names, and how to make values of the bytes."""


class Heads:
    """The heads of the result sets that a connection's statements gave last, by statement.

    A head whose bytes come again is not read again: SHOW ALL SLAVES STATUS describes its 58 columns every second.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, Columns]] = {}

    def read(self, sql: str, reader: PacketReader) -> Columns:
        """Read the head of the reply to `sql`."""
        reader.fill()
        buffer, pos = reader.available()
        known = self._known.get(sql)
        if known is not None and buffer.startswith(known[0], pos):
            reader.took(pos + len(known[0]))
            return known[1]
        columns = read_columns(reader)
        now, end = reader.available()
        if columns[0] and now is buffer:  # all of it came in one piece
            if len(self._known) >= _MOST_HEADS:
                self._known.clear()
            self._known[sql] = (buffer[pos:end], columns)
        return columns


def read_rows(reader: PacketReader, head: Columns | None = None) -> Rows:
    """Read one reply: a result set, or OK (no columns, no rows). Raises ServerError for an error packet.

    Args:
        head: the head, where it has been read already.
    """
    columns, decoders = head if head is not None else read_columns(reader)
    rows: list[tuple[SqlValue, ...]] = []
    if not columns:
        return Rows((), ())
    most = min(MOST_ROWS, MOST_VALUES // len(columns))
    while True:
        packet = reader.packet()
        if packet[:1] == b"\xfe" and len(packet) < 9:
            _only_result(int.from_bytes(packet[3:5], "little"))
            return Rows(columns, tuple(rows))
        if packet[:1] == b"\xff":
            raise error_of(packet)
        if len(rows) >= most:
            raise BadReply(tr("it has more than {n} rows", n=most))
        rows.append(row_of(packet, decoders))


def read_columns(reader: PacketReader) -> Columns:
    """Read the head of a result set; a reply without one gives no columns. Raises ServerError, BadReply."""
    first = reader.packet()
    if first[:1] == b"\xff":
        raise error_of(first)
    if first[:1] == b"\x00":
        return (), ()
    if first[:1] == b"\xfb":
        # LOAD DATA LOCAL: a server asking for one of our files. Nothing is sent.
        raise BadReply("the server asked for a local file")
    count, _ = _number(first, 0)
    if not 0 < count <= MOST_COLUMNS:
        raise BadReply(tr("it has more than {n} columns", n=MOST_COLUMNS))
    names: list[str] = []
    decoders: list[Decoder] = []
    for _ in range(count):
        name, decoder = _column(reader.packet())
        names.append(name)
        decoders.append(decoder)
    end = reader.packet()
    if end[:1] != b"\xfe" or len(end) >= 9:
        raise BadReply("no end of the column list")
    return tuple(names), tuple(decoders)


def error_of(packet: bytes) -> ServerError:
    """Return the error an ERR packet holds: 0xff, number, optionally # and five letters of SQLSTATE, text."""
    errno = int.from_bytes(packet[1:3], "little")
    text = packet[9:] if packet[3:4] == b"#" else packet[3:]
    return ServerError(errno, text[: 4 * MOST_MESSAGE].decode("utf-8", "replace")[:MOST_MESSAGE])


def _only_result(status: int) -> None:
    if status & _MORE_RESULTS:
        raise BadReply("more than one result came back")


def _number(data: bytes, pos: int) -> tuple[int, int]:
    """Return a length-encoded integer and the position after it; NULL (0xfb) is -1."""
    if pos >= len(data):
        raise BadReply("a broken length")
    first = data[pos]
    if first < 0xFB:
        return first, pos + 1
    if first == 0xFB:
        return -1, pos + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first)
    if width is None or pos + 1 + width > len(data):
        raise BadReply("a broken length")
    return int.from_bytes(data[pos + 1 : pos + 1 + width], "little"), pos + 1 + width


def row_of(packet: bytes, decoders: tuple[Decoder, ...]) -> tuple[SqlValue, ...]:
    """Return the values of one row's packet."""
    values: list[SqlValue] = []
    pos = 0
    try:
        for decode in decoders:
            size = packet[pos]
            pos += 1
            if size >= 0xFB:
                size, pos = _number(packet, pos - 1)
                if size < 0:
                    values.append(None)
                    continue
            values.append(decode(packet[pos : pos + size]))
            pos += size
    except (IndexError, OverflowError, ValueError) as problem:
        raise BadReply("a broken row") from problem
    if pos > len(packet):
        raise BadReply("a broken row")
    return tuple(values)


def _column(packet: bytes) -> tuple[str, Decoder]:
    """Return a column's name and decoder: catalog, schema, table, original table, NAME, original name, 0x0c, fixed."""
    pos = 0
    name = b""
    try:
        for part in range(6):
            size, pos = _number(packet, pos)
            if part == 4:
                name = packet[pos : pos + size]
            pos += max(0, size)
        charset, _, kind = struct.unpack_from("<HIB", packet, pos + 1)
    except (IndexError, OverflowError, struct.error) as problem:
        raise BadReply("a broken column") from problem
    return lenient(name), _decoder(kind, charset)


def _decoder(kind: int, charset: int) -> Decoder:
    if kind in _INTEGERS:
        return int
    if kind in _FLOATS:
        return float
    if kind in _BYTES and charset == _BINARY:
        return bytes
    return lenient


def lenient(data: bytes) -> str:
    """Decode UTF-8; what is not UTF-8 becomes the replacement character."""
    return data.decode("utf-8", "replace")
