"""Two text columns as a dict, the hot road of sampling: SHOW GLOBAL STATUS with some 560 rows, every second.

Of those rows nine in ten are the same as a second ago, bytes and all (performance notes: 46 of 562 change per sample).
So the last reply is kept in blocks of a few packets with what they meant: a block whose bytes come again is not read
again. Changed blocks are walked by offset and cut out of ONE latin-1 decoding; only where that turns out not to be
ASCII it is decoded again as UTF-8. Equal bytes mean equal values, so nothing is guessed.
"""

from __future__ import annotations

from services.connections.sql.text_rows import BadReply, Columns, PacketReader, error_of, read_columns, row_of
from services.i18n import tr

_BLOCK = (
    8  # packets: small enough that a counter that moves costs little, large enough that a still block costs nothing
)
_MOST_BLOCKS = 2500  # a server with every engine has 2,000 status variables
_MOST_NAMES = 20_000
_LONG = 0xFB  # from here on a length takes more than one byte, or it is NULL, the end, an error
_EOF = 0xFE
_ERR = 0xFF

_Block = tuple[bytes, dict[str, str]]

_NAMES: dict[str, str] = {}
"""Each name once for all servers; emptied when it holds more than servers have (some Pythons keep what `sys.intern` got
for ever, and a server may make up new names each second)."""


class PairsReader:
    """Reads one statement's replies, over and over; remembers the last one. One per connection."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []

    def read(self, reader: PacketReader, head: Columns | None = None) -> dict[str, str]:
        """Read a result set's first two columns as name -> text (NULL is ''). Raises ServerError, BadReply.

        Args:
            head: the head, where it has been read already.
        """
        columns, decoders = head if head is not None else read_columns(reader)
        found: dict[str, str] = {}
        if len(columns) < 2:
            return found
        old, self._blocks = self._blocks, []
        while True:
            self._take(reader, found, old)
            packet = reader.packet()  # one that is not complete yet, not short, or the last: the careful road
            first = packet[0] if packet else 0
            if first == _EOF and len(packet) < 9:
                return found
            if first == _ERR:
                raise error_of(packet)
            name, value, *_ = row_of(packet, decoders)
            found[_text(name)] = _text(value)

    def _take(self, reader: PacketReader, found: dict[str, str], old: list[_Block]) -> None:
        """Take packets with a short name and a short value, block by block, until one comes that is neither.

        Blocks are counted in packets, not in what a receive happened to bring, so that they match from poll to poll.
        """
        blocks = self._blocks
        while True:
            buffer, pos = reader.available()
            whole = ""
            while True:
                known = old[len(blocks)] if len(blocks) < len(old) else None
                if known is not None and known[0] and buffer.startswith(known[0], pos):
                    pos += len(known[0])
                    found |= known[1]
                    blocks.append(known)
                    continue
                whole = whole or buffer.decode("latin-1")
                end, values, complete = _walk(buffer, whole, pos)
                if not complete:
                    break
                found |= values
                if len(blocks) >= _MOST_BLOCKS:
                    raise BadReply(tr("it has more than {n} rows", n=_MOST_BLOCKS * _BLOCK))
                blocks.append((buffer[pos:end], values))
                pos = end
                if len(values) < _BLOCK:
                    reader.took(pos)
                    return
            reader.took(pos)
            reader.fill()


def _walk(buffer: bytes, whole: str, pos: int) -> tuple[int, dict[str, str], bool]:
    """Read up to one block of packets; return where it ends, its values, and whether all of it was there.

    A packet: its size (3 bytes, little-endian), its number, then each value's length and bytes.
    """
    piece: dict[str, str] = {}
    size = len(buffer)
    if len(_NAMES) > _MOST_NAMES:
        _NAMES.clear()
    names = _NAMES.setdefault
    try:
        for _ in range(_BLOCK):
            begin = pos + 5
            width = buffer[begin - 1]
            if width >= _LONG:
                break
            middle = begin + width
            after = middle + 1 + buffer[middle]
            # The two values must be the whole packet; what is longer, NULL, the end or an error takes the careful road.
            if after - begin + 1 != buffer[pos]:
                break
            if after > size:
                return pos, piece, False
            name = whole[begin:middle]
            piece[names(name, name)] = whole[middle + 1 : after]
            pos = after
    except IndexError:
        return pos, piece, False
    if not "".join(piece.values()).isascii():
        piece = {name: value.encode("latin-1").decode("utf-8", "replace") for name, value in piece.items()}
    return pos, piece, True


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
