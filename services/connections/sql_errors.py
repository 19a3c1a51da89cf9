"""What a database server or its driver says, as sentences with advice.

Numbers: the error references dev.mysql.com/doc/mysql-errors and mariadb.com/kb/en/mariadb-error-code-reference.
"""

from __future__ import annotations

import ssl

from services.connections.dial import told
from services.connections.text_rows import ServerError
from services.errors import AuthFailed, QueryFailed, TimedOut, TlsFailed, Unreachable, UserError
from services.words import mark, tr

_DENIED = {1045, 1044, 1698, 1820, 1862, 3118, 4151}
_NO_PLUGIN = {2012, 2059, 2061}
_TIME_UP = {1969, 3024}  # ER_STATEMENT_TIMEOUT (MariaDB), ER_QUERY_TIMEOUT (MySQL)
_GONE = {1053, 1077, 1079, 1080, 1152, 1159, 1160, 1161, 1184, 1927}  # shutdown, aborted, killed

_LOGIN_ADVICE = {
    1040: mark("Wait, or free connections: the server's max_connections are in use (SUPER has one in reserve)."),
    1129: mark(
        "Unblock with FLUSH HOSTS on the server (max_connect_errors), after finding what failed to connect so often."
    ),
    1130: "Create the account for the address you come from: SELECT user, host FROM mysql.user shows those there are.",
    1203: mark("Close other sessions of this account, or raise its max_user_connections."),
    1226: mark("Raise the account's MAX_USER_CONNECTIONS or per-hour limits, or wait."),
}


def connect_error(problem: BaseException, *, where: str, user: str, host: str, limit_s: float, tls: str) -> UserError:
    """Return the error for a connection or login that failed.

    Args:
        problem: what the driver raised; where: "db1 port 3306", or a socket; tls: the mode asked for.
    """
    number, text = _parts(problem)
    cause = getattr(problem, "original_exception", None) or problem.__cause__ or problem
    if isinstance(cause, ssl.SSLError):
        return _tls_error(cause, where, host)
    if (refused := _tls_refusal(number, text, where, tls, host)) is not None:
        return refused
    if number in _DENIED:
        return AuthFailed(
            tr("The server on {where} refused the login of {user}: {text}.", where=where, user=user, text=text),
            host=host,
            try_=(tr("Check the password, and that the account exists for the address you come from."),),
        )
    if number in _LOGIN_ADVICE:
        return Unreachable(
            tr("The server on {where} took no connection: {text}.", where=where, text=text),
            host=host,
            try_=(tr(_LOGIN_ADVICE[number]),),
        )
    if isinstance(cause, TimeoutError) or "timed out" in text:
        return TimedOut(
            tr("The server on {where} did not answer the login within {limit:g} s.", where=where, limit=limit_s),
            host=host,
            try_=(tr("Check that the server is not stopped, overloaded or out of disk."),),
        )
    if isinstance(cause, OSError) and number == 2003:
        return told(
            cause,
            address=where.partition(" ")[0],
            port=_port(where),
            what=tr("the database"),
            host=host,
            limit_s=limit_s,
        )
    if number in _NO_PLUGIN or "uthentication plugin" in text:
        return AuthFailed(
            tr("The server on {where} wants a login this program can't do: {text}.", where=where, text=text), host=host
        )
    return Unreachable(tr("The server on {where} ended the login: {text}.", where=where, text=text), host=host)


def statement_error(problem: ServerError, *, host: str, limit_s: float) -> UserError:
    """Return the error for a statement the server answered with an error."""
    if problem.errno in _TIME_UP:
        return TimedOut(
            tr("The statement did not end within {limit:g} s and was stopped by the server.", limit=limit_s), host=host
        )
    if problem.errno in _GONE:
        return Unreachable(tr("The server ended the connection: {problem}.", problem=problem.message), host=host)
    return QueryFailed(
        tr("The server answered with error {errno}: {text}", errno=problem.errno, text=problem.message),
        host=host,
        errno=problem.errno,
    )


def _tls_refusal(number: int, text: str, where: str, tls: str, host: str) -> TlsFailed | None:
    if "SSL is required but" in text:
        return TlsFailed(
            tr("The server on {where} offers no TLS, and {tls} asks for it.", where=where, tls=tls),
            host=host,
            safe=tr("No password was sent."),
            try_=(tr("Switch TLS on at the server (ssl_cert, ssl_key, ssl_ca), or set tls to prefer for this host."),),
        )
    if number == 3159 or "insecure transport are prohibited" in text:
        return TlsFailed(
            tr("The server on {where} only takes TLS connections (require_secure_transport).", where=where),
            host=host,
            try_=(tr("Set tls to prefer, verify-ca or verify-identity for this host."),),
        )
    return None


def _tls_error(cause: ssl.SSLError, where: str, host: str) -> TlsFailed:
    safe = tr("No password was sent.")
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = cause.verify_message.rstrip(".")
        advice = tr("Check `ca` for this host: the file must hold the authority that signed the server's certificate.")
        if "mismatch" in why.lower() or "not valid for" in why.lower():
            advice = tr("Use the name or address the certificate was made for, or set tls to verify-ca.")
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
        return args[0], str(args[1]).rstrip(".")
    return 0, str(problem).rstrip(".") or type(problem).__name__


def _port(where: str) -> int:
    _, _, port = where.rpartition(" ")
    return int(port) if port.isdigit() else 0
