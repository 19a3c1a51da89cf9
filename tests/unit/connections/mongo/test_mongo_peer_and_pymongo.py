"""The scripted server is held against the vendor's driver: what PyMongo logs in to is no invention of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import ConfigurationError, OperationFailure, ServerSelectionTimeoutError

from tests.unit.connections.mongo_peer import HELLO_32, HELLO_80, MongoPeer

REPLIES: Mapping[str, Any] = {
    "buildInfo": {"version": "x", "ok": 1.0},
    "shards": {"cursor": {"id": 0, "ns": "config.shards", "firstBatch": [{"_id": "rs0"}]}, "ok": 1.0},
    "endSessions": {"ok": 1.0},
}


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-1", "SCRAM-SHA-256"])
def test_that_pymongo_logs_in_to_the_scripted_server_and_reads_from_it(mechanism: str) -> None:
    with MongoPeer(REPLIES, hello=HELLO_80, users={"monitor": "s3cret"}, mechanisms=(mechanism,)) as peer:
        with MongoClient(
            "127.0.0.1",
            peer.port,
            username="monitor",
            password="s3cret",
            authMechanism=mechanism,
            directConnection=True,
        ) as client:
            assert client.admin.command("buildInfo")["version"] == "x"
            assert [one["_id"] for one in client.config.shards.find()] == ["rs0"]
        with (
            MongoClient(
                "127.0.0.1",
                peer.port,
                username="monitor",
                password="wrong",
                authMechanism=mechanism,
                directConnection=True,
            ) as client,
            pytest.raises(OperationFailure, match="Authentication failed"),
        ):
            client.admin.command("buildInfo")


def test_that_this_pymongo_does_not_speak_with_3_2_which_is_why_the_wire_is_our_own() -> None:
    with (
        MongoPeer(REPLIES, hello=HELLO_32) as peer,
        MongoClient("127.0.0.1", peer.port, directConnection=True, serverSelectionTimeoutMS=1000) as client,
        pytest.raises((ServerSelectionTimeoutError, ConfigurationError)),
    ):
        client.admin.command("buildInfo")
