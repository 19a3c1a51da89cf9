"""A standing session with one MongoDB server: the way, TLS, greeting, login; asked within limits, cut from any thread.

Whom it talks to is who the inventory names, and nobody else: what a reply says of other hosts is never dialled here.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from services.connections.budget import LimitReached, Metered, UnderWay
from services.connections.dial import hang_up
from services.connections.limits import LOGIN_BYTES, Limits
from services.connections.mongo.document import Document, Reply, Value
from services.connections.mongo.errors import (
    LOGIN_FAILED,
    TIME_UP,
    UNAUTHORIZED,
    USER_UNKNOWN,
    command_error,
    connect_error,
    no_tls,
    of_a_change,
    write_error,
)
from services.connections.mongo.login import Credentials, Greeting, greet, log_in
from services.connections.mongo.only_reads import MOST_BYTES
from services.connections.mongo.reconfigure import changed as reconfigured
from services.connections.mongo.subject import subject_of
from services.connections.mongo.wire import CommandFailed, MongoWire
from services.connections.reads.mongo import HELLO, MONGO_READS
from services.connections.sql.text_rows import BadReply
from services.connections.tls.known_certificates import Pin, changed, name_of, pins_of, unknown
from services.connections.tls.policy import Proof, Road, Trust, WrongCertificate, trust_for, unverified
from services.connections.tls.wrapping import Seen, Wrapping
from services.connections.tunnels import OpenRoute, open_way
from services.errors import BadInput, Dropped, QueryFailed, TimedOut, Unreachable, UserError
from services.i18n import tr
from services.inventory.model import MongoAccess

if TYPE_CHECKING:
    from services.connections.mongo.change import MongoCommand, SetChange
    from services.connections.reads.mongo import MongoTemplate
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry
    from services.secrets import Vault

T = TypeVar("T")
_LEAST_CONNECT_S = 2.0
_LEAST_LOGIN_S = 5.0
_SERVER_SHARE = 0.9
"""The server is asked to stop a little before we stop waiting, so that its own words arrive."""
_UNLIMITED = frozenset({"hello", "build-info"})
_HEARSAY = _UNLIMITED
"""All that a server is asked that has not proven that it is the server: by the account's password, or by its own
certificate where the account logs in by one."""


class MongoLink:
    """A standing session. Reads from one thread at a time; `abort` from any."""

    def __init__(
        self,
        wire: MongoWire,
        way: OpenRoute,
        greeting: Greeting,
        host: str,
        proof: Proof,
        *,
        logged_in: bool,
        proven: bool,
    ) -> None:
        self._wire = wire
        self._way = way
        self._host = host
        self._alive = True
        self.greeting = greeting
        self.proof = proof
        self.logged_in = logged_in
        self.proven = proven

    @classmethod
    def open(
        cls,
        entry: HostEntry,
        vault: Vault,
        ssh: Callable[[], SshLink] | None,
        *,
        limits: Limits,
        limit_s: float,
        under_way: UnderWay | None = None,
    ) -> MongoLink:
        """Connect and log in. Raises UserError subclasses only.

        Args:
            entry: whose `sql` is a `MongoAccess`. ssh: gives the host's SSH connection.
            limit_s: of connecting, and of TLS, greeting and login together: not less than 2 s and 5 s.
            under_way: gets the socket as it is made; cutting it ends this call with an error.
        """
        opening = _Opening(_with_socket(entry), ssh, limits, limit_s, under_way)
        credentials = opening.credentials(vault)
        try:
            return opening.link(cls, credentials, plain=False)
        except _NoTls:
            return opening.link(cls, credentials, plain=True)

    @property
    def alive(self) -> bool:
        """Return whether the session stands, as far as is known here."""
        return self._alive

    @property
    def where(self) -> str:
        """Return the end of the way, for sentences."""
        return self._way.where

    @property
    def road(self) -> Road:
        """Return how the way leads there."""
        return self._way.road

    @property
    def cipher(self) -> str:
        """Return TLS protocol and cipher, '' without TLS."""
        return self._wire.cipher

    def ask(self, template: MongoTemplate, *, limit_s: float) -> Reply:
        """Send one command of the registry that the gate has let through. Raises UserError subclasses.

        A read that the server itself stopped at its limit is no silence of the server: it answered, and answers on.
        Whoever should have proven that it knows the password and did not (it calls itself an arbiter, or a new member)
        is asked for its greeting alone; a new member is logged in to with the next one, once it has its users.
        """
        reply = self._asked(template, limit_s)
        if not self.proven and self.greeting.unsettled:
            self.abort()
        return reply

    def _asked(self, template: MongoTemplate, limit_s: float) -> Reply:
        if template.name not in _HEARSAY:
            self._need_proof()
        command = dict(template.command)
        if template.name == "hello" and self.greeting.hello:
            command = {"hello": 1}
        if template.name not in _UNLIMITED:
            command["maxTimeMS"] = max(1, int(limit_s * 1000 * _SERVER_SHARE))
        self._wire.begin(limit_s, MOST_BYTES)
        try:
            answer = self._within(lambda: self._wire.command(template.database, command), limit_s)
        except TimedOut as problem:
            if not self._alive:
                raise
            raise QueryFailed(problem.sentence, host=self._host, errno=TIME_UP) from problem
        return _reply(answer, template, self._host) if template.limit else Reply(answer, proven=self.proven)

    def greet(self, *, limit_s: float) -> None:
        """Exchange a greeting. Raises UserError subclasses where the session does not stand any more."""
        self._asked(MONGO_READS[HELLO.name], limit_s)

    def change(self, command: MongoCommand, *, limit_s: float) -> Document:
        """Send one command of an approved plan. Raises UserError subclasses; a write that was not made is an error."""
        sent = command.document.as_dict()
        answer = self._changing(lambda: self._wire.command(command.database, sent), limit_s)
        refused = write_error(command.document.pairs[0].name, answer)
        if refused is not None:
            raise of_a_change(command_error(refused, host=self._host))
        return answer

    def reconfigure(self, change: SetChange, *, limit_s: float) -> Document:
        """Change a replica set's configuration on its primary. Raises UserError subclasses."""
        asked = {"replSetGetConfig": 1}
        found = self._changing(lambda: self._wire.exact("admin", asked), limit_s).get("config")
        if not isinstance(found, dict):
            raise self._unusable(tr("it contains no configuration"))
        sent = {"replSetReconfig": reconfigured(found, change, self._host)}
        return self._changing(lambda: self._wire.command("admin", sent), limit_s)

    def abort(self) -> None:
        """Cut the session from any thread."""
        self._alive = False
        self._wire.abort()

    close = abort
    """The protocol has no goodbye."""

    def _changing(self, call: Callable[[], T], limit_s: float) -> T:
        """Make one exchange of a change."""
        self._need_proof()
        self._wire.begin(limit_s, MOST_BYTES)
        try:
            return self._within(call, limit_s)
        except QueryFailed as problem:
            raise of_a_change(problem) from problem

    def _need_proof(self) -> None:
        """Raise QueryFailed where whoever answers has not proven that it is the server."""
        if self.proven:
            return
        if self.greeting.unsettled:
            self.abort()  # the next one is logged in, as soon as the member has its users
        if self.logged_in:
            raise QueryFailed(
                tr("The server on {where} accepted the login by certificate, which proves the client's identity "
                    "but not the server's: its answers cannot be trusted. Add the authority of the server's "
                    'certificate (ca) to the inventory, with tls = "verify-ca".', where=self.where),
                host=self._host,
                errno=UNAUTHORIZED,
            )  # fmt: skip
        raise QueryFailed(
            tr("The server on {where} has not proven that it knows the password: its answers cannot be trusted.",
               where=self.where),
            host=self._host,
            errno=UNAUTHORIZED,
        )  # fmt: skip

    def _within(self, call: Callable[[], T], limit_s: float) -> T:
        """Call the wire; whatever leaves the answer half read ends the session."""
        try:
            return call()
        except CommandFailed as problem:
            error = command_error(problem, host=self._host)
            if isinstance(error, Unreachable) and not isinstance(error, TimedOut):
                self.abort()
            raise error from problem
        except (TimeoutError, LimitReached) as problem:
            self.abort()
            if isinstance(problem, LimitReached) and problem.limit == "size":
                raise self._unusable(tr("it is too large")) from problem
            raise TimedOut(
                tr("The server did not answer within {limit:g} s.", limit=limit_s),
                host=self._host,
                try_=(tr("Check that the server is not stopped, overloaded or out of disk."),),
            ) from problem
        except (OSError, EOFError) as problem:
            self.abort()
            why = f" ({problem})" if str(problem) else ""
            raise Dropped(
                tr("The server on {where} closed the connection{why}.", where=self.where, why=why), host=self._host
            ) from problem
        except BadReply as problem:
            self.abort()
            raise self._unusable(str(problem)) from problem

    def _unusable(self, why: str) -> Unreachable:
        return Unreachable(
            tr("The reply of {where} cannot be used: {problem}.", where=self.where, problem=why), host=self._host
        )


def _logged_in(wire: MongoWire, credentials: Credentials, named: list[Value], greeting: Greeting) -> bool:
    """Log in; False where a new member does not know the account yet: it tells what needs none."""
    try:
        log_in(wire, credentials, named, greeting.wire)
    except CommandFailed as problem:
        if problem.code not in {LOGIN_FAILED, USER_UNKNOWN} or not greeting.unsettled:
            raise
        return False
    return True


def _reply(answer: Document, template: MongoTemplate, host: str) -> Reply:
    """Return a find's documents. An answer without a list of them is not known: it must not count as 'there are none'.

    'No settings' is a balancer that is on, 'no locks' is a cluster in which nothing moves.
    """
    cursor = answer.get("cursor")
    batch = cursor.get("firstBatch") if isinstance(cursor, dict) else None
    found = tuple(one for one in batch if isinstance(one, dict)) if isinstance(batch, list) else ()
    if not isinstance(batch, list) or len(found) != len(batch):
        raise QueryFailed(tr("The server's answer contains no list of documents."), host=host)
    return Reply(answer, found[: template.limit], more=len(found) >= template.limit > 1)


def _with_socket(entry: HostEntry) -> HostEntry:
    """Return the entry with the socket that mongod makes by itself, where the inventory names none."""
    access = entry.sql
    if access is None or access.via != "socket" or access.socket:
        return entry
    return replace(entry, sql=replace(access, socket=f"/tmp/mongodb-{access.port}.sock"))  # noqa: S108 - mongod's own


class _NoTls(Exception):  # noqa: N818 - it says what happened
    """The server broke off at TLS where none is required: it may speak none."""


class _Opening:
    """One attempt to open a session: what is known of the way, and its steps."""

    def __init__(
        self,
        entry: HostEntry,
        ssh: Callable[[], SshLink] | None,
        limits: Limits,
        limit_s: float,
        under_way: UnderWay | None,
    ) -> None:
        if not isinstance(entry.sql, MongoAccess):
            raise BadInput(tr("The inventory has no connection to the database of this host."), host=entry.name)
        self._entry = entry
        self._sql = entry.sql
        self._ssh = ssh
        self._limits = limits
        self._connect_s = max(_LEAST_CONNECT_S, min(limits.handshake_s, limit_s))
        self._login_s = max(self._connect_s, min(_LEAST_LOGIN_S, limits.handshake_s))
        self._under_way = under_way or UnderWay()

    def credentials(self, vault: Vault) -> Credentials:
        """Return who logs in."""
        by_certificate = self._sql.mechanism == "x509"
        if by_certificate and self._sql.cert is None:
            raise BadInput(
                tr("A login by certificate needs a client certificate, and the inventory names none."),
                host=self._entry.name,
            )
        password = "" if by_certificate or self._sql.password is None else vault.get(self._sql.password).reveal()
        return Credentials(self._sql.user, password, self._sql.source, self._sql.mechanism, self._subject())

    def _subject(self) -> str:
        """Return whom the certificate names where it logs in and the inventory names nobody, '' otherwise."""
        if self._sql.mechanism != "x509" or self._sql.cert is None or self._sql.user:
            return ""
        return subject_of(self._sql.cert)

    def link(self, kind: type[MongoLink], credentials: Credentials, *, plain: bool) -> MongoLink:
        """Go the way and log in. Raises UserError subclasses, and _NoTls where it may be tried without."""
        way = self._way()
        pins: tuple[Pin, ...] = ()
        trust = Trust()
        meter = self._under_way.metered(way.sock)  # TLS takes the socket out of the hands of the way
        try:
            if way.road != "socket" and self._sql.tls == "verify" and self._sql.ca is None:
                pins = pins_of(name_of(self._entry))
            trust = trust_for(self._sql, way.road, tuple(pin.fingerprint for pin in pins), own=way.own, old=True)
            wire = self._wire(meter, trust, credentials, way.where, plain=plain)
            greeting, named = greet(wire, credentials)
            logged_in = credentials.asks and not greeting.arbiter
            if logged_in:
                logged_in = _logged_in(wire, credentials, named, greeting)
            # SCRAM proves both ends (RFC 5802); who takes a login by certificate has proven nothing of itself by it.
            both = logged_in and (credentials.mechanism == "scram" or trust.verified)
            proven = both or not credentials.asks
            return kind(wire, way, greeting, self._entry.name, trust.proof, logged_in=logged_in, proven=proven)
        except (UserError, _NoTls):
            hang_up(meter)
            raise
        except WrongCertificate as problem:
            hang_up(meter)
            raise changed(self._entry, way.where, problem.fingerprint, pins) from problem
        except Exception as problem:  # bytes that are no protocol bring TLS and codec to raise anything
            hang_up(meter)
            if trust.asks and isinstance(problem, ssl.SSLCertVerificationError):
                raise self._question(problem.verify_message.rstrip(".")) from problem
            raise self._told(problem, way) from problem

    def _way(self) -> OpenRoute:
        return open_way(self._entry, self._ssh, limits=self._limits, limit_s=self._connect_s, under_way=self._under_way)

    def _wire(self, meter: Metered, trust: Trust, credentials: Credentials, where: str, *, plain: bool) -> MongoWire:
        """Return the wire with its login's clock running: TLS from the first byte, where there is any."""
        meter.begin(self._login_s, LOGIN_BYTES)
        if trust.context is None or plain:
            if credentials.mechanism == "x509":
                raise BadInput(tr("A login by certificate needs TLS."), host=self._entry.name)
            return MongoWire(meter, meter)
        try:
            sock = Wrapping(trust, looks=False).wrap_socket(meter, self._entry.address)
        except ssl.SSLCertVerificationError:
            raise
        except (ssl.SSLError, ConnectionError, EOFError) as problem:
            if trust.required and isinstance(problem, ssl.SSLEOFError | EOFError):
                raise no_tls(where, self._sql.tls, self._entry.name) from problem
            if trust.required or credentials.mechanism == "x509":
                raise
            raise _NoTls from problem
        return MongoWire(meter, sock)

    def _question(self, why: str) -> UserError:
        """Return what to ask about a certificate that was refused: it is looked at once more, and nobody logs in."""
        way = self._way()
        meter = Metered(way.sock)
        meter.begin(self._login_s, LOGIN_BYTES)
        try:
            Wrapping(Trust(unverified(old=True), required=True), looks=True).wrap_socket(meter, self._entry.address)
        except Seen as seen:
            return unknown(self._entry, way.where, seen.certificate, why)
        except Exception as problem:  # noqa: BLE001 - bytes that are no TLS
            hang_up(meter)
            return self._told(problem, way)
        raise AssertionError  # a look always ends in one of the two

    def _told(self, problem: BaseException, way: OpenRoute) -> UserError:
        return connect_error(
            problem,
            where=way.where,
            user=self._sql.user or self._subject(),
            host=self._entry.name,
            limit_s=self._login_s,
        )
