"""What a database server or its driver says, as sentences with advice.

Numbers: the error references dev.mysql.com/doc/mysql-errors and mariadb.com/kb/en/mariadb-error-code-reference.
"""

from __future__ import annotations

import ssl

import pymysql

from services.connections.budget import reached
from services.connections.dial import unreachable_from
from services.connections.limits import LOGIN_BYTES
from services.connections.sql.login_plugins import Withheld
from services.connections.sql.text_rows import ServerError
from services.connections.tls.policy import Road
from services.errors import (
    AuthFailed,
    OfflineMode,
    OtherProtocol,
    QueryFailed,
    TimedOut,
    TlsFailed,
    TlsMissing,
    Unreachable,
    UserError,
)
from services.i18n import mark, tr

_DENIED = {1045, 1044, 1698, 1820, 1862, 3118, 4151}
_NO_PLUGIN = {2012, 2059, 2061}
_OFFLINE = frozenset({3032, 6400, 6401})
"""ER_SERVER_OFFLINE_MODE, _REASON (what a member does that leaves its group in error), _USER (perror of 9.7.4)."""
_TIME_UP = {1969, 3024}  # ER_STATEMENT_TIMEOUT (MariaDB), ER_QUERY_TIMEOUT (MySQL)
MAX_MESSAGE_CHARS = 1000  # characters; a server's own messages have 512 bytes at most (mysql_com.h, MYSQL_ERRMSG_SIZE)
_GONE = {1053, 1077, 1079, 1080, 1152, 1159, 1160, 1161, 1184, 1927}  # shutdown, aborted, killed

_LOGIN_ADVICE = {
    1040: mark(
        "Wait, or free connections: all of the server's max_connections are in use (one is reserved for SUPER)."
    ),
    1129: mark("Find out what failed to connect so often, then run FLUSH HOSTS on the server (max_connect_errors)."),
    1130: "Create the account for the address you come from: SELECT user, host FROM mysql.user shows those there are.",
    1203: mark("Close other sessions of this account, or raise its max_user_connections."),
    1226: mark("Raise the account's MAX_USER_CONNECTIONS or per-hour limits, or wait."),
    **dict.fromkeys(
        _OFFLINE,
        mark(
            "Find out why in its log: a member that leaves its group with an error does this. Then set "
            "offline_mode = OFF."
        ),
    ),
}


def connect_error(
    problem: BaseException, *, where: str, user: str, host: str, limit_s: float, tls: str, road: Road = "open"
) -> UserError:
    """Return the error for a connection or login that failed.

    Args:
        problem: what the driver raised; where: "db1 port 3306", or a socket; tls: the mode asked for.
        road: what lies between here and the server.
    """
    number, text = _parts(problem)
    cause = _cause(problem)
    if isinstance(cause, ssl.SSLError):
        return tls_error(cause, where, host)
    refused: TlsFailed | Unreachable | None
    if isinstance(problem, Withheld):
        refused = _withheld(problem, where, user, tls if road == "open" else road, host)
    else:
        refused = _tls_refusal(number, text, where, tls, host) or _no_login_yet(problem, where, host)
    if refused is not None:
        return refused
    if number in _DENIED:
        return AuthFailed(
            tr("The server on {where} refused the login of {user}: {text}.", where=where, user=user, text=text),
            host=host,
            try_=(tr("Check the password, and that the account exists for the address of this client."),),
        )
    if number in _LOGIN_ADVICE:
        kind = OfflineMode if number in _OFFLINE else Unreachable
        return kind(
            tr("The server on {where} accepted no connection: {text}.", where=where, text=text),
            host=host,
            try_=(tr(_LOGIN_ADVICE[number]),),
        )
    if reached(problem) == "time" or isinstance(cause, TimeoutError) or "timed out" in text:
        waited = getattr(cause, "limit_s", limit_s)  # a NoGreeting's
        return TimedOut(
            tr("The server on {where} did not answer the login within {limit:g} s.", where=where, limit=waited),
            host=host,
            try_=(tr("Check that the server is not stopped, overloaded or out of disk."),),
        )
    if isinstance(cause, OSError) and number == 2003:
        return unreachable_from(
            cause,
            address=where.partition(" ")[0],
            port=_port(where),
            what=tr("the database"),
            host=host,
            limit_s=limit_s,
        )
    if number in _NO_PLUGIN or "uthentication plugin" in text:
        return AuthFailed(
            tr("The server on {where} requires an unsupported login method: {text}.", where=where, text=text), host=host
        )
    return _ended(text, where, host)


def _ended(text: str, where: str, host: str) -> Unreachable:
    """Return a login that broke off; bytes that are no packet of the protocol come from another service."""
    if "Packet sequence number wrong" in text:  # PyMySQL's word for them
        told_of = tr("What listens on {where} does not speak the MySQL protocol.", where=where)
        return OtherProtocol(told_of, host=host, try_=(tr("Check the port: another service may use it."),))
    return Unreachable(
        tr("The server on {where} ended the login: {text}.", where=where, text=text),
        host=host,
        try_=(tr("Check that this is the database's port, and read the server's error log."),),
    )


def why_to_ask(problem: BaseException) -> str:
    """Return why a person has to judge the certificate, where that is what ended a connection, else ''."""
    if isinstance(problem, Withheld):
        asked = tr("the server asks for the password itself, by {plugin}", plugin=problem.plugin)
        return asked if problem.encrypted else ""
    cause = _cause(problem)
    return cause.verify_message.rstrip(".") if isinstance(cause, ssl.SSLCertVerificationError) else ""


def _no_login_yet(problem: BaseException, where: str, host: str) -> Unreachable | None:
    """Return the error for what answers otherwise than a database server: too much, or bytes that are no greeting."""
    if reached(problem) == "size":
        return Unreachable(
            tr(
                "The server on {where} sent more than {n} kB before the login was complete.",
                where=where,
                n=LOGIN_BYTES // 1024,
            ),
            host=host,
            try_=(tr("Check that this is the database's port, and that it is the right machine."),),
        )
    if isinstance(problem, pymysql.MySQLError | OSError | EOFError):
        return None
    return OtherProtocol(
        tr("What answers on {where} does not follow the protocol of a database server.", where=where),
        host=host,
        try_=(tr("Check that this is the database's port, and that nothing in between changes its data."),),
    )


def statement_error(problem: ServerError, *, host: str, limit_s: float) -> UserError:
    """Return the error for a statement the server answered with an error."""
    if problem.errno in _TIME_UP:
        return TimedOut(
            tr("The statement did not end within {limit:g} s and was stopped by the server.", limit=limit_s), host=host
        )
    if problem.errno in _OFFLINE:
        return OfflineMode(tr("The server ended the connection: {problem}.", problem=problem.message), host=host)
    if problem.errno in _GONE:
        return Unreachable(tr("The server ended the connection: {problem}.", problem=problem.message), host=host)
    return QueryFailed(
        tr("The server answered with error {errno}: {text}", errno=problem.errno, text=problem.message),
        host=host,
        errno=problem.errno,
    )


def _cause(problem: BaseException) -> BaseException:
    cause: BaseException = getattr(problem, "original_exception", None) or problem.__cause__ or problem
    return cause


_WAYS_TO_PROVE = {
    "off": mark('Go through SSH to the server\'s own socket (via = "socket"), or set tls to "verify" for this host.'),
    "tunnel": mark(
        'Go to the server\'s own socket (via = "socket"): any user of the host may listen on a port. Or enable '
        'TLS on the server, with tls = "verify": you are then asked once about its certificate.'
    ),
    "socket": mark(
        "Put the server's socket in a folder of its own, such as /run/mysqld: in a folder where others can "
        "create files, any of them can listen in its place."
    ),
}


def _withheld(problem: Withheld, where: str, user: str, way: str, host: str) -> TlsFailed:
    """Return the error for a password that was asked for in the clear by somebody who need not be the server.

    way: the road where it is not an open one, else the TLS mode.
    """
    advice = mark(
        'Set tls to "verify" for this host: the certificate is then verified, or you are asked once about it.'
    )
    advice = tr(_WAYS_TO_PROVE.get(way, advice))
    return TlsFailed(
        tr(
            "The server on {where} requests the cleartext password of {user} ({plugin}), and the server's "
            "identity is not verified.",
            where=where,
            user=user,
            plugin=problem.plugin,
        ),
        host=host,
        safe=tr("The password was not sent."),
        try_=(
            advice,
            tr("Or let the account log in with mysql_native_password or ed25519, which never send the password."),
        ),
    )


def _tls_refusal(number: int, text: str, where: str, tls: str, host: str) -> TlsFailed | None:
    if "SSL is required but" in text:
        return TlsMissing(
            tr(
                "The server on {where} offers no TLS, and {tls} requires it. Without TLS the server's "
                "identity cannot be verified, and everything can be read in transit.",
                where=where,
                tls=tls,
            ),
            host=host,
            safe=tr("No password was sent."),
            try_=(
                tr('Go through SSH: via = "tunnel", for a server that listens on 127.0.0.1 of its host, or "socket".'),
                tr(
                    'Or watch it unencrypted: tls = "off". Results can then be read in transit; the password '
                    "is never sent, only proven (mysql_native_password, ed25519)."
                ),
                tr("Or enable TLS on the server (ssl_cert, ssl_key)."),
            ),
        )
    if number == 3159 or "insecure transport are prohibited" in text:
        return TlsFailed(
            tr("The server on {where} accepts only TLS connections (require_secure_transport).", where=where),
            host=host,
            try_=(tr('Set tls to "verify" for this host.'),),
        )
    return None


def tls_error(cause: ssl.SSLError, where: str, host: str) -> TlsFailed:
    """Return the error for a TLS handshake that failed."""
    safe = tr("No password was sent.")
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = cause.verify_message.rstrip(".")
        advice = tr(
            "Check `ca` for this host: the file must contain the authority that signed the server's certificate."
        )
        if "mismatch" in why.lower() or "not valid for" in why.lower():
            advice = tr('Use the name or address for which the certificate was issued, or set tls to "verify-ca".')
        return TlsFailed(
            tr("The certificate of {where} is not accepted: {why}.", where=where, why=why),
            host=host,
            safe=safe,
            try_=(advice,),
        )
    return TlsFailed(
        tr("TLS with {where} failed: {why}.", where=where, why=cause.reason or cause), host=host, safe=safe
    )


def _parts(problem: BaseException) -> tuple[int, str]:
    """Return the server's or driver's number (0 when none) and text."""
    args = problem.args
    if len(args) >= 2 and isinstance(args[0], int):
        return args[0], str(args[1])[:MAX_MESSAGE_CHARS].rstrip(".")
    return 0, str(problem)[:MAX_MESSAGE_CHARS].rstrip(".") or type(problem).__name__


def _port(where: str) -> int:
    _, _, port = where.rpartition(" ")
    return int(port) if port.isascii() and port.isdigit() else 0
