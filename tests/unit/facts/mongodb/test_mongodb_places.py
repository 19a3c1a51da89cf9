"""What a server calls another one: where that is, and when it is nowhere."""

from __future__ import annotations

import pytest

from services.facts.mongodb.values import Place, place


@pytest.mark.parametrize(
    ("told", "host", "port"),
    [
        ("db1:27018", "db1", 27018),
        ("DB1.", "db1", 27017),
        ("db1", "db1", 27017),
        ("192.0.2.7:28000", "192.0.2.7", 28000),
        ("[2001:db8::1]:27018", "2001:db8::1", 27018),
        ("[2001:db8::1]", "2001:db8::1", 27017),
    ],
)
def test_that_a_name_leads_to_its_host_and_port(told: str, host: str, port: int) -> None:
    assert place(told) == Place(told, host, port)


@pytest.mark.parametrize("told", ["db1:0", "db1:99999", "db1:", "db1:x", "db1:-1", "[2001:db8::1]:0", "", 7, None])
def test_that_a_port_that_is_none_is_no_other_port(told: object) -> None:
    assert place(told).host == ""  # type: ignore[arg-type]
