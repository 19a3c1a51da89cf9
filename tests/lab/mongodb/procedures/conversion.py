"""What is watched beside a conversion of config servers: rows through each mongos, changes of the catalog, hashes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from services.connections.reads.mongo import HASHED
from services.procedures.plan.run_model import RunView
from tests.lab.estate.errors import LabError
from tests.lab.estate.estate import Estate
from tests.lab.estate.servers import database, mongodb
from tests.lab.estate.servers.mongo_wire import RefusedError

MIRRORS, ROUTERS = ("c1", "c2", "c3"), ("r1", "r2")
COPY = "/var/lib/mysql/pilothouse-config-backup"
NAME = "mongo-config-rs"
SAID = {"name": "csrs", "no_ddl": "yes", "no_others": "yes"}
ROLLING = {"new": "n1,n2", **SAID}
WINDOW = {"way": "window", **SAID}
_TRIAL = "pilothouse_trial"
_MOST = 6_000


def hashes(estate: Estate, host: str) -> dict[str, str]:
    """The hash of every collection that moves only by a change of the catalog."""
    asked = {"dbHash": 1, "collections": list(HASHED)}
    found = mongodb.ask(estate.spec, host, asked, database="config")["collections"]
    return {name: found[name] for name in HASHED if name in found}


def documents(estate: Estate, host: str, collection: str, database: str = "config") -> list[dict[str, Any]]:
    """All documents of a collection, as one server has them."""
    asked = {"find": collection, "filter": {}, "limit": 100, "singleBatch": True}
    found: list[dict[str, Any]] = mongodb.ask(estate.spec, host, asked, database=database)["cursor"]["firstBatch"]
    return found


def balancer_is_on(estate: Estate, router: str = "r1") -> bool:
    """Whether the balancer's switch is on, as a mongos reads it."""
    told = next((one for one in documents(estate, router, "settings") if one["_id"] == "balancer"), {})
    return told.get("stopped", False) is not True


def files(estate: Estate) -> dict[str, str]:
    """The configuration file of every server, '' where there is none."""
    found = {}
    for host in mongodb.hosts(estate.spec):
        said = estate.host(host.name).sh(f"cat /etc/{host.engine.process}.conf", check=False)
        found[host.name] = said.out if said.ok else ""
    return found


@dataclass(slots=True)
class Load:
    """Rows written and read through one mongos, and changes of the catalog that are tried beside them.

    Attributes:
        done: ids of the rows that were acknowledged; refused: what the server said no to; lost: connections that broke.
        catalog: (when, what the server said) for each change of the catalog that was refused.
    """

    router: str
    done: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    catalog: list[tuple[float, str]] = field(default_factory=list)


@contextmanager
def load(estate: Estate) -> Iterator[dict[str, Load]]:
    """Write and read each 50 ms through each mongos, and try the catalog twice a second; bounded, joined at the end."""
    loads = {router: Load(router) for router in ROUTERS}
    over = threading.Event()
    rows = [
        threading.Thread(target=_rows, args=(estate, one, over), name=f"rows-{one.router}") for one in loads.values()
    ]
    changes = threading.Thread(target=_catalog, args=(estate, loads["r2"], over), name="catalog")
    for thread in (*rows, changes):
        thread.start()
    try:
        yield loads
    finally:
        over.set()
        for thread in (*rows, changes):
            thread.join(60)


def _rows(estate: Estate, load: Load, over: threading.Event) -> None:
    base = ROUTERS.index(load.router) * 10**9 + int(time.time()) % 10**5 * 10**4  # another load's rows may be there
    number = 0
    while not over.wait(0.05) and number < _MOST:
        number += 1
        row = {"insert": "orders", "documents": [{"_id": base + number}]}
        try:
            said = mongodb.ask(estate.spec, load.router, row, database="shop", limit_s=15)
            if "writeErrors" in said:
                load.refused.append(str(said["writeErrors"]))
                continue
            load.done.append(base + number)
            found = mongodb.ask(estate.spec, load.router, _counted(base + number), database="shop", limit_s=15)
            if found["n"] != 1:
                load.refused.append(f"row {number} was not found")
        except RefusedError as problem:
            load.refused.append(str(problem))
        except LabError:
            load.lost.append(time.time())
            over.wait(0.2)


def _counted(row: int) -> dict[str, Any]:
    return _at_primary({"count": "orders", "query": {"_id": row}})


def _at_primary(asked: dict[str, Any]) -> dict[str, Any]:
    """A read of the primary: the lab's own wire lets a mongos ask any member, and one may be a moment behind."""
    return {"$query": asked, "$readPreference": {"mode": "primary"}}


def _catalog(estate: Estate, load: Load, over: threading.Event) -> None:
    """A setting of nobody's is the smallest change: it goes the way of all, and stands in no hash."""
    for number in range(_MOST):
        if over.wait(0.5):
            return
        change = {"q": {"_id": "lab"}, "u": {"$set": {"n": number}}, "upsert": True}
        try:
            said = mongodb.ask(
                estate.spec, load.router, {"update": "settings", "updates": [change]}, database="config", limit_s=15
            )
            if "writeErrors" in said:
                load.catalog.append((time.time(), str(said["writeErrors"])))
        except RefusedError as problem:
            load.catalog.append((time.time(), str(problem)))
        except LabError:
            load.lost.append(time.time())


def spans(view: RunView, *steps: tuple[str, str, float]) -> list[tuple[float, float]]:
    """(from, until) for pairs of steps: from the begin of the first to so long after the end of the second."""
    found = {one.step.step_id: one for one in view.steps}
    made = []
    for first, last, after in steps:
        begun, ended = found[first].started, found[last].ended
        assert begun is not None
        assert ended is not None
        made.append((begun, ended + after))
    return made


def outside(moments: list[float], allowed: list[tuple[float, float]]) -> list[float]:
    """Moments that lie in none of these spans."""
    return [one for one in moments if not any(begin - 1 <= one <= end for begin, end in allowed)]


# -- what it is before, and after --------------------------------------------------------------------------------------


def anew(estate: Estate) -> None:
    """Make the whole estate anew."""
    estate.down()
    estate.up()


def is_mirrored(estate: Estate) -> bool:
    """Whether the config servers are as the estate has them at first."""

    def alone(host: str) -> bool:
        if database.pid(estate.spec, host) is None:
            return False
        said = mongodb.ask(estate.spec, host, {"isMaster": 1})
        return "setName" not in said and "configsvr" in said and not documents(estate, host, "system.replset", "local")

    return all(map(alone, MIRRORS)) and database.pid(estate.spec, "n1") is None


def is_mirrored_as(estate: Estate, before: dict[str, str]) -> None:
    """All mirrors have the same metadata, those of before but for chunks: a mongos splits one when it likes."""
    assert is_mirrored(estate)
    now = [hashes(estate, host) for host in MIRRORS]
    assert now == [now[0]] * 3
    assert [name for name in before if name != "chunks" and now[0][name] != before[name]] == []


def config_of(estate: Estate, router: str) -> str:
    """Which config servers a mongos uses."""
    return str(mongodb.ask(estate.spec, router, {"getShardMap": 1})["map"]["config"])


def leads_again(estate: Estate) -> list[str]:
    """Wait until the preferred member leads its shard, and return the members, that one first."""
    members = [host.name for host in mongodb.hosts(estate.spec, "mongod")]
    mongodb.wait_takes_writes(estate.spec, members[0])
    mongodb.wait_set(estate.spec, members)
    return members


def shard_uses(estate: Estate) -> str:
    """Which config servers the shard's primary uses, by its own word; once the preferred member leads again."""
    members = leads_again(estate)
    return str(mongodb.ask(estate.spec, members[0], {"shardingState": 1}).get("configServer", ""))


def started_with(estate: Estate, router: str) -> str:
    """Which config servers a mongos was started with."""
    parsed: dict[str, Any] = mongodb.ask(estate.spec, router, {"getCmdLineOpts": 1})["parsed"]
    return str(parsed["sharding"]["configDB"])


def rows_are_there(estate: Estate, ids: list[int]) -> None:
    """All of these rows are read through a mongos, each once; from the primaries, for a secondary may be behind."""
    asked = {"find": "orders", "filter": {"_id": {"$in": ids}}, "projection": {"_id": 1}, "batchSize": len(ids) + 1}
    found = mongodb.ask(estate.spec, "r1", _at_primary(asked), database="shop", limit_s=60)["cursor"]["firstBatch"]
    times = Counter(row["_id"] for row in found)
    missing = [one for one in ids if one not in times]
    assert missing == [], f"{len(missing)} of {len(ids)} acknowledged rows are missing: {missing[:20]}"
    assert max(times.values(), default=1) == 1, times.most_common(5)


def is_a_set_of(estate: Estate, members: tuple[str, ...], before: dict[str, str]) -> None:
    """The conversion is done: who is in the set, what it holds, and that every mongos uses it and was started so."""
    places = ",".join(mongodb.place(estate.spec, estate.spec.host(one)) for one in members)
    maps = [config_of(estate, one) for one in ROUTERS]  # one that left may stand in it for a while
    assert all(one.startswith("csrs/") and set(places.split(",")) <= set(one[5:].split(",")) for one in maps), maps
    assert [started_with(estate, one) for one in ROUTERS] == [f"csrs/{places}"] * 2
    now = [hashes(estate, one) for one in members]
    assert now == [now[0]] * 3
    moved = [name for name in before if now[0][name] != before[name]]
    assert moved == [], f"not as before: {moved}"
    states = mongodb.states(estate.spec, members[0])
    assert sorted(states.values()) == ["PRIMARY", "SECONDARY", "SECONDARY"], states
    for one in members:
        parsed = mongodb.ask(estate.spec, one, {"getCmdLineOpts": 1})["parsed"]
        assert "configsvrMode" not in parsed["sharding"]
        assert mongodb.ask(estate.spec, one, {"serverStatus": 1})["storageEngine"]["name"] == "wiredTiger"
    assert balancer_is_on(estate)
    assert [one["_id"] for one in documents(estate, "r1", "databases") if one["_id"].startswith(_TRIAL)] == []


def as_words(answers: dict[str, str]) -> tuple[str, ...]:
    """Return answers as the command line takes them."""
    return tuple(word for name, value in answers.items() for word in ("--input", f"{name}={value}"))
