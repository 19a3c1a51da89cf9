"""What people type into forms."""

from __future__ import annotations

from typing import Literal

import pytest

from services.procedures.plan.forms.fields import Field
from services.procedures.plan.forms.inputs import bytes_of, field_faults, flag_of, hosts_of, number_of, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30 min", 1_800),
        ("90 s", 90),
        ("1 h 20 min", 4_800),
        ("2d", 172_800),
        ("1.5 hours", 5_400),
        ("5", 300),
        ("60s", 60),
    ],
)
def test_that_a_time_is_read_as_people_write_it(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 parsecs", "-3 min", "1 h then 2"])
def test_that_what_is_no_time_is_none(text: str) -> None:
    assert seconds_of(text) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [("20 GB", 20 * 10**9), ("20 GiB", 20 * 2**30), ("128M", 128 * 2**20), ("512", 512), ("1.5 TB", 15 * 10**11)],
)
def test_that_a_size_is_read_in_powers_of_1000_or_as_the_server_does(text: str, size: int) -> None:
    assert bytes_of(text) == size


def test_that_flags_numbers_and_host_lists_are_read() -> None:
    assert (flag_of("Yes"), flag_of("off"), flag_of("maybe")) == (True, False, None)
    assert (number_of("-1"), number_of("1e3")) == (-1, None)
    assert hosts_of("n1, n2,,n1") == ("n1", "n2")


@pytest.mark.parametrize("text", ["5", " 30 "])
def test_that_a_time_without_its_unit_is_refused_with_what_it_may_mean(text: str) -> None:
    (fault,) = field_faults((Field("settle", "Settle", "duration", "60 s"),), {"settle": text})
    n = text.strip()
    assert fault.sentence == f"Settle: {n} of what? Write {n} s, {n} min or {n} h."


@pytest.mark.parametrize(("kind", "text"), [("duration", "-5"), ("duration", "- 5 s"), ("bytes", "-5 GB")])
def test_that_a_time_or_a_size_can_not_be_negative(kind: Literal["duration", "bytes"], text: str) -> None:
    (fault,) = field_faults((Field("pause", "Pause", kind, "60 s"),), {"pause": text})
    assert fault.sentence == "Pause: it cannot be negative."


@pytest.mark.parametrize("kind", ["host", "hosts"])
def test_that_a_host_is_refused_where_none_can_be_chosen(kind: Literal["host", "hosts"]) -> None:
    field = Field("donor", "Donor", kind, "", ())
    (fault,) = field_faults((field,), {"donor": "s3"})
    assert (fault.field, fault.sentence) == ("donor", "Donor: it cannot be s3: no host is suitable now.")


def test_that_every_fault_names_its_field_and_what_to_write() -> None:
    fields = (
        Field("node", "Node", "host", choices=(("n1", ""), ("n2", ""))),
        Field("away", "Time away", "duration", "30 min"),
        Field("extra", "Extra", "text", required=False),
    )
    faults = field_faults(fields, {"node": "n9", "away": "soon", "typo": "x"})
    assert {fault.field: fault.sentence for fault in faults} == {
        "typo": "There is no input called typo.",
        "node": "Node: n9 is not one of n1, n2.",
        "away": "Time away: write a time like 30 min or 1 h.",
    }
