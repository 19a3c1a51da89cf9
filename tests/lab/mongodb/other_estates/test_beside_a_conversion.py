"""What goes on beside a conversion of config servers: chunk moves, zones, mirrors that were killed, a new shard."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from services.procedures.plan.run_model import RunState
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.estate.servers.mongo_wire import RefusedError
from tests.lab.mongodb.other_estates.changing import restarted, write
from tests.lab.mongodb.procedures.conversion import (
    MIRRORS,
    NAME,
    ROLLING,
    as_words,
    documents,
    hashes,
    is_a_set_of,
    load,
    rows_are_there,
)
from tests.lab.procedures.console.steering import Console

_MOST = 60
_SECOND = """\
systemLog:
  destination: file
  path: /var/lib/mysql/mongod.log
  logAppend: true
storage:
  dbPath: /var/lib/mysql/db
  engine: wiredTiger
net:
  bindIp: 127.0.0.1,{address}
  port: {port}
replication:
  replSetName: rs1
  oplogSizeMB: 64
sharding:
  clusterRole: shardsvr
"""


def _second_set(estate: Estate) -> str:
    """Make the spare host n3 a set of one, and return how a mongos is told of it."""
    host = estate.spec.host("n3")
    write(estate, "n3", _SECOND.format(address=estate.spec.address("n3"), port=mongodb.PORTS[host.role]))
    restarted(estate, "n3")
    place = mongodb.place(estate.spec, host)
    asked = {"_id": "rs1", "version": 1, "members": [{"_id": 0, "host": place}], "protocolVersion": 1}
    mongodb.ask(estate.spec, "n3", {"replSetInitiate": asked}, limit_s=60)
    mongodb.wait_set(estate.spec, ["n3"])
    return f"rs1/{place}"


def _zoned(estate: Estate) -> None:
    """Split the collection, and tie ranges of it to shards by tags, as sh.addTagRange does."""
    for at in (1000, 2000, 3000, 10**9, 2 * 10**9):
        mongodb.ask(estate.spec, "r1", {"split": "shop.orders", "middle": {"_id": at}}, limit_s=60)
    for shard, tag in (("rs0", "near"), ("rs1", "far")):
        change = {"q": {"_id": shard}, "u": {"$addToSet": {"tags": tag}}}
        mongodb.ask(estate.spec, "r1", {"update": "shards", "updates": [change]}, database="config")
    ranges = [
        {"_id": {"ns": "shop.orders", "min": {"_id": low}}, "ns": "shop.orders", "min": {"_id": low},
         "max": {"_id": high}, "tag": tag}
        for low, high, tag in ((1000, 2000, "near"), (2000, 3000, "far"))
    ]  # fmt: skip
    for one in ranges:  # mirrored config servers take one document at a time
        mongodb.ask(estate.spec, "r1", {"insert": "tags", "documents": [one]}, database="config")


def _to_the_other(estate: Estate, row: int = 500) -> dict[str, Any]:
    """A move of a row's chunk to the shard where it does not lie: one to its own is refused."""

    def lies_in(chunk: dict[str, Any]) -> bool:
        low, high = chunk["min"]["_id"], chunk["max"]["_id"]
        return (low is None or low <= row) and (high is None or row < high)

    lies = next(one["shard"] for one in documents(estate, "r1", "chunks") if lies_in(one))
    return {"moveChunk": "shop.orders", "find": {"_id": row}, "to": "rs1" if lies == "rs0" else "rs0"}


@contextmanager
def _moving(estate: Estate) -> Iterator[Counter[str]]:
    """A colleague moves a chunk to and fro by hand all the while; what came of each move is counted."""
    came, over = Counter[str](), threading.Event()

    def move() -> None:
        for number in range(_MOST):
            if over.wait(3.0):
                return
            asked: dict[str, Any] = {"moveChunk": "shop.orders", "find": {"_id": 500}, "to": f"rs{1 - number % 2}"}
            try:
                mongodb.ask(estate.spec, "r2", asked, limit_s=120)
                came["moved"] += 1
            except RefusedError as problem:
                came[str(problem)[:60]] += 1
            except LabError:
                came["lost"] += 1

    thread = threading.Thread(target=move, name="moving")
    thread.start()
    try:
        yield came
    finally:
        over.set()
        thread.join(150)


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_that_moves_zones_and_killed_mirrors_lose_no_row(mirrored: Estate, console: Console) -> None:
    """Two shards, a balancer that is on, chunks that a colleague moves by hand, ranges tied to shards; every mirror
    was killed and recovered before. Every row that was acknowledged is there, once."""
    mongodb.ask(mirrored.spec, "r1", {"addShard": _second_set(mirrored)}, limit_s=60)
    _zoned(mirrored)
    for host in MIRRORS:
        mongodb.ask(mirrored.spec, host, {"fsync": 1}, limit_s=60)  # a killed one loses what its journal lacks: 100 ms
    for host in MIRRORS:
        database.kill(mirrored.spec, host)
        restarted(mirrored, host)
    before = hashes(mirrored, "c1")
    with load(mirrored) as loads, _moving(mirrored) as came:
        ran = console.run(NAME, "--confirm", "c1", **ROLLING)
    assert ran.code == 0, (ran, came, mirrored.host("n3").sh("tail -n 40 /var/lib/mysql/mongod.log").out)
    console.assert_ended(RunState.DONE, ran)
    assert came["moved"] > 1, came
    for one in loads.values():
        assert one.refused == [], (one.refused[:3], came)
        rows_are_there(mirrored, one.done)
    del before["chunks"]
    is_a_set_of(mirrored, ("c1", "n1", "n2"), before)
    assert {one["tag"] for one in documents(mirrored, "r1", "tags")} == {"near", "far"}
    shards = {one["_id"]: one.get("tags") for one in documents(mirrored, "r2", "shards")}
    assert shards == {"rs0": ["near"], "rs1": ["far"]}
    mongodb.ask(mirrored.spec, "r1", _to_the_other(mirrored), limit_s=120)
    for one in loads.values():
        rows_are_there(mirrored, one.done)


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_that_a_shard_which_a_colleague_adds_beside_ends_the_run_before_its_point_of_no_return(
    mirrored: Estate, console: Console
) -> None:
    """Somebody said that nobody changes the catalog, and somebody does. No check has seen that shard: the run is taken
    back at once, everybody is served, and the way out is told."""
    second = _second_set(mirrored)
    words = ("run", NAME, *as_words(ROLLING), "--yes", "--confirm", "c1")
    with load(mirrored) as loads, console.running(*words, limit_s=600) as running:
        running.wait_for_step("n1:up", "acting")
        mongodb.ask(mirrored.spec, "r1", {"addShard": second}, limit_s=60)
        ran = running.end()
    for one in loads.values():
        assert one.refused == [], one.refused[:3]
        rows_are_there(mirrored, one.done)
    view = console.assert_ended(RunState.UNDONE, ran)
    refused = next(one for one in view.steps if "rs1 is a shard, and not in the plan" in one.error)
    assert refused.step.step_id == "c3:down"
    assert "make a new plan with its members" in refused.error
    assert not view.no_return
    assert {one["_id"] for one in documents(mirrored, "r2", "shards")} == {"rs0", "rs1"}
    told = [hashes(mirrored, host)["shards"] for host in MIRRORS]
    assert told == [told[0]] * 3, "the colleague's shard stays, on every mirror"


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_that_a_shard_which_comes_past_the_point_is_asked_about_and_is_in_the_set_too(
    mirrored: Estate, console: Console
) -> None:
    """There is no way back and no plan anew: the run goes on by a person's word, and retires nothing before it."""
    second = _second_set(mirrored)
    words = ("run", NAME, *as_words(ROLLING), "--yes", "--confirm", "c1")
    with load(mirrored) as loads:
        with console.running(*words, limit_s=600) as running:
            running.wait_for_step("r1:catalog-converted", "done")
            mongodb.ask(mirrored.spec, "r1", {"addShard": second}, limit_s=60)
            rested = running.end()
        assert console.view().state is RunState.WAITING, rested
        question = console.view().question
        assert question is not None
        assert question.step_id == "others"
        assert "rs1 is a shard, and not in the plan" in question.ask.question
        assert mirrored.host("c2").sh("systemctl is-active mongod").out.strip() == "active"
        ran = console("resume", console.runs()[-1], "--yes", "--answer", "yes")
    for one in loads.values():
        rows_are_there(mirrored, one.done)
    console.assert_ended(RunState.DONE, ran)
    assert {one["_id"] for one in documents(mirrored, "r2", "shards")} == {"rs0", "rs1"}
    told = [hashes(mirrored, host)["shards"] for host in ("c1", "n1", "n2")]
    assert told == [told[0]] * 3
