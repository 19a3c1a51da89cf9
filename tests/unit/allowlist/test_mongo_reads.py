"""The registry of MongoDB reads: each of them only reads, and nothing else gets through its gate."""

from __future__ import annotations

from typing import Any

import pytest

from services.connections.mongo.only_reads import check, template_of
from services.connections.reads import mongo
from services.connections.reads.mongo import MONGO_READS, MongoRead, MongoTemplate
from services.errors import Refused


@pytest.mark.parametrize("name", sorted(MONGO_READS))
def test_that_each_read_of_the_registry_passes_the_second_net(name: str) -> None:
    template = template_of(MongoRead(name))
    assert template.name == name
    assert template.read() == MongoRead(name)


def test_that_every_read_that_has_a_name_in_the_module_is_in_the_registry() -> None:
    named = {one.name for one in vars(mongo).values() if isinstance(one, MongoRead)}
    assert named == set(MONGO_READS)


@pytest.mark.parametrize(
    "read",
    [
        MongoRead("shutdown"),
        MongoRead(""),
        MongoRead("hello; shutdown"),
        "hello",
        {"isMaster": 1},
        MONGO_READS["hello"],
        None,
    ],
)
def test_that_what_is_no_read_of_the_registry_is_refused(read: Any) -> None:
    with pytest.raises(Refused) as raised:
        template_of(read)
    assert raised.value.safe == "Nothing was sent to the host."


def found(collection: str, database: str, **more: Any) -> MongoTemplate:
    command = {"find": collection, "filter": {}, "limit": 1, "batchSize": 1, "singleBatch": True, **more}
    return MongoTemplate("x", database, command, 1)


@pytest.mark.parametrize(
    "template",
    [
        MongoTemplate("x", "admin", {"shutdown": 1}),
        MongoTemplate("x", "admin", {"replSetReconfig": {}}),
        MongoTemplate("x", "admin", {"replSetStepDown": 60}),
        MongoTemplate("x", "admin", {"eval": "1"}),
        MongoTemplate("x", "admin", {"aggregate": 1, "pipeline": [{"$out": "x"}], "cursor": {}}),
        MongoTemplate("x", "admin", {"setParameter": 1, "logLevel": 5}),
        MongoTemplate("x", "admin", {"usersInfo": 1}),
        MongoTemplate("x", "admin", {"getLog": "global"}),
        MongoTemplate("x", "admin", {}),
        MongoTemplate("x", "people", {"isMaster": 1}),
        MongoTemplate("x", "admin", {"serverStatus": 1, "filter": {"$where": "1"}}),
        found("system.users", "admin"),
        found("system.keys", "admin"),
        found("shards", "people"),
        found("chunks", "config"),
        found("shards", "config", filter={"$where": "sleep(1)"}),
        found("shards", "config", filter={"a": [{"$expr": 1}]}),
        found("shards", "config", filter={"a": "$b"}),
        found("shards", "config", limit=2),
        found("shards", "config", singleBatch=False),
        MongoTemplate("x", "config", {"find": "shards"}, 0),
        MongoTemplate("x", "config", {"find": "shards", "limit": 100_000, "singleBatch": True}, 100_000),
    ],
)
def test_that_a_command_which_should_never_have_been_registered_is_not_sent(template: MongoTemplate) -> None:
    with pytest.raises(Refused):
        check(template)
