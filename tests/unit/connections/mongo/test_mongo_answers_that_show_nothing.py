"""Answers of a MongoDB server that look like one and show nothing: a list that is none, a read stopped half way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from services.connections.mongo.change import command
from services.connections.operator.session import HostOperator
from services.connections.reads import mongo as reads
from services.errors import QueryFailed, TimedOut
from services.inventory.model import HostEntry, MongoAccess
from services.secrets import MemoryVault
from tests.unit.connections.mongo.test_mongo_session_on_a_scripted_server import FORMS, session
from tests.unit.connections.mongo_peer import MongoPeer

STOPPED = {"ok": 0.0, "code": 50, "errmsg": "operation exceeded time limit"}


@pytest.mark.parametrize(
    "answer",
    [
        {"ok": 1.0},
        {"cursor": {"id": 0}, "ok": 1.0},
        {"cursor": {"firstBatch": {}}, "ok": 1.0},
        {"cursor": {"firstBatch": [{"_id": "balancer"}, "odd"]}, "ok": 1.0},
    ],
)
def test_that_an_answer_without_a_list_of_documents_is_no_empty_list(answer: Mapping[str, Any]) -> None:
    """Without settings the balancer is on, without locks nothing moves: both would be told where nothing was read."""
    with MongoPeer({"settings": answer, "locks": answer, "buildInfo": {"ok": 1.0}}) as peer:
        own = session(peer)
        for read in (reads.CONFIG_SETTINGS, reads.CONFIG_LOCKS):
            with pytest.raises(QueryFailed, match="no list of documents"):
                own.ask(read)
        own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.opened == 1


@FORMS
def test_that_a_read_which_the_server_stopped_is_that_reads_failure_and_no_silence(hello: Mapping[str, Any]) -> None:
    """As a silence it made a server that answers 'not reached', for a list of databases that takes too long."""
    with MongoPeer({"listDatabases": STOPPED, "buildInfo": {"ok": 1.0}}, hello=hello) as peer:
        own = session(peer)
        with pytest.raises(QueryFailed, match="stopped the command at a time limit: operation exceeded") as raised:
            own.ask(reads.DATABASES)
        assert raised.value.errno == 50
        own.ask(reads.BUILD_INFO)
        own.close()
        assert peer.opened == 1


def test_that_a_change_which_the_server_stopped_may_have_been_made_and_its_words_are_told() -> None:
    """A step-down that finds nobody to follow ends so: 'it did not end within 90 s' was no word of the server's."""
    words = {**STOPPED, "errmsg": "No electable secondaries caught up"}
    with MongoPeer({"replSetStepDown": words}) as peer:
        road = HostOperator(
            HostEntry("n1", "127.0.0.1", sql=MongoAccess("", port=peer.port, tls="off"), kind="mongodb"),
            MemoryVault({}),
        )
        with pytest.raises(TimedOut, match="No electable secondaries caught up"):
            road.change(command("admin", replSetStepDown=60))
        road.close()
