"""What the journal says of hosts that are watched over one way only."""

from __future__ import annotations

from services.inventory.model import HostEntry, SqlAccess, SshAccess
from services.sampling.half_watched import half_watched

SSH, SQL = SshAccess("root"), SqlAccess("observer")


def test_that_each_missing_way_is_told_once_with_what_it_would_give() -> None:
    seeds = [HostEntry("db1", "10.0.0.1", SSH, SQL), HostEntry("db2", "10.0.0.2", sql=SQL)]
    more = [HostEntry(f"h{n}", f"10.0.1.{n}", ssh=SSH) for n in range(6)]
    texts = [event.text for event in half_watched((*seeds, *more), 0.0)]
    gives = "SQL connections would show their state, replication, settings and load"
    assert texts == [
        "db2 is watched only over SQL: an SSH connection would show its CPU, disks, clock, log and transfers",
        f"h0, h1, h2 and 3 more are watched only over SSH: {gives}",
    ]
    assert list(half_watched(seeds[:1], 0.0)) == []
