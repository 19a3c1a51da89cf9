"""Real servers' answers in, the drawing out: one file per situation (tests/unit/recorded/situations).

Each file's "expect" was written down from the program's output after a person had compared it with what had been done
to the servers ("about"); from then on it may only change together with a reason.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.clock import ManualClock
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.looks.probe import probe
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.i18n import PSEUDO, install
from tests.unit.recorded.replies import ReplaySession, load, situations, states_of_mysql

EVERYTHING = [*situations(), *states_of_mysql()]


def drawn(recorded: dict[str, Any]) -> EstateSnapshot:
    """Return the snapshot that the recorded answers give."""
    # Hosts were asked over two seconds (a paused one takes as long to give up): the middle is right for all clocks.
    clock = ManualClock(recorded["at"] + 1)
    facts = {
        name: probe(ReplaySession(name, answers), clock, address=answers["address"])
        for name, answers in recorded["hosts"].items()
    }
    return updated_estate(None, facts, recorded["at"])


def told(snapshot: EstateSnapshot) -> list[dict[str, Any]]:
    """Return what a person sees of a snapshot, as the files write it down."""
    return [
        {
            "name": c.name,
            "kind": c.kind.words,
            "version": f"{c.flavour.value} {c.version}",
            "health": c.health.value,
            "agreement": c.agreement,
            "problems": [p.sentence for p in c.problems],
            "nodes": [[n.name, n.state, n.health.value, n.component, n.reason] for n in c.nodes],
            "components": [[k.component_id, list(k.members), k.votes, k.votes_known, k.may_lose] for k in c.components],
            "replication": [
                [e.source_id, e.replica_id, e.channel, e.health.value, e.lag_s, e.gtid_gap, e.reason]
                for e in c.replication
            ],
            "transfers": [[t.donor_id, t.joiner_id, t.kind, t.method, t.active] for t in c.transfers],
        }
        for c in snapshot.clusters
    ]


@pytest.mark.parametrize("name", EVERYTHING)
def test_that_a_recorded_situation_is_drawn_as_it_was(name: str) -> None:
    recorded = load(name)
    assert recorded["source"]
    assert recorded["about"]
    assert told(drawn(recorded)) == recorded["expect"]


@pytest.mark.parametrize(
    ("mode", "roles"),
    [("single", ["primary", "secondary", "secondary"]), ("multi", ["primary", "primary", "primary"])],
)
def test_that_the_members_of_a_recorded_group_have_their_roles(mode: str, roles: list[str]) -> None:
    (cluster,) = drawn(load(f"mysql/9.7.4-group-{mode}-primary.json")).clusters
    assert [node.role for node in cluster.nodes] == roles


@pytest.mark.parametrize("name", EVERYTHING)
def test_that_a_recorded_situation_survives_json(name: str) -> None:
    snapshot = drawn(load(name))
    data = snapshot_to_json(snapshot)
    assert snapshot_from_json(data) == snapshot
    grown = json.loads(data)
    grown["invented_later"] = 1
    grown["clusters"][0]["nodes"][0]["invented_later"] = {"a": [1]}
    assert snapshot_from_json(json.dumps(grown)) == snapshot


@pytest.mark.parametrize("name", EVERYTHING)
def test_that_what_is_stored_is_english_whatever_the_language(name: str) -> None:
    recorded = load(name)
    in_english = snapshot_to_json(drawn(recorded))
    try:
        install(PSEUDO)
        snapshot = drawn(recorded)
    finally:
        install("en")
    assert snapshot_to_json(snapshot) == in_english
    assert any(
        not reason.isascii() for c in snapshot.clusters for reason in (c.agreement, *(n.reason for n in c.nodes))
    )
