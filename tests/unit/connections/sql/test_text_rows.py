"""The lean reader: values, splits, limits, and replies that lie."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.connections.ports import Rows
from services.connections.sql.text_rows import BadReply, Heads, PacketReader, ServerError, read_rows
from tests.unit.connections import packets as p


def reader(data: bytes, *, piece: int = 1 << 20, limit_s: float = 5.0, most: int = 1 << 26) -> PacketReader:
    return PacketReader(p.Pieces(data, piece), limit_s=limit_s, most=most)


def test_that_every_kind_of_column_becomes_the_python_value_it_stands_for() -> None:
    columns = [
        p.column("i", p.LONGLONG, p.BINARY),
        p.column("f", p.DOUBLE, p.BINARY),
        p.column("s"),
        p.column("b", p.BLOB, p.BINARY),
        p.column("d", p.NEWDECIMAL, p.BINARY),
        p.column("n"),
    ]
    data = p.result(columns, [[b"18446744073709551615", b"1.5e3", "naïve".encode(), b"\xff\x00", b"1.50", None]])
    assert read_rows(reader(data)) == Rows(
        ("i", "f", "s", "b", "d", "n"), ((18446744073709551615, 1500.0, "naïve", b"\xff\x00", "1.50", None),)
    )


def test_that_invalid_utf8_is_shown_with_replacement_characters_and_raises_nothing() -> None:
    assert read_rows(reader(p.result([p.column("q")], [[b"SELECT '\xff\xfe'"]]))).rows == (("SELECT '\ufffd\ufffd'",),)


@given(
    rows=st.lists(st.lists(st.none() | st.binary(max_size=600), min_size=3, max_size=3), max_size=20),
    piece=st.integers(1, 3000),
)
def test_that_a_reply_means_the_same_however_the_network_cuts_it(rows: list[list[bytes | None]], piece: int) -> None:
    data = p.result([p.column(name, p.BLOB, p.BINARY) for name in "abc"], rows)
    assert read_rows(reader(data, piece=piece)).rows == tuple(tuple(row) for row in rows)


def test_that_a_value_of_more_than_16_megabytes_is_put_together_from_its_packets() -> None:
    value = b"x" * (0xFFFFFF + 10)
    found = read_rows(reader(p.result([p.column("a", p.BLOB, p.BINARY)], [[value]]), piece=65536, limit_s=60.0))
    assert found.rows == ((value,),)


def test_that_a_statement_without_a_result_gives_no_columns() -> None:
    assert read_rows(reader(p.packets([b"\x00\x00\x00\x02\x00\x00\x00"]))) == Rows((), ())


@pytest.mark.parametrize("after", [0, 1])
def test_that_an_error_packet_is_raised_with_number_and_text_before_or_amid_rows(after: int) -> None:
    head = p.result([p.column("a")], [[b"1"]])[: -len(p.packets([p.end()]))] if after else b""
    with pytest.raises(ServerError) as caught:
        read_rows(reader(head + p.error(1317, "Query execution was interrupted", first=5 if after else 1)))
    assert (caught.value.errno, caught.value.message) == (1317, "Query execution was interrupted")


def test_that_a_reply_larger_than_the_limit_is_refused_while_it_comes() -> None:
    data = p.result([p.column("a")], [[b"x" * 200]] * 1000)
    with pytest.raises(BadReply, match="larger than the limit"):
        read_rows(reader(data, piece=1000, most=10_000))


def test_that_a_server_asking_for_a_local_file_is_sent_nothing() -> None:
    with pytest.raises(BadReply, match="local file"):
        read_rows(reader(p.packets([b"\xfb/etc/passwd"])))


def test_that_a_second_result_is_refused() -> None:
    with pytest.raises(BadReply, match="more than one result"):
        read_rows(reader(p.result([p.column("a")], [], status=0x000A)))


def test_that_the_end_of_the_connection_amid_a_reply_is_told_as_such() -> None:
    with pytest.raises(EOFError):
        read_rows(reader(p.result([p.column("a")], [[b"1"]])[:-3]))


def test_that_a_server_which_drips_bytes_runs_into_the_limit_of_the_whole_reply() -> None:
    class Slow(p.Pieces):
        def recv(self, size: int) -> bytes:
            time.sleep(0.03)
            return super().recv(1)

    slow = Slow(p.result([p.column("a")], [[b"x" * 200]]))
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        read_rows(PacketReader(slow, limit_s=0.2, most=10_000))
    assert time.monotonic() - started < 1.0
    assert slow.limits, "the socket's own limit was never tightened"


@given(st.binary(max_size=400))
def test_that_garbage_ends_in_one_of_the_errors_the_session_knows(noise: bytes) -> None:
    try:
        read_rows(reader(noise))
    except (BadReply, ServerError, EOFError):
        return


@given(st.data())
def test_that_a_reply_with_one_byte_changed_ends_in_rows_or_a_known_error(data: st.DataObject) -> None:
    whole = bytearray(p.result([p.column("a"), p.column("b", p.LONGLONG, p.BINARY)], [[b"x" * 300, b"12"]] * 3))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read_rows(reader(bytes(whole)))
    except (BadReply, ServerError, EOFError):
        return


@given(
    rows=st.lists(st.lists(st.none() | st.binary(max_size=30), min_size=2, max_size=2), max_size=4),
    cuts=st.lists(st.integers(1, 300), min_size=4, max_size=4),
    changed=st.booleans(),
)
def test_that_a_remembered_head_is_used_only_where_the_same_bytes_come_again(
    rows: list[list[bytes | None]], cuts: list[int], changed: bool
) -> None:
    heads = Heads()
    for turn, cut in enumerate(cuts):
        second = "b" if turn < 2 or not changed else "c"
        data = p.result([p.column("a", p.BLOB, p.BINARY), p.column(second, p.BLOB, p.BINARY)], rows)
        source = reader(data, piece=cut)
        found = read_rows(source, heads.read("SHOW X", source))
        assert found == Rows(("a", second), tuple(tuple(row) for row in rows))
    source = reader(p.error(1227, "no"))
    with pytest.raises(ServerError):
        heads.read("SHOW X", source)
