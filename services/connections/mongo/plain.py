"""BSON to plain values and back, within bounds: depth, number of values. The codec is PyMongo's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.datetime_ms import DatetimeMS
from bson.decimal128 import Decimal128
from bson.objectid import ObjectId
from bson.timestamp import Timestamp

from services.connections.mongo.document import Document, Stamp, Value
from services.connections.sql.text_rows import BadReply
from services.i18n import tr

MOST_DEEP = 32
"""Levels. The deepest reply that was recorded (serverStatus of 3.2) has seven; BSON itself stops at 100."""
MOST_VALUES = 100_000
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})
_LEAST_DOCUMENT = 5
_OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict,
    unicode_decode_error_handler="replace",
    datetime_conversion=DatetimeConversion.DATETIME_MS,  # no moment is out of its range
)

_EXACT: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_MS
)


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a document as it is sent."""
    return bson.encode(document)


def decoded(data: bytes) -> Document:
    """Return a document out of exactly these bytes. Raises BadReply for whatever is none."""
    if len(data) < _LEAST_DOCUMENT or int.from_bytes(data[:4], "little", signed=True) != len(data):
        raise BadReply(tr("a document does not have its declared length"))
    try:
        raw = bson.decode(data, _OPTIONS)
    except Exception as problem:  # what damaged bytes bring a codec to raise is not listed anywhere
        raise BadReply(tr("a document cannot be read")) from problem
    return document_of(raw)


def as_sent(data: bytes) -> dict[str, Any]:
    """Return a document that `decoded` has read, with every value in its own type: what goes back as it came."""
    return bson.decode(data, _EXACT)


def document_of(raw: dict[str, Any]) -> Document:
    """Return a decoded document in plain values. Raises BadReply beyond the bounds."""
    found = _Plain().value(raw, 0)
    assert isinstance(found, dict)
    return found


class _Plain:
    """Converts within one budget of values; what is plain already, nearly all of a reply, costs one look."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def value(self, raw: Any, depth: int) -> Value:
        """Return a value in its plain form."""
        kind = type(raw)
        if kind is not dict and kind is not list:
            return _scalar(raw)
        self._left -= len(raw) + 1
        if depth > MOST_DEEP or self._left < 0:
            raise BadReply(tr("a document is nested too deeply or has too many values"))
        if kind is list:
            return [one if type(one) in _AS_IT_IS else self.value(one, depth + 1) for one in raw]
        return {name: one if type(one) in _AS_IT_IS else self.value(one, depth + 1) for name, one in raw.items()}


def _scalar(raw: Any) -> Value:
    if type(raw) in _AS_IT_IS:
        plain: Value = raw
        return plain
    if isinstance(raw, str):
        return str(raw)  # also code
    if isinstance(raw, int):
        return int(raw)  # also an Int64
    if isinstance(raw, bytes):
        return bytes(raw)
    if isinstance(raw, Timestamp):
        return Stamp(raw.time, raw.inc)
    if isinstance(raw, DatetimeMS):
        return int(raw) / 1000
    return str(raw) if isinstance(raw, ObjectId | Decimal128) else type(raw).__name__
