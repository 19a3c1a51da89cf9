"""A mongos or a shard that came beside a conversion: who is named, and for whom a person's word stands."""

from __future__ import annotations

from dataclasses import replace

from services.errors import Unreachable
from services.procedures.conditions.config_servers.strangers import NoOtherRouter, NoOtherShard, OthersSeenTo
from services.procedures.plan.looks import Past
from tests.unit.procedures.proofs.test_proving_config_servers import Server, answered


def _with_others(host: str, *shards: str, mongos: str = "r1:27017") -> Server:
    server = Server(host, "")
    server.found["config-shards"] = tuple({"_id": name, "host": f"{name}/m1:27018"} for name in ("rs0", *shards))
    server.found["config-mongos"] = ({"_id": mongos, "ping": 1_795_000_000.0},)
    return server


def test_that_who_came_past_the_point_is_named_and_kept_as_whoever_answers_has_it() -> None:
    condition = OthersSeenTo(("c1", "n1", "n2"), ("r1:27017",), ("rs0",))
    silent = Server("c1", "")
    silent.told |= dict.fromkeys(("config-shards", "config-mongos"), Unreachable("c1 does not answer"))
    nobody = answered(condition, silent, _with_others("n1"), _with_others("n2"))
    assert (nobody.holds, nobody.kept) == (True, ()), "a member that is away names nobody"
    came = answered(condition, silent, _with_others("n1", "rs1"), _with_others("n2", mongos="r9:27017"))
    assert came.holds is False
    assert "r9:27017 is a mongos, and not in the plan" in came.evidence
    assert "rs1 is a shard, and not in the plan" in came.evidence
    assert answered(OthersSeenTo(("c1",), (), ("rs0",)), silent).holds is None


def test_that_a_word_about_those_that_were_named_stands_for_nobody_who_comes_behind_it() -> None:
    asked = OthersSeenTo(("c1",), ("r1:27017",), ("rs0",))
    said = dict(answered(asked, _with_others("c1", "rs1", mongos="r9:27017")).kept) | {"others": "yes"}
    shard, router = NoOtherShard("c1", ("rs0",), word="others"), NoOtherRouter("c1", ("r1:27017",), word="others")
    for condition in (shard, router):
        for kept, holds in ((said, True), (said | {"others": "no"}, False), ({"others": "yes"}, False)):
            answer = answered(condition, _with_others("c1", "rs1", mongos="r9:27017"), past=Past(kept, {}))
            assert answer.holds is holds
        assert (
            answered(condition, _with_others("c1", "rs1", "rs2", mongos="r8:27017"), past=Past(said, {})).holds is False
        )
        assert (
            answered(
                replace(condition, word=""), _with_others("c1", "rs1", mongos="r9:27017"), past=Past(said, {})
            ).holds
            is False
        )
