"""State transfers in a snapshot: by the logs where they can be read, else by the nodes' own states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.facts.model import NodeFacts, TransferFacts
from services.types import Health
from tests.unit.discovery.scenes import AT, estate, galera, member, node, only, server, sql_gone, unreached


def _transfer(**more: object) -> TransferFacts:
    known = TransferFacts("db3", "db2", "SST", "mariabackup", since=AT - 100)
    return replace(known, **more)  # type: ignore[arg-type]


def test_that_a_logged_transfer_is_an_edge_with_progress() -> None:
    donor = replace(member(2, local_state=2, local_state_comment="Donor/Desynced"), transfers=(_transfer(),))
    joiner = sql_gone(replace(member(3), galera=None), unit_state="activating/start", sst_bytes=42 * 10**9)
    snapshot = estate(member(1), donor, joiner, rates={"db3": {"network_in_per_s": 186e6}})
    (edge,) = only(snapshot).transfers
    assert (edge.donor_id, edge.joiner_id, edge.kind, edge.active) == ("db2", "db3", "SST", True)
    assert (edge.bytes_done, edge.rate, edge.since) == (42 * 10**9, 186e6, AT - 100)
    receiving = node(snapshot, "db3")
    assert (receiving.state, receiving.health) == ("Joining: receiving SST", Health.TRANSFER)
    assert receiving.numbers[:2] == (("received", "42 GB", Health.GOOD), ("rate", "186 MB/s", Health.GOOD))
    assert node(snapshot, "db2").reason == "db2 sends its state to db3 (SST)"


def test_that_an_ist_shows_write_sets_and_what_is_left() -> None:
    told = _transfer(kind="IST", first_seqno=1001, last_seqno=2000, current_seqno=1500)
    joiner = replace(member(3, local_state=1, local_state_comment="Joiner"), transfers=(told,))
    snapshot = estate(member(1), member(2, local_state=2), joiner)
    (edge,) = only(snapshot).transfers
    assert edge.eta_s == pytest.approx(100.5, abs=1)
    assert node(snapshot, "db3").numbers[0] == ("write sets", "500 of 1\u202f000", Health.GOOD)


def test_that_states_alone_make_an_edge_when_no_log_can_be_read() -> None:
    snapshot = estate(member(1), member(2, local_state=2), member(3, local_state=1, local_state_comment="Joiner"))
    (edge,) = only(snapshot).transfers
    assert (edge.donor_id, edge.joiner_id, edge.kind, edge.since) == ("db2", "db3", "", AT + 0.5)


def test_that_a_node_desynced_by_hand_is_no_donor_of_anyone() -> None:
    snapshot = estate(member(1), member(2, local_state=2, local_state_comment="Donor/Desynced"), member(3))
    assert only(snapshot).transfers == ()
    assert node(snapshot, "db2").reason == "db2 is desynced: flow control does not wait for it"


def _running(donor: NodeFacts, joiner: NodeFacts) -> bool:
    told = _transfer()
    snapshot = estate(member(1), replace(donor, transfers=(told,)), joiner)
    return any(edge.active for edge in only(snapshot).transfers)


def test_that_a_transfer_without_an_end_in_any_log_is_over_when_one_of_its_servers_was_started_since() -> None:
    donor, joiner = member(2), member(3, local_state=1)
    since = server(3, started_at=AT - 50)
    assert _running(donor, joiner)
    assert not _running(donor, replace(joiner, server=since))
    assert not _running(replace(donor, server=since), joiner)


def test_that_a_transfer_to_a_host_that_does_not_answer_is_over_when_its_donor_counts_it_no_more() -> None:
    gone = unreached(3, member(3, local_state=1, at=AT - 60))
    without = replace(member(2), galera=galera(2, cluster_size=2, members=galera(2).members[:2]))
    assert _running(member(2), gone)
    assert not _running(without, gone)
    assert _running(replace(without, sql_at=AT - 100), gone)


def test_that_a_joiner_that_gives_its_state_to_others_has_got_its_own() -> None:
    assert not _running(member(2), member(3, local_state=2))
