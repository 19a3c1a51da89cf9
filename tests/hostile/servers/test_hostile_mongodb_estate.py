"""Replies of MongoDB with odd values anywhere in them, to the end: facts, cluster, drawing, file. Nothing raises."""

from __future__ import annotations

import random
from typing import Any

import pytest

from services.connections.mongo.document import Document, Stamp
from services.discovery.as_json import snapshot_from_json, snapshot_to_json
from services.discovery.changes import events_between
from services.discovery.looks.crawl import leads_of, odd_names
from services.discovery.model import EstateSnapshot
from services.discovery.snapshot import updated_estate
from services.facts.model import NodeFacts
from services.facts.mongodb.model import Contents, Metadata, MongoFacts
from services.facts.mongodb.numeric import status_values
from services.facts.mongodb.oplog import parse_oplog
from services.facts.mongodb.replica_set import parse_set
from services.facts.mongodb.server import parse_server
from services.facts.mongodb.sharding import parse_cluster
from tests.unit.discovery import mongo_scenes as m
from tests.unit.discovery import scenes as s
from tests.unit.recorded.mongo_replies import FOLDER, Recorded, recorded
from widgets.topology.inspector.mongodb import mongodb_rows
from widgets.topology.placement import place

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, -(2**63), 1e308, float("nan"), float("inf"), "", "x" * 5000, "\u202e\x00\n",
    "127.0.0.1:28000", "h:99999", "[::1]:1", "rs0/a:1,b:2", [], {}, [1, {}], {"a": 1}, b"\0",
    Stamp(0, 0), Stamp(2**32 - 1, 1),
)  # fmt: skip
ROUNDS = 40


class Bending:
    """Bends documents: leaves out, puts odd values in, makes lists longer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def bent(self, value: Any) -> Any:
        chance = self.random.random
        if isinstance(value, dict):
            kept = {name: inner for name, inner in value.items() if chance() > 0.02}
            return {n: self.random.choice(ODD) if chance() < 0.04 else self.bent(inner) for n, inner in kept.items()}
        if isinstance(value, list):
            some = [self.bent(inner) for inner in value if chance() > 0.03]
            return some * self.random.choice((2, 30)) if chance() < 0.05 else some
        return self.random.choice(ODD) if chance() < 0.02 else value

    def answer(self, said: Recorded, command: str) -> Document | None:
        found = said.answer(command)
        bent = None if found is None else self.bent(found)
        return bent if isinstance(bent, dict) else None

    def facts(self, name: str) -> MongoFacts:
        said = recorded(name)
        commands = ("isMaster", "buildInfo", "serverStatus", "getCmdLineOpts")
        hello, *rest = (self.answer(said, command) for command in commands)
        stamps = (Stamp(5, 1), Stamp(self.random.randrange(2**32), 1), None, "x")
        ends = [[{"ts": self.random.choice(stamps)}] for _ in range(2)]
        cluster = parse_cluster(
            **{part: self.bent(said.config(part) or []) for part in ("version", "shards", "settings", "locks")},
            routers=self.bent(said.config("mongos") or []),
            shard_map=self.answer(said, "getShardMap"),
            sharding_state=self.answer(said, "shardingState"),
        )
        return MongoFacts(
            parse_server(hello or {}, *rest),
            parse_set(self.answer(said, "replSetGetStatus"), self.answer(said, "replSetGetConfig")),
            parse_oplog(ends[0], ends[1], self.bent({"maxSize": 5, "size": 5})),
            self.random.choice((None, cluster)),
            self.random.choice((None, Contents(("a", "b"), self.random.choice((0.0, s.AT))), Contents((), s.AT))),
            self.random.choice((None, Metadata((("chunks", self.random.choice("ab")),), s.AT))),
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_that_no_odd_value_anywhere_brings_down_what_is_made_of_it(seed: int) -> None:
    phases: dict[str, list[str]] = {}
    for file in sorted(FOLDER.glob("*.json")):
        phases.setdefault(file.stem.partition(".")[0], []).append(file.stem)
    bending = Bending(seed)
    before: EstateSnapshot | None = None
    for number in range(ROUNDS):
        hosts: dict[str, NodeFacts] = {}
        for name in phases[bending.random.choice(sorted(phases))]:
            facts = m.facts(name.partition(".")[2], bending.facts(name))
            hosts[facts.host] = facts
            assert len(leads_of(facts)) <= 64 * 600
            odd_names(facts)
            mongodb_rows(facts.mongo)
            status_values(bending.answer(recorded(name), "serverStatus") or {})
        estate = updated_estate(before, hosts, s.AT + number)
        for cluster in estate.clusters:
            assert set(place(cluster).nodes) == {node.node_id for node in cluster.nodes}
        if before is not None:
            events_between(before, estate)
        text = snapshot_to_json(estate)
        assert snapshot_to_json(snapshot_from_json(text)) == text
        before = estate if bending.random.random() < 0.7 else None
