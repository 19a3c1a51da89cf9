"""Two text columns as a dict, the hot road of sampling: SHOW GLOBAL STATUS with some 560 rows, every second.

Complete packets are walked by offset in what one receive brought, cut out of ONE latin-1 decoding of it; only
where that turns out not to be ASCII it is decoded again as UTF-8.
"""

from __future__ import annotations

from services.connections.text_rows import PacketReader, error_of, read_columns, row_of

_EOF = 0xFE
_ERR = 0xFF
_LONG = 0xFB  # from here on a length takes more than one byte, or the value is NULL


def read_pairs(reader: PacketReader) -> dict[str, str]:
    """Read a result set's first two columns as name -> text (NULL is ''). Raises ServerError for an error packet."""
    columns, decoders = read_columns(reader)
    found: dict[str, str] = {}
    if len(columns) < 2:
        return found
    while True:
        found.update(_walk(reader))
        packet = reader.packet()  # one that is not complete yet, not short, or the last: the careful road
        first = packet[0] if packet else 0
        if first == _EOF and len(packet) < 9:
            return found
        if first == _ERR:
            raise error_of(packet)
        name, value, *_ = row_of(packet, decoders)
        found[str(name)] = _text(value)


def _walk(reader: PacketReader) -> dict[str, str]:
    """Take every complete, short packet that has been received already."""
    piece: dict[str, str] = {}
    buffer, start = reader.available()
    if start >= len(buffer):
        return piece
    whole = buffer.decode("latin-1")
    end, pos, taken = len(buffer), start, 0
    while pos + 5 <= end:
        begin = pos + 4
        after = begin + buffer[pos] + (buffer[pos + 1] << 8)
        width = buffer[begin]
        middle = begin + 1 + width
        # The name must be short, the packet complete, and the value short and exactly the packet's end.
        if width >= _LONG or after > end or middle >= after or buffer[pos + 2] or middle + 1 + buffer[middle] != after:
            break
        piece[whole[begin + 1 : middle]] = whole[middle + 1 : after]
        pos, taken = after, taken + 1
    reader.took(pos, taken)
    if not "".join(piece.values()).isascii():
        return {name: value.encode("latin-1").decode("utf-8", "replace") for name, value in piece.items()}
    return piece


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
