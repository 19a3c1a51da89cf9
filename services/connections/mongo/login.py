"""Greeting and login: what the server is, which form of commands it takes, and the proof of who asks.

An account proves its password by SCRAM, whoever the peer is: nothing readable is sent, and the server must prove that
it knows the password too. MONGODB-X509 sends a name only; the proof was the TLS handshake's. PLAIN (LDAP), GSSAPI and
MONGODB-CR are not spoken. An arbiter holds no users: where it asks for a login there is none, and it is left at hello.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from typing import Any, Final, Literal

from services.connections.mongo.document import Document, Value
from services.connections.mongo.scram import BadProof, Scram, ScramKind
from services.connections.mongo.wire import MSG_SINCE, MongoWire
from services.connections.sql.text_rows import BadReply
from services.i18n import tr

Mechanism = Literal["scram", "x509"]
LEAST_WIRE: Final = 4
"""MongoDB 3.2, the oldest that was tried."""
MOST_WIRE: Final = 29
"""The newest that the driver specifications know; servers of today say that they speak every one from 0 on."""
_NAMED_BY_CERTIFICATE = 5
"""From this wire version on (3.4) a server takes the name out of the certificate; before, it says that no certificate
matches the user (MongoDB manual 3.4, "authenticate"; tried on 3.2.5)."""
_NONCE_BYTES = 24
_MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who logs in, and how. The password is kept out of repr.

    Attributes:
        user: '' for no login (a server without access control), or for the name of the certificate. source: the
            database that has the account. subject: of the certificate, told to servers that don't take it from there.
    """

    user: str = ""
    password: str = ""
    source: str = "admin"
    mechanism: Mechanism = "scram"
    subject: str = ""

    @property
    def asks(self) -> bool:
        """Return whether there is anybody to log in."""
        return self.mechanism == "x509" or bool(self.user)

    def __repr__(self) -> str:
        return f"Credentials({self.user!r}, ********, {self.source!r}, {self.mechanism!r})"


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server says before anybody logs in.

    Attributes:
        wire: the newest wire version that both speak. mongos: it routes. arbiter: it votes and holds no data, no users.
        hello: it knows the command of that name (4.4.2 and newer), not only isMaster.
        unsettled: it leads no set and follows none (yet): a new member has no users until it has the data.
    """

    wire: int
    mongos: bool = False
    arbiter: bool = False
    hello: bool = False
    unsettled: bool = False


class OtherWire(Exception):  # noqa: N818 - it says what happened
    """The server speaks no wire version that this program does: `least` to `most`."""

    def __init__(self, least: int, most: int) -> None:
        super().__init__(least, most)
        self.least = least
        self.most = most


def greet(wire: MongoWire, credentials: Credentials) -> tuple[Greeting, list[Value]]:
    """Ask what the server is, and which logins the account has (servers from 4.0 on say so).

    Raises OtherWire, and what a command raises.
    """
    asked: dict[str, Any] = {
        "isMaster": 1,
        "helloOk": True,
        "client": {
            "application": {"name": "pilothouse"},
            "driver": {"name": "pilothouse", "version": "1"},
            "os": {"type": "any"},
        },
    }
    if credentials.user and credentials.mechanism == "scram":
        asked["saslSupportedMechs"] = f"{credentials.source}.{credentials.user}"
    said = wire.command("admin", asked)
    least, most = _version(said, "minWireVersion"), _version(said, "maxWireVersion")
    if most < LEAST_WIRE or least > MOST_WIRE or least > most:
        raise OtherWire(least, most)
    greeting = Greeting(
        wire=min(most, MOST_WIRE),
        mongos=said.get("msg") == "isdbgrid",
        arbiter=said.get("arbiterOnly") is True,
        hello=said.get("helloOk") is True,
        unsettled=_unsettled(said),
    )
    wire.modern = greeting.wire >= MSG_SINCE
    wire.secondaries = not greeting.mongos
    named = said.get("saslSupportedMechs")
    return greeting, named if isinstance(named, list) else []


def log_in(wire: MongoWire, credentials: Credentials, named: list[Value], speaks: int = MOST_WIRE) -> None:
    """Prove who asks. Raises BadProof (the peer does not know the password), and what a command raises.

    Args:
        named: the logins that the server says the account has; it may name one, never choose one that sends a password.
        speaks: the wire version that both speak.
    """
    if credentials.mechanism == "x509":
        asked: dict[str, Any] = {"authenticate": 1, "mechanism": "MONGODB-X509"}
        user = credentials.user or (credentials.subject if speaks < _NAMED_BY_CERTIFICATE else "")
        if user:
            asked["user"] = user
        wire.command("$external", asked)
        return
    mechanism: ScramKind = "SCRAM-SHA-256" if "SCRAM-SHA-256" in named else "SCRAM-SHA-1"
    nonce = base64.b64encode(os.urandom(_NONCE_BYTES)).decode()
    scram = Scram(mechanism, credentials.user, credentials.password, nonce)
    said = wire.command(
        credentials.source,
        {
            "saslStart": 1,
            "mechanism": mechanism,
            "payload": scram.first,
            "autoAuthorize": 1,
            "options": {"skipEmptyExchange": True},
        },
    )
    said = _go_on(wire, credentials.source, said, scram.answer(_payload(said)))
    scram.check(_payload(said))
    for _ in range(_MOST_STEPS):
        if said.get("done") is True:
            return
        said = _go_on(wire, credentials.source, said, b"")
    raise BadProof(tr("the login does not end"))


def _go_on(wire: MongoWire, source: str, said: Document, payload: bytes) -> Document:
    return wire.command(
        source, {"saslContinue": 1, "conversationId": said.get("conversationId", 1), "payload": payload}
    )


def _payload(said: Document) -> bytes:
    payload = said.get("payload")
    if not isinstance(payload, bytes):
        raise BadReply(tr("it contains no login step"))
    return payload


def _unsettled(said: Document) -> bool:
    """Return whether it was started as a member of a set, and is neither primary, secondary nor arbiter."""
    of_a_set = "setName" in said or said.get("isreplicaset") is True
    serves = any(said.get(name) is True for name in ("ismaster", "isWritablePrimary", "secondary", "arbiterOnly"))
    return of_a_set and not serves


def _version(said: Document, name: str) -> int:
    """Return a wire version; servers before 2.6 say none, which is 0."""
    value = said.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadReply(tr("it reports no wire version"))
    return value
