"""BSON becomes plain values: no type of the codec gets past the connections, and nothing is out of its range."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from typing import Any

import bson
import pytest
from bson.code import Code
from bson.dbref import DBRef
from bson.max_key import MaxKey
from bson.regex import Regex

from services.connections.mongo.document import Stamp
from services.connections.mongo.plain import MOST_DEEP, decoded
from services.connections.sql.text_rows import BadReply

OID = bson.ObjectId()
MOMENT = dt.datetime(2026, 11, 26, 6, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (1, 1),
        (bson.Int64(2**40), 2**40),
        (1.5, 1.5),
        (True, True),
        (None, None),
        ("ä", "ä"),
        (OID, str(OID)),
        (bson.Timestamp(7, 8), Stamp(7, 8)),
        (MOMENT, MOMENT.timestamp()),
        (bson.DatetimeMS(2**62), 2**62 / 1000),
        (bson.Decimal128("1.5"), "1.5"),
        (bson.Binary(b"\x00\xff", 0), b"\x00\xff"),
        (Code("function() {}"), "function() {}"),
        (Regex("^a", "i"), "Regex"),
        (re.compile("a"), "Regex"),
        (MaxKey(), "MaxKey"),
        (DBRef("c", 1), "DBRef"),
        ([1, {"b": bson.Int64(1)}], [1, {"b": 1}]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_that_each_type_has_one_plain_form(value: Any, plain: Any) -> None:
    found = decoded(bson.encode({"a": value}))["a"]
    assert (found, type(found)) == (plain, type(plain))


def nested(levels: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def test_that_the_depth_of_a_document_has_its_bound() -> None:
    decoded(bson.encode(nested(MOST_DEEP)))
    with pytest.raises(BadReply):
        decoded(bson.encode(nested(MOST_DEEP + 1)))


def test_that_depth_in_a_reference_is_no_way_around_the_bound() -> None:
    heads = b"".join((5 + 8 * level).to_bytes(4, "little") + b"\x03a\x00" for level in range(5000, 0, -1))
    deep = heads + b"\x05\x00\x00\x00\x00" + b"\x00" * 5000
    inner = b"\x02$ref\x00\x02\x00\x00\x00c\x00" + b"\x03$id\x00" + deep + b"\x00"
    reference = (len(inner) + 4).to_bytes(4, "little") + inner
    whole = b"\x03r\x00" + reference + b"\x00"
    with contextlib.suppress(BadReply):  # the codec's own bound, which differs from one Python to the next
        assert decoded((len(whole) + 4).to_bytes(4, "little") + whole) == {"r": "DBRef"}


def test_that_text_which_is_no_utf8_is_shown_and_not_refused() -> None:
    data = bson.encode({"a": "xx"}).replace(b"xx", b"\xff\xfe")
    assert decoded(data) == {"a": "\ufffd\ufffd"}
