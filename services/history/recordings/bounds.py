"""What a history file may hold at most, and its values taken for no more than they are.

A recording comes by mail from anybody. SQLite keeps any type in any column ("Datatypes In SQLite", flexible typing), a
few bytes of zstd unpack to gigabytes (RFC 8878, "Security Considerations"), and a moment may be any double. So what is
read out of a file passes here: its type, its size before it is unpacked, its time. What does not pass is damaged.
The bounds lie far above what a console writes: an hour of one server has 3,600 rows and a few MB.
"""

from __future__ import annotations

import math
import re

import zstandard

from services.visible import SHOWN_AS, visible

MOST_BLOB = 64 * 2**20
"""Bytes of one value of a row: SQLite itself gives no larger one to a reader (SQLITE_LIMIT_LENGTH)."""
MOST_ROWS = 2**16
"""Samples of one block: eighteen hours at one a second, where the longest block has one hour."""
MOST_CELLS_READ = 2**25
"""Values that one question may gather (256 MiB): three weeks of seconds of a dozen metrics."""
MOST_CELLS = 2**26
"""Values of a block that is unpacked whole (512 MiB)."""
MOST_CHUNK_CELLS = 2**24
"""Values of the unfinished chunks of one server (128 MiB)."""
MOST_HEADER = 4 * 2**20
MOST_FRAME = 16 * 2**20
MOST_KEPT = 8 * 2**20
"""Bytes of unpacked frames that one opened block remembers."""
MOST_JSON = 16 * 2**20
MOST_EVENT = 64 * 2**10
MOST_WORD = 10_000
"""Characters of one text within a snapshot: a sentence, an address, a state."""
MOST_NAMES = 100_000
MOST_NAME = 1_000
MOST_SERVERS = 10_000
MOST_NODES = 2_000
MOST_NODE_NAME = 255
"""Letters of a node's or a cluster's name: a host's has 253 at most (RFC 1035, section 2.3.4)."""
MOST_EVENTS = 200_000
MOST_SNAPSHOTS = 5_000_000
LATEST = 2.0**33
"""The year 2242: beyond it clocks and calendars of a workstation give up one after the other."""
LONGEST_SPAN_S = 5 * 366 * 86_400.0
QUESTION_S = 20.0
"""Time that SQLite may work on one question of a reader."""
# A quotation mark behind a backslash begins no text: a text full of them is looked at once, not once for each.
_LONG_WORD = re.compile(rb'(?<!\\)"(?:[^"\\]|\\.){%d}' % MOST_WORD)


class CodecError(ValueError):
    """The bytes are not what a history file holds, or more than it may hold."""


def blob(value: object) -> bytes:
    """Return a value of a row that must be bytes."""
    if not isinstance(value, bytes) or len(value) > MOST_BLOB:
        raise CodecError("a value is not the bytes it should be")
    return value


def number(value: object) -> int:
    """Return a value of a row that must be a whole number."""
    if not isinstance(value, int):
        raise CodecError("a value is not the number it should be")
    return value


def moment(value: object) -> float:
    """Return a value of a row that must be a moment: UTC epoch seconds from 1970 to 2242."""
    if not isinstance(value, int | float) or not math.isfinite(value) or not 0.0 <= value <= LATEST:
        raise CodecError("a value is not the moment it should be")
    return float(value)


def json_text(text: bytes) -> str:
    """Return JSON with all of it visible; a text as long as no sentence is refused before anything parses it."""
    if len(text) > MOST_JSON or _LONG_WORD.search(text) is not None:
        raise CodecError("a text is longer than a sentence")
    return visible_json(text.decode("utf-8", "replace"))


_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)\\(u[0-9a-fA-F]{4}|[bfr])")


def visible_json(text: str) -> str:
    """Return JSON in which every text is seen as what it is, escaped characters too (services/visible.py)."""
    shown = visible(text)
    return _ESCAPED.sub(_seen, shown) if "\\" in shown else shown


def _seen(found: re.Match[str]) -> str:
    before, sign = found.groups()
    unseen = len(sign) == 1 or visible(chr(int(sign[1:], 16))) == SHOWN_AS
    return f"{before}{SHOWN_AS}" if unseen else found.group()


def unpacked(data: object, most: int, unpacker: zstandard.ZstdDecompressor | None = None) -> bytes:
    """Return what one zstd frame holds, at most `most` bytes; nothing larger is ever allocated.

    Raises:
        CodecError: damaged, larger, or not bytes.
    """
    packed = blob(data)
    unpacker = unpacker or zstandard.ZstdDecompressor()
    try:
        # What the frame says of its own size is allocated at once, whatever max_output_size is.
        if zstandard.frame_content_size(packed) > most:
            raise CodecError("a frame is larger than it may be")
        return unpacker.decompress(packed, max_output_size=most)
    except zstandard.ZstdError as problem:
        raise CodecError("a frame is damaged") from problem
