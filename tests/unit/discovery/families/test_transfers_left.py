"""A transfer of which one side is gone has ended: by any log's word, by its donor's list, never drawn for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.logs.error_log import parse_transfers
from services.facts.model import TransferFacts
from tests.unit.discovery.scenes import AT, address, estate, member, unreached
from tests.unit.facts.server.test_cut_texts import DATA

LEFT = (DATA / "pxc-8.0.36-joiner-left.log").read_text().splitlines()
HEAD = "2026-11-02T01:11:00.000001Z 0 [Warning] [MY-000000] [Galera] "
BEGUN = TransferFacts(joiner_name="db1", donor_name="db3", since=AT - 3600)


def active(*transfers: TransferFacts, **view: object) -> list[tuple[str, str]]:
    """Return the running transfers: db1 can't be reached, db2 read the log, db3 was the donor and is Synced."""
    told = {"cluster_size": 2, "members": (), "cluster_weight": 2, **view}
    cluster = estate(
        replace(member(2, 3, **told), transfers=transfers), member(3, 3, **told), unreached(1, member(1))
    ).clusters[0]  # fmt: skip
    return [(t.donor_id, t.joiner_id) for t in cluster.transfers if t.active]


def test_that_a_failed_transfer_whose_joiner_left_has_ended() -> None:
    (one,) = parse_transfers(LEFT)
    assert (one.joiner_name, one.donor_name, one.failed) == ("shop3", "shop2", True)
    assert one.ended is not None


@pytest.mark.parametrize("end", ["complete.", "failed: -113 (No route to host)"])
@pytest.mark.parametrize("index", ["-1.-1", "-1"])
def test_that_a_transfer_whose_donor_left_is_ended_by_its_joiners_word(index: str, end: str) -> None:
    line = f"{HEAD}2.0 (shop3): State transfer from {index} (left the group) {end}"
    (one,) = parse_transfers([*LEFT[:2], line])
    assert one.ended is not None
    assert one.failed is end.startswith("failed")


def test_that_a_donor_that_is_synced_has_sent_all_that_it_had_to() -> None:
    (one,) = parse_transfers([LEFT[0], LEFT[-1]])
    assert (one.donor_done, one.failed, one.ended) == (True, False, None)


def test_that_a_transfer_is_over_where_its_donor_lists_the_joiner_no_more() -> None:
    listed = tuple(f"{address(n)}:3306" for n in (2, 3))
    assert active(BEGUN, incoming_addresses=listed) == []


@pytest.mark.parametrize(
    "listed",
    [
        (f"{address(2)}:3306", f"{address(3)}:3306", f"{address(1)}:3306"),
        (f"{address(2)}:3306", ""),
        ("172.16.0.2:3306", "172.16.0.3:3306"),
        (f"{address(3)}:3306",),
    ],
)
def test_that_a_list_that_may_have_the_joiner_ends_nothing(listed: tuple[str, ...]) -> None:
    size = 3 if len(listed) == 3 else 2
    assert active(BEGUN, incoming_addresses=listed, cluster_size=size) == [("db3", "db1")]
