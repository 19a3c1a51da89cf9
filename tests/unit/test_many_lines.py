"""Millions of very short lines in one output: cut before anybody splits them, and read in time that grows with them."""

from __future__ import annotations

import gc
import time
import tracemalloc

import pytest

from services.connections.ports import MOST_LINES, Output
from services.connections.remote_stream import _A_LINE
from services.facts.haproxy import parse_show, sockets_of
from tests.hostile.parsers import PARSERS

ENDS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028")
PIECES = (
    "\n",
    " \n",
    "a\n",
    "\t\n\t",
    ":\n",
    "=\n",
    "- \n",
    "View:\n",
    "stats \n",
    "0: \n",
    "; ",
    ", ",
    "  ",
    "<",
    "(1 ",
)
SHARES = 3


@pytest.mark.parametrize("end", ENDS)
def test_that_ten_million_line_ends_are_a_few_lines_in_little_time_and_memory(end: str) -> None:
    output = Output(0, (end * 10_000_000).encode()[: 8 << 20], b"")
    tracemalloc.start()
    began = time.thread_time()
    lines = output.text.splitlines()
    took, (_, most) = time.thread_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines) <= MOST_LINES + 1
    assert most < 96 << 20
    assert took < 3.0


def test_that_an_output_says_where_its_lines_were_cut() -> None:
    text = Output(0, b"a\n" * (MOST_LINES + 5), b"").text
    assert text.count("\n") == MOST_LINES
    assert text.endswith("a\n…")
    assert Output(0, b"a\r\n" * 1000, b"").text == "a\r\n" * 1000


@pytest.mark.parametrize(
    ("name", "share"),
    [
        pytest.param(name, share, marks=[] if at % SHARES == share else [pytest.mark.long])
        for at, name in enumerate(PARSERS)
        for share in range(SHARES)
    ],
)
def test_that_a_reader_of_an_output_takes_twice_the_time_for_twice_the_lines(name: str, share: int) -> None:
    """A run gives each reader a share of the pieces, and each piece to a share of the readers."""
    parse, printed = PARSERS[name]
    parts = printed.split()
    for piece in (*PIECES, *(f"{part}\n" for part in parts[:: max(1, len(parts) // 4)]))[share::SHARES]:
        size, before = 1000, 0.0
        while size <= 8_000:  # from small to large: one that grows with the square would never come back
            took = _took(parse, piece * size)
            if took > 0.03 and took > 3.2 * before > 0.016:
                assert _grows_with_lines(parse, piece, size), (
                    f"{size} times {piece!r}: {took:.3f} s, half: {before:.3f} s"
                )
            assert took < 1.0, f"{size} times {piece!r}: {took:.3f} s"
            size, before = size * 2, took


def _grows_with_lines(parse: object, piece: str, size: int) -> bool:
    """Say whether an eighth takes more than a 24th of the time (by the square it is a 64th), in any of five tries."""
    for _ in range(5):  # each measures both anew: a shared machine changes its speed between two of them
        whole = min(_took(parse, piece * size) for _ in range(2))
        if whole < 24 * min(_took(parse, piece * (size // 8)) for _ in range(8)):
            return True
    return False


def _took(parse: object, text: str) -> float:
    assert callable(parse)
    gc.disable()  # a collection goes through all that the tests before have left, whatever this text is
    try:
        began = time.thread_time()
        parse(text)
        return time.thread_time() - began
    finally:
        gc.enable()


def test_that_a_configuration_of_blank_lines_is_looked_through_once() -> None:
    """A blank before each of them made the look for a socket grow with the square: hours for what one output holds."""
    began = time.thread_time()
    assert sockets_of(" \n" * 200_000 + "stats socket /run/haproxy/admin.sock\n") == ("/run/haproxy/admin.sock",)
    assert time.thread_time() - began < 1.0


def test_that_a_table_of_haproxy_with_an_endless_field_is_no_haproxy() -> None:
    lines = ["admin", "# pxname,svname,", 'x,"' + "y" * 15_000, *["y" * 15_000] * 20]
    told = parse_show("/run/haproxy/admin.sock", Output(0, "\n".join(lines).encode(), b""))
    assert told.fault == "what answered at the stats socket is no HAProxy"


def test_that_a_line_of_a_stream_weighs_more_than_its_byte() -> None:
    assert _A_LINE >= 64
