"""Signs that Python takes for digits and for no number (a superscript two), and numbers of thousands of digits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from services.facts.machine.machine import LATEST, clock_offset, parse_df, zone_offset
from services.facts.machine.os_stream import OsParser
from services.facts.machine.tcp_ways import parse_listening
from services.facts.replication.gtid import gap as gtid_gap

ODD = ("²", "٣", "9" * 5000, "1e999", "nan", "-")
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("odd", ODD)
def test_that_odd_digits_are_no_number_and_no_exception(odd: str) -> None:
    assert gtid_gap(f"0-1-{odd}", "0-1-1") is None
    assert parse_listening(f"LISTEN 0 80 0.0.0.0:{odd} 0.0.0.0:*\n") == frozenset()
    assert zone_offset(f"+{odd * 4}") == 0.0
    assert zone_offset("-0130\n") == -5400.0
    assert parse_df(f"/dev/sda 1 1 1 {odd}% /var/lib/mysql\n") == ()


@pytest.mark.parametrize("odd", ODD)
def test_that_an_odd_process_number_or_file_system_of_a_stream_is_left_out(odd: str) -> None:
    reading = OsParser().feed(f"t 1795265449.5;@proc;{odd} S;@fs;8:1 {odd} {odd} {odd}".encode())
    assert reading is not None
    assert (reading.process_pid, reading.data_disk_size, reading.data_disk_free) == (None, None, None)


def test_that_a_reading_holds_finite_numbers_of_a_moment_that_a_calendar_knows() -> None:
    parser = OsParser()
    reading = parser.feed(b"t 1795265449.5;@load;nan 1e999 0.30 1/2 3;@proc;- -")
    assert reading is not None
    assert reading.values == {"os.load.15": 0.3}
    for clock in (b"nan", b"1e300", b"-5.0", b"99999999999999999999999"):
        assert parser.feed(b"t " + clock + b";@proc;- -") is None
    assert clock_offset(f"{LATEST * 2}", 1.0, 2.0) is None


def test_that_names_that_a_host_makes_up_each_second_are_not_remembered_for_ever() -> None:
    parser = OsParser()
    for second in range(30):
        disks = ";".join(f"8 0 x{second}_{n} " + "1 " * 11 for n in range(500))
        assert parser.feed(f"t 1795265449.5;@disk;{disks};@proc;- -".encode()) is not None
    assert len(parser._disk_keys) <= 5000


def test_that_no_number_is_told_by_isdigit_alone() -> None:
    """'²'.isdigit() is true, and int('²') raises: in the window's thread that would be a person's error."""
    found = [
        f"{path.relative_to(ROOT)}:{at}"
        for folder in ("app", "services", "widgets")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\.is(digit|numeric)\(\)", line) and "isascii()" not in line
    ]
    assert found == []
