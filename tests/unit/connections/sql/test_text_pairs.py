"""The status reader: what it remembers never changes what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connections.sql.text_pairs import PairsReader
from services.connections.sql.text_rows import BadReply, PacketReader, ServerError, read_rows
from tests.unit.connections import packets as p

COLUMNS = [p.column("Variable_name"), p.column("Value")]

values = st.one_of(
    st.integers(0, 2**64 - 1).map(str),
    st.sampled_from(["", "ON", "OFF", "é", "é" * 130, "x" * 250, "x" * 251, "x" * 300, "10.0.0.1:3306,10.0.0.2:3306"]),
)
names = st.sampled_from([f"Variable_{n}" for n in range(60)])
replies = st.lists(st.dictionaries(names, values), min_size=1, max_size=5)


def encode(pairs: dict[str, str]) -> bytes:
    return p.result(COLUMNS, [[name.encode(), value.encode()] for name, value in pairs.items()])


def read(remembering: PairsReader, data: bytes, piece: int = 1 << 20) -> dict[str, str]:
    return remembering.read(PacketReader(p.Pieces(data, piece), limit_s=5.0, most=1 << 24))


@given(polls=replies, cuts=st.lists(st.integers(1, 4000), min_size=5, max_size=5))
def test_that_poll_after_poll_gives_exactly_what_the_server_sent_however_it_is_cut(
    polls: list[dict[str, str]], cuts: list[int]
) -> None:
    remembering = PairsReader()
    for pairs, cut in zip(polls, cuts, strict=False):
        assert read(remembering, encode(pairs), cut) == pairs


def test_that_a_full_status_with_few_changes_is_read_right_every_time() -> None:
    remembering = PairsReader()
    pairs = {f"Innodb_counter_number_{n}": str(n) for n in range(562)}
    for poll in range(30):
        for n in range(poll % 7, 562, 40):
            pairs[f"Innodb_counter_number_{n}"] = str(n * 10 ** (poll % 9))
        assert read(remembering, encode(pairs), 16384) == pairs


def test_that_invalid_utf8_is_replaced_and_null_is_empty_and_a_careful_reader_agrees() -> None:
    data = p.result(COLUMNS, [[b"wsrep_node_name", b"n\xff1"], [b"Uptime", None], [b"long", b"\xff" * 400]])
    found = read(PairsReader(), data)
    assert found == {"wsrep_node_name": "n\ufffd1", "Uptime": "", "long": "\ufffd" * 400}
    assert found == read_rows(PacketReader(p.Pieces(data), limit_s=5.0, most=1 << 20)).pairs()


def test_that_an_error_in_place_of_the_reply_is_raised_and_the_next_poll_is_whole() -> None:
    remembering = PairsReader()
    pairs = {f"v{n}": "1" for n in range(40)}
    assert read(remembering, encode(pairs)) == pairs
    with pytest.raises(ServerError):
        read(remembering, p.error(1053, "Server shutdown in progress"))
    assert read(remembering, encode(pairs)) == pairs


def test_that_a_repeated_name_keeps_its_last_value() -> None:
    data = p.result(COLUMNS, [[b"a", b"1"], [b"a", b"2"], *([b"v%d" % n, b"x"] for n in range(30))])
    assert read(PairsReader(), data)["a"] == "2"


@given(st.data())
def test_that_a_damaged_reply_ends_in_pairs_or_a_known_error(data: st.DataObject) -> None:
    whole = bytearray(encode({f"Variable_{n}": str(n) for n in range(30)}))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    remembering = PairsReader()
    try:
        read(remembering, bytes(whole), data.draw(st.integers(1, 500)))
    except (BadReply, ServerError, EOFError):
        return
