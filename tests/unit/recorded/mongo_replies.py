"""Recorded replies of MongoDB servers, decoded as the session would have: commands by name, errors by number."""

from __future__ import annotations

import functools
from pathlib import Path

from bson import json_util
from bson.codec_options import DatetimeConversion

from services.connections.mongo.document import Document
from services.connections.mongo.plain import document_of
from services.facts.mongodb.replica_set import ReplicaSet, parse_set
from services.facts.mongodb.server import MongoServer, parse_server
from services.facts.mongodb.values import documents

FOLDER = Path(__file__).parent / "mongodb-3.2.5"
_OPTIONS: json_util.JSONOptions = json_util.JSONOptions(datetime_conversion=DatetimeConversion.DATETIME_MS)


class Recorded:
    """What one server answered in one phase."""

    def __init__(self, replies: Document) -> None:
        self._replies = replies

    def answer(self, command: str) -> Document | None:
        """The reply, None where the server answered with an error."""
        found = self._replies.get(command)
        return found if isinstance(found, dict) and "__error__" not in found else None

    def errno(self, command: str) -> object:
        """The number of the server's error, None where it gave none."""
        found = self._replies[command]
        details = found.get("details") if isinstance(found, dict) else None
        return details.get("code") if isinstance(details, dict) else None

    def config(self, collection: str) -> list[Document] | None:
        """The documents of a collection of the config database, None where they were not read."""
        config = self._replies.get("config")
        return documents(config[collection], 500) if isinstance(config, dict) and collection in config else None

    @property
    def server(self) -> MongoServer:
        """What the process is."""
        hello = self.answer("isMaster")
        assert hello is not None
        return parse_server(hello, *(self.answer(name) for name in ("buildInfo", "serverStatus", "getCmdLineOpts")))

    @property
    def set(self) -> ReplicaSet:
        """The replica set in its eyes."""
        found = parse_set(self.answer("replSetGetStatus"), self.answer("replSetGetConfig"))
        assert found is not None
        return found


@functools.cache
def recorded(name: str) -> Recorded:
    """One file: 'PHASE.SERVER', as '5-csrs.c1'."""
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return Recorded(document_of(json_util.loads(text, json_options=_OPTIONS)))
