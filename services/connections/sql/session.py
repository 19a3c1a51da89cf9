"""One session to one server: opened once, set up, asked within limits, cut from any thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from services.connections.budget import LimitReached, UnderWay
from services.connections.dial import hang_up
from services.connections.limits import Limits
from services.connections.ports import Rows
from services.connections.sql import setup as sql_setup
from services.connections.sql.errors import connect_error, statement_error, why_to_ask
from services.connections.sql.mysql_wire import Account, MySqlWire, certificate_of
from services.connections.sql.text_rows import BadReply, ServerError
from services.connections.tls.known_certificates import Pin, changed, name_of, pins_of, unknown
from services.connections.tls.policy import Proof, Road, Trust, WrongCertificate, trust_for
from services.connections.tunnels import OpenRoute, open_way
from services.errors import BadInput, NotThatServer, TimedOut, Unreachable, UserError
from services.i18n import tr

if TYPE_CHECKING:
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry, SqlAccess
    from services.secrets import Vault

T = TypeVar("T")

# The server is asked to stop a little before we stop waiting, so that its own words arrive.
_SERVER_SHARE = 0.9
_LEAST_CONNECT_S = 2.0
_LEAST_LOGIN_S = 5.0
"""Greeting, TLS, login and set-up are ten round trips one after another: 2 s of waiting over a VPN of 200 ms."""
_LEAST_STATEMENT_S = 0.01
_PORT_DIGITS = 5
_STATUS = "SHOW GLOBAL STATUS"


class SqlLink:
    """A standing session. Statements from one thread at a time; `abort` from any."""

    def __init__(self, wire: MySqlWire, way: OpenRoute, host: str) -> None:
        self._wire = wire
        self._way = way
        self._host = host
        self._server_limit = 0.0
        self._alive = True
        self._waiting = False

    @classmethod
    def open(
        cls,
        entry: HostEntry,
        vault: Vault,
        ssh: Callable[[], SshLink] | None,
        *,
        limits: Limits,
        limit_s: float,
        setup: tuple[str, ...] = sql_setup.ON_CONNECT,
        under_way: UnderWay | None = None,
    ) -> SqlLink:
        """Connect, log in and set the session up (by default as an observer's). Raises UserError subclasses only.

        Args:
            limit_s: of connecting, of the wait for a greeting, and of login and set-up together: not less than 2 s, 2 s
                and 5 s.
            under_way: gets the socket as it is made; cutting it ends this call with an error.
        """
        access = entry.sql
        if access is None:
            raise BadInput(tr("The inventory has no SQL connection to this host."), host=entry.name)
        limit = max(_LEAST_CONNECT_S, min(limits.handshake_s, limit_s))
        password = vault.get(access.password).reveal() if access.password is not None else ""
        way = open_way(entry, ssh, limits=limits, limit_s=limit, under_way=under_way)
        greeting = limit
        limit = max(limit, min(_LEAST_LOGIN_S, limits.handshake_s))
        deadline = time.monotonic() + limit
        pins: tuple[Pin, ...] = ()
        trust = Trust()
        try:
            if way.road != "socket" and access.tls == "verify" and access.ca is None:
                pins = pins_of(name_of(entry))
            trust = trust_for(access, way.road, tuple(pin.fingerprint for pin in pins), own=way.own)
            wire = MySqlWire(
                (under_way or UnderWay()).metered(way.sock),
                Account(access.user, password.encode("utf-8")),
                server_name=entry.address,
                trust=trust,
                road=way.road,
                limit_s=limit,
                most=limits.result_bytes,
                greeting_s=greeting,
            )
        except UserError:
            hang_up(way.sock)
            raise
        except WrongCertificate as problem:
            hang_up(way.sock)
            raise changed(entry, way.where, problem.fingerprint, pins) from problem
        except Exception as problem:  # bytes that are no greeting bring the driver to raise anything
            hang_up(way.sock)
            why = why_to_ask(problem) if trust.asks else ""
            if why:
                raise _question(entry, ssh, why, limits=limits, limit_s=limit) from problem
            raise _told(problem, way, access, entry.name, limit) from problem
        link = cls(wire, way, entry.name)
        link._set_up(setup, deadline, limit)
        if access.via == "socket" and (entry.on or entry.beside):
            link._refuse_another(entry, deadline)
        return link

    @property
    def alive(self) -> bool:
        """Return whether the session stands, as far as is known here."""
        return self._alive

    @property
    def version(self) -> str:
        """Return the server's version text."""
        return self._wire.version

    @property
    def where(self) -> str:
        """Return the end of the way, for sentences."""
        return self._way.where

    @property
    def road(self) -> Road:
        """Return what lies between here and the server."""
        return self._way.road

    @property
    def cipher(self) -> str:
        """Return TLS protocol and cipher, '' without TLS."""
        return self._wire.cipher

    @property
    def proof(self) -> Proof:
        """Return what says that this is the server (tls.Trust)."""
        return self._wire.proof

    def query(self, sql: str, *, limit_s: float) -> Rows:
        """Run one statement that the allow-list (an observer's) or an approved plan (an operator's) has let through."""
        return self._within(limit_s, lambda: self._wire.rows(sql, limit_s=limit_s))

    def status(self, *, limit_s: float) -> dict[str, str]:
        """Return SHOW GLOBAL STATUS."""
        return self._within(limit_s, lambda: self._wire.pairs(_STATUS, limit_s=limit_s))

    def abort(self) -> None:
        """Cut the session from any thread."""
        self._alive = False
        self._wire.abort()

    def close(self) -> None:
        """Say goodbye and close; where another thread waits for an answer, hang up: it wakes at once. Idempotent."""
        polite, self._alive = self._alive and not self._waiting, False
        if polite:
            self._wire.close()
        else:
            self._wire.abort()

    def _set_up(self, statements: tuple[str, ...], deadline: float, limit_s: float) -> None:
        for statement in statements:
            self._tolerant(statement, limit_s, left_s=max(_LEAST_STATEMENT_S, deadline - time.monotonic()))

    def _refuse_another(self, entry: HostEntry, deadline: float) -> None:
        """End a session with another server of a host that carries several: its state is not this one's."""
        left = max(_LEAST_STATEMENT_S, deadline - time.monotonic())
        try:
            rows = self._raw(lambda: self._wire.rows(sql_setup.OWN_PORT, limit_s=left), left).rows
        except ServerError as problem:
            self.close()
            raise statement_error(problem, host=self._host, limit_s=left) from problem
        told = str(rows[0][0]) if rows and rows[0] else ""
        own = int(told) if told.isascii() and told.isdigit() and len(told) <= _PORT_DIGITS else None
        if own is not None and not entry.is_another(own):
            return
        self.close()
        raise NotThatServer(
            tr("Another server answers at {where}: it reports port {port}.", where=self._way.where, port=told)
            if own is not None
            else tr("The server that answers at {where} reports no port.", where=self._way.where),
            host=self._host,
            try_=(tr('Give each server of the host its own "socket" in the inventory: SELECT @@socket, @@port.'),),
        )

    def _tolerant(self, statement: str, limit_s: float, *, left_s: float | None = None) -> None:
        """Run a set-up statement; what the server does not know, it goes without. `left_s`: of the limit."""
        left = limit_s if left_s is None else left_s
        try:
            self._raw(lambda: self._wire.rows(statement, limit_s=left), limit_s)
        except ServerError as problem:
            if problem.errno not in sql_setup.TOLERATED:
                self.close()
                raise statement_error(problem, host=self._host, limit_s=limit_s) from problem

    def _within(self, limit_s: float, call: Callable[[], T]) -> T:
        if limit_s != self._server_limit:
            self._tolerant(sql_setup.statement_limit(self._wire.version, limit_s * _SERVER_SHARE), limit_s)
            self._server_limit = limit_s
        try:
            return self._raw(call, limit_s)
        except ServerError as problem:
            error = statement_error(problem, host=self._host, limit_s=limit_s)
            if isinstance(error, Unreachable) and not isinstance(error, TimedOut):
                self.abort()
            raise error from problem

    def _raw(self, call: Callable[[], T], limit_s: float) -> T:
        """Call the wire; whatever leaves the reply half read ends the session. ServerError passes."""
        self._waiting = True
        try:
            return call()
        except (ServerError, UserError):
            raise
        except (TimeoutError, LimitReached) as problem:
            self.abort()
            raise TimedOut(
                tr("The server did not answer within {limit:g} s.", limit=limit_s),
                host=self._host,
                try_=(tr("Check that the server is not stopped, overloaded or out of disk."),),
            ) from problem
        except (OSError, EOFError) as problem:
            self.abort()
            why = f" ({problem})" if str(problem) else ""
            raise Unreachable(
                tr("The server on {where} closed the connection{why}.", where=self._way.where, why=why), host=self._host
            ) from problem
        except BadReply as problem:
            self.abort()
            raise Unreachable(
                tr("The reply of {where} cannot be used: {problem}.", where=self._way.where, problem=problem),
                host=self._host,
            ) from problem
        except Exception as problem:  # whatever else a reply that is none brings a reader or a driver to
            self.abort()
            raise Unreachable(
                tr("The reply of {where} cannot be used: it is not a valid reply.", where=self._way.where),
                host=self._host,
            ) from problem
        finally:
            self._waiting = False


def _told(problem: BaseException, way: OpenRoute, access: SqlAccess, host: str, limit_s: float) -> UserError:
    return connect_error(
        problem, where=way.where, user=access.user, host=host, limit_s=limit_s, tls=access.tls, road=way.road
    )


def _question(
    entry: HostEntry, ssh: Callable[[], SshLink] | None, why: str, *, limits: Limits, limit_s: float
) -> UserError:
    """Return what to ask about a certificate that was refused: it is looked at once more, and nobody logs in."""
    assert entry.sql is not None
    way = open_way(entry, ssh, limits=limits, limit_s=limit_s)
    try:
        certificate = certificate_of(way.sock, entry.address, limit_s=limit_s)
    except Exception as problem:  # noqa: BLE001 - bytes that are no greeting bring the driver to raise anything
        hang_up(way.sock)
        return _told(problem, way, entry.sql, entry.name, limit_s)
    return unknown(entry, way.where, certificate, why)
