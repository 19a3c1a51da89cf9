"""Numbers as the products print them: 1K, 128M, PT5S; and what is none of them stays not known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.facts.galera.provider_options import option_flag, option_number, provider_options
from services.facts.galera.status import flow_control_high
from services.facts.reading import MOST, seconds, size, sized
from services.facts.server.values import compared, same

POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def printed_by_galera(number: int) -> str:
    """Return a number as gu_config.cpp prints it: in the greatest unit that it is a multiple of."""
    power = max((p for p in POWERS.values() if number and number % 1024**p == 0), default=0)
    return f"{number // 1024**power}{'KMGT'[power - 1] if power else ''}"


@given(st.integers(-(2**62), 2**62) | st.integers(-(2**20), 2**20).map(lambda n: n * 1024))
def test_that_each_number_that_galera_prints_is_read_as_it_was(number: int) -> None:
    assert option_number(printed_by_galera(number)) == number
    assert sized(printed_by_galera(number)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1K", 1024), ("100k", 102400), ("3M", 3 * 2**20), ("-1", -1), ("-2K", -2048), ("0", 0), ("0x400", 1024),
        ("02000", 1024), ("0x1K", 1024), ("9223372036854775807", None), ("8388608T", None), ("0x", None), ("09", 9),
    ],
)  # fmt: skip
def test_that_an_option_of_the_provider_is_read_as_c_reads_it(text: str, number: int | None) -> None:
    """'09' is no octal number: C stops at the 0 and the provider refuses the rest, so it can't stand there."""
    assert option_number(text) == number


@pytest.mark.parametrize(
    ("period", "told"),
    [
        ("PT5S", 5.0), ("PT0.5S", 0.5), ("PT7.5S", 7.5), ("PT1M", 60.0), ("PT1M30S", 90.0), ("P1D", 86400.0),
        ("PT1H", 3600.0), ("PT1MS0", 60.0), ("PS0", 0.0), ("P1M", 2592000.0), ("P5S", 5.0), ("15", 15.0),
        ("0.25", 0.25), ("PT1e-05S", 1e-05), ("P", None), ("PT", None), ("", None), ("5S", None), ("PT5", None),
        ("PT-5S", None), ("pt5s", None), ("PT5S of it", None), (None, None), ("inf", None), ("1e999", None),
    ],
)  # fmt: skip
def test_that_a_period_is_told_in_seconds(period: str | None, told: float | None) -> None:
    assert seconds(period) == told


def test_that_two_spellings_of_one_value_are_the_same() -> None:
    assert same("1K", "1024")
    assert same("PT1M", "PT60S")
    assert not same("PT1M", "P1M")
    assert compared("PT15S", ">", "PT5S") is True
    assert compared("soon", ">", "PT5S") is None


@given(st.text(max_size=12) | st.from_regex(r"[+-]?[0-9]{1,3}[A-Za-z%. ]{0,3}", fullmatch=True))
def test_that_no_text_becomes_a_number_that_it_does_not_spell(text: str) -> None:
    """Whatever is read can be written again so that the same text, without its spaces, leads to the same value."""
    for number in (sized(text), size(text), option_number(text)):
        assert number is None or abs(number) <= MOST
        assert number is None or any(sign in "0123456789" for sign in text)
    bare = text.strip()
    if not bare.isascii() or not bare[-1:].isalnum():
        assert sized(text) is None
    period = seconds(text)
    assert period is None or (math.isfinite(period) and period >= 0 and bare[-1:] in "0123456789S")


@pytest.mark.parametrize(
    ("limit", "members", "single", "high"),
    [
        ("2K", 3, "no", 3547.0), ("2K", 3, "Y", 2048.0), ("2048", 4, "no", 4096.0), ("0x800", 4, "n", 4096.0),
        ("1M", 1, "no", 1048576.0), ("many", 3, "no", None), ("-1K", 3, "no", None),
    ],
)  # fmt: skip
def test_that_flow_control_is_measured_by_a_limit_with_a_suffix_too(
    limit: str, members: int, single: str, high: float | None
) -> None:
    options = provider_options(f"gcs.fc_factor = 1.0; gcs.fc_limit = {limit}; gcs.fc_single_primary = {single}")
    assert flow_control_high({}, options, members) == high


@pytest.mark.parametrize(("text", "told"), [("y", True), ("N", False), ("yes", True), ("off", False), ("maybe", None)])
def test_that_a_switch_of_the_provider_may_be_one_letter(text: str, told: bool | None) -> None:
    assert option_flag(text) is told
