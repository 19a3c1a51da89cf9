"""How the password may be proven, and to whom. A server names the plugin: that is a wish, and an old attack.

mysql_native_password and client_ed25519 answer a challenge: the password itself is not sent. caching_sha2_password
does so while the server remembers the account; else it wants the password, as sha256_password, mysql_clear_password
and dialog always do: readable, or under a key that anybody in the middle could have sent. That goes only to a peer that
is verified; SSH alone verifies the host, not who listens on its port. Sources:
dev.mysql.com/doc/dev/mysql-server/latest, "Caching_sha2_password information" and "Authentication Methods";
mariadb.com/kb/en/connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import _auth
from pymysql.constants import CR

if TYPE_CHECKING:
    from services.connections.sql.mysql_wire import _Connection

# What the first answer may be made for, unasked; for all others the server has to ask (an auth switch).
FIRST = frozenset({"mysql_native_password", "caching_sha2_password"})
_FAST_OK, _FULL = b"\x01\x03", b"\x01\x04"


class Withheld(pymysql.OperationalError):
    """The server asked for the password in a form that its peer could read, and nothing verifies it. Nothing went.

    encrypted: it speaks TLS, so that it has a certificate to be judged by.
    """

    def __init__(self, plugin: str, *, encrypted: bool) -> None:
        super().__init__(CR.CR_AUTH_PLUGIN_ERR, plugin)
        self.plugin = plugin
        self.encrypted = encrypted


class _Plugin:
    """One login by one plugin."""

    name = ""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def _withheld(self) -> Withheld:
        return Withheld(self.name, encrypted=bool(self._connection.cipher()))

    def _reply(self, data: bytes) -> Any:
        self._connection.write_packet(data)
        return self._next()

    def _next(self) -> Any:
        reply = self._connection._read_packet()  # noqa: SLF001 - what PyMySQL's own plugins use
        reply.check_error()
        return reply


class _Readable(_Plugin):
    """The password as it is, with a zero at its end."""

    def authenticate(self, _packet: object) -> object:
        """Send the password, or refuse."""
        if not self._connection.trust.verified:
            raise self._withheld()
        return self._reply(self._connection.password + b"\0")


class _Clear(_Readable):
    name = "mysql_clear_password"


class _Dialog(_Readable):
    name = "dialog"


class _Sha256(_Plugin):
    name = "sha256_password"

    def authenticate(self, packet: object) -> object:
        """Let PyMySQL send it (over TLS as it is, on a socket under the server's key), or refuse."""
        if not self._connection.trust.verified:
            raise self._withheld()
        sent: object = _auth.sha256_password_auth(self._connection, packet)  # type: ignore[no-untyped-call]
        return sent


class _CachingSha2(_Plugin):
    name = "caching_sha2_password"

    def authenticate(self, packet: Any) -> object:
        """Answer the challenge; whoever is not verified gets no more than that."""
        connection = self._connection
        if connection.trust.verified or not connection.password:
            return _auth.caching_sha2_password_auth(connection, packet)
        if packet.is_auth_switch_request():
            salt = packet.read_all().removesuffix(b"\0")
            packet = self._reply(_auth.scramble_caching_sha2(connection.password, salt))
        said = packet.get_all_data()[:2]
        if said == _FULL:
            raise self._withheld()
        if said != _FAST_OK:
            raise pymysql.OperationalError(CR.CR_AUTH_PLUGIN_ERR, "Authentication plugin: an unknown answer")
        return self._next()


HANDLERS = {kind.name: kind for kind in (_Clear, _Dialog, _Sha256, _CachingSha2)}
KNOWN = frozenset({"mysql_native_password", "client_ed25519", *HANDLERS})
