"""A server that ran on a node's data outside the cluster, by its own log: lines as MariaDB 10.11.18 writes them."""

from __future__ import annotations

import pytest

from services.facts.primary_views import LEFT_OUT
from services.facts.ran_alone import ran_alone

STARTS = "Starting MariaDB 10.11.18-MariaDB-0+deb12u1-log source revision 197f92 server_uid O7Q= as process 163"
LOADS = "WSREP: Loading provider /usr/lib/galera/libgalera_smm.so initial position: 00000000:-1"
NONE = "WSREP: Loading provider none initial position: 00000000-0000-0000-0000-000000000000:-1"
JOINS = "WSREP: New COMPONENT: primary = yes, bootstrap = no, my_idx = 2, memb_num = 3"
READY = "/usr/sbin/mariadbd: ready for connections."
COPY = "WSREP: SST received: 6c1f0c1e-93a2-11ef-8d3c-0242ac110002:12"
RECOVERS = "WSREP: Recovered position: 6c1f0c1e-93a2-11ef-8d3c-0242ac110002:12"


def found(*messages: str, journal: bool = False) -> str | None:
    """Return what is told of a log with these lines, oldest first."""
    stamp = (
        "1795328025.1 s3 mariadbd[159]: 2026-11-22 21:44:25 0 [Note] " if journal else "2026-11-22 21:44:25 0 [Note] "
    )
    lines = [message if message == LEFT_OUT else stamp + message for message in messages]
    alone = ran_alone(reversed(lines))
    return alone.told("s3") if alone is not None else None


@pytest.mark.parametrize(
    "lines",
    [
        (STARTS, LOADS, JOINS, READY),
        (STARTS, LOADS, READY),
        (STARTS, RECOVERS),
        (STARTS, STARTS, LOADS, JOINS, READY),
        (STARTS, READY, STARTS, LOADS, JOINS, READY),
        (STARTS, READY, STARTS, LOADS, COPY, READY),
        (LEFT_OUT, LOADS, JOINS, READY),
        (LEFT_OUT, JOINS, READY),
        (LEFT_OUT, "WSREP: Synchronized with group, ready for connections"),
        (READY,),
    ],
)
def test_that_starts_with_a_provider_and_what_was_before_a_joining_are_no_server_of_its_own(
    lines: tuple[str, ...],
) -> None:
    assert found(*lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        (STARTS, READY),
        (STARTS, NONE, READY),
        (STARTS, LOADS, JOINS, READY, STARTS, READY),
        (STARTS, LOADS, JOINS, READY, STARTS, READY, STARTS, RECOVERS),
        (STARTS, LOADS, JOINS, READY, LEFT_OUT, READY),
        ("mysqld (mysqld 8.0.36-28.1) starting as process 163", READY),
    ],
)
def test_that_a_server_that_served_without_the_cluster_is_told_with_its_time(lines: tuple[str, ...]) -> None:
    told = found(*lines)
    assert told is not None
    assert told.startswith(
        "s3: a server ran on its data without the cluster at 2026-11-22 21:44:25 (as its log says), "
    )
    assert "at 2026-11-22 06:13:45 UTC" in (found(*lines, journal=True) or "")
