"""Server and driver errors as sentences with advice."""

from __future__ import annotations

import ssl

import pymysql
import pytest

from services.connections.sql.errors import connect_error, statement_error
from services.connections.sql.text_rows import ServerError
from services.errors import (
    AuthFailed,
    OfflineMode,
    QueryFailed,
    TimedOut,
    TlsFailed,
    TlsMissing,
    Unreachable,
    UserError,
)


def told(problem: BaseException) -> UserError:
    return connect_error(problem, where="db1 port 3306", user="obs", host="db1", limit_s=3.0, tls="verify-ca")


def wrapped(cause: OSError) -> pymysql.OperationalError:
    problem = pymysql.OperationalError(2003, f"Can't connect to MySQL server on 'db1' ({cause})")
    problem.original_exception = cause  # type: ignore[attr-defined] # as PyMySQL's connect does
    return problem


@pytest.mark.parametrize(
    ("problem", "kind", "words"),
    [
        (pymysql.OperationalError(1045, "Access denied for user 'obs'"), AuthFailed, "refused the login of obs"),
        (pymysql.OperationalError(1130, "Host '10.0.0.9' is not allowed to connect"), Unreachable, "not allowed"),
        (pymysql.OperationalError(1129, "Host is blocked"), Unreachable, "blocked"),
        (pymysql.OperationalError(1040, "Too many connections"), Unreachable, "Too many connections"),
        (pymysql.OperationalError(3032, "The server is currently in offline mode"), OfflineMode, "offline mode"),
        (
            pymysql.OperationalError(6400, "The server is currently in offline mode since 2026, reason: (GR) leave"),
            OfflineMode,
            "(GR) leave",
        ),
        (pymysql.OperationalError(6401, "offline mode since 2026, set by user root"), OfflineMode, "set by user root"),
        (pymysql.OperationalError(4151, "Access denied, this account is locked"), AuthFailed, "locked"),
        (pymysql.OperationalError(2026, "SSL is required but the server doesn't support it"), TlsMissing, "no TLS"),
        (pymysql.OperationalError(3159, "insecure transport are prohibited"), TlsFailed, "accepts only TLS"),
        (pymysql.OperationalError(2059, "Authentication plugin 'x' not configured"), AuthFailed, "unsupported login"),
        (wrapped(TimeoutError("timed out")), TimedOut, "within 3 s"),
        (wrapped(ConnectionResetError(104, "Connection reset by peer")), Unreachable, "reset by peer"),
        (
            pymysql.OperationalError(2013, "Lost connection to MySQL server during query"),
            Unreachable,
            "Lost connection",
        ),
    ],
)
def test_that_a_failed_connection_is_told_by_its_kind(problem: Exception, kind: type[UserError], words: str) -> None:
    found = told(problem)
    assert type(found) is kind
    assert words in str(found)
    assert found.host == "db1"


def test_that_every_login_refusal_brings_advice() -> None:
    for number in (1045, 1130, 1129, 1040, 1203, 1226, 3032, 3159, 6400, 6401):
        assert told(pymysql.OperationalError(number, "text")).try_


def test_that_a_certificate_for_another_name_and_one_of_another_authority_get_different_advice() -> None:
    name = ssl.SSLCertVerificationError(1, "x")
    name.verify_message = "Hostname mismatch, certificate is not valid for 'db1'."
    authority = ssl.SSLCertVerificationError(1, "x")
    authority.verify_message = "unable to get local issuer certificate"
    assert "verify-ca" in told(wrapped(name)).try_[0]
    assert "`ca`" in told(wrapped(authority)).try_[0]
    assert told(wrapped(name)).safe == "No password was sent."


@pytest.mark.parametrize(
    ("errno", "kind"),
    [
        (1969, TimedOut),
        (3024, TimedOut),
        (1053, Unreachable),
        (1927, Unreachable),
        (3032, OfflineMode),
        (6400, OfflineMode),
        (1142, QueryFailed),
    ],
)
def test_that_a_statements_error_is_told_by_its_number(errno: int, kind: type[UserError]) -> None:
    found = statement_error(ServerError(errno, "words"), host="db1", limit_s=2.0)
    assert type(found) is kind
    if isinstance(found, QueryFailed):
        assert found.errno == errno


def test_that_what_speaks_another_protocol_is_told_as_that_with_advice() -> None:
    garbage = told(pymysql.InternalError("Packet sequence number wrong - got 69 expected 0"))
    assert "does not speak the MySQL protocol" in str(garbage)
    assert garbage.try_
    assert told(pymysql.OperationalError(2013, "Lost connection")).try_
