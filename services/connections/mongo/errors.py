"""What a MongoDB server says or does, as sentences with advice.

Numbers: MongoDB manual, "Error Codes"; source of 3.2, src/mongo/base/error_codes.err.
"""

from __future__ import annotations

import ssl

from services.connections.budget import reached
from services.connections.mongo.change import ROLES_TO_CHANGE
from services.connections.mongo.document import Document
from services.connections.mongo.login import LEAST_WIRE, MOST_WIRE, OtherWire
from services.connections.mongo.scram import BadProof
from services.connections.mongo.wire import CommandFailed
from services.connections.sql.errors import tls_error
from services.connections.sql.text_rows import BadReply
from services.errors import AuthFailed, OtherProtocol, QueryFailed, TimedOut, TlsMissing, Unreachable, UserError
from services.i18n import tr
from services.visible import as_line

UNAUTHORIZED = 13
LOGIN_FAILED = 18
USER_UNKNOWN = 11
"""UserNotFound: what 3.2 answers to a certificate without an account."""
NO_COMMAND = 59
NO_REPLICA_SET = 76
NOT_YET_INITIATED = 94
NO_NAMESPACE = 26
REMOVED_FROM_SET = 93
"""InvalidReplicaSetConfig: the member stands in no configuration that it knows."""
TIME_UP = 50
"""ExceededTimeLimit, which newer servers call MaxTimeMSExpired; what they call ExceededTimeLimit is 262."""
_TIME_UP = {TIME_UP, 262}
_NO_LOGIN = {UNAUTHORIZED, LOGIN_FAILED, USER_UNKNOWN}
_GOING = {91, 11600, 11602}  # ShutdownInProgress, InterruptedAtShutdown, InterruptedDueToReplStateChange
_MOST_WORDS = 300
_WRITES = frozenset({"insert", "update"})
"""What always writes something where a plan sends it; a delete finds nothing the second time."""


def connect_error(problem: BaseException, *, where: str, user: str, host: str, limit_s: float) -> UserError:
    """Return the error for a connection or login that failed; where: "db1 port 27017", or a socket."""
    if isinstance(problem, ssl.SSLError):
        return tls_error(problem, where, host)
    if isinstance(problem, OtherWire):
        return _other_wire(problem, where, host)
    if isinstance(problem, BadProof):
        return AuthFailed(
            tr("The login at {where} was not completed: {why}.", where=where, why=problem),
            host=host,
            try_=(tr("Check that this is the database's port, and that it is the right machine."),),
        )
    if isinstance(problem, CommandFailed):
        return _refused(problem, where, user, host)
    if isinstance(problem, TimeoutError) or reached(problem) == "time":
        return TimedOut(
            tr("The server on {where} did not answer the login within {limit:g} s.", where=where, limit=limit_s),
            host=host,
            try_=(tr("Check that the server is not stopped, overloaded or out of disk."),),
        )
    if isinstance(problem, BadReply) or reached(problem) == "size":
        return OtherProtocol(
            tr("What answers on {where} does not speak MongoDB's protocol.", where=where),
            host=host,
            try_=(tr("Check the port: another service may use it."),),
        )
    return Unreachable(
        tr("The server on {where} closed the connection before the login was complete.", where=where),
        host=host,
        try_=(
            tr(
                "Check that this is the database's port. A server that requires TLS closes a connection without "
                "TLS, and vice versa."
            ),
        ),
    )


def no_tls(where: str, tls: str, host: str) -> TlsMissing:
    """Return the error for a server that broke off at the first words of TLS, where TLS is asked for."""
    return TlsMissing(
        tr(
            "The server on {where} closed the connection at the start of TLS, as a server without TLS does, "
            "and {tls} requires TLS. Without it the server's identity cannot be verified, and everything can "
            "be read in transit.",
            where=where,
            tls=tls,
        ),
        host=host,
        safe=tr("No password was sent."),
        try_=(
            tr('Go through SSH: via = "tunnel", for a server that listens on 127.0.0.1 of its host, or "socket".'),
            tr(
                'Or watch it unencrypted: tls = "off". Results can then be read in transit; the password is '
                "never sent, only proven (SCRAM)."
            ),
            tr("Or enable TLS on the server (net.ssl.mode)."),
        ),
    )


def write_error(name: str, answer: Document) -> CommandFailed | None:
    """Return why a write was not made, or not by as many as were asked for, of an answer that says ok; None: it was.

    MongoDB manual, "insert": writeErrors and writeConcernError stand beside ok: 1, and `n` counts what was written. An
    error of another form is one too, and an answer that counts nothing shows no write.

    Args:
        name: of the command.
    """
    told = answer.get("writeErrors") or answer.get("writeConcernError")
    count = answer.get("n")
    if not told and (name not in _WRITES or (isinstance(count, int | float) and count > 0)):
        return None
    first = told[0] if isinstance(told, list) else told
    found = first if isinstance(first, dict) else {}
    code, words = found.get("code"), found.get("errmsg")
    return CommandFailed(
        code if isinstance(code, int) else 0, str(words or tr("the write was not made, and the server gives no reason"))
    )


def command_error(problem: CommandFailed, *, host: str) -> UserError:
    """Return the error for a command that the server answered with an error."""
    words = as_line(problem.message, _MOST_WORDS)
    if problem.code in _TIME_UP:
        return TimedOut(
            tr("The server stopped the command at a time limit: {text}", text=words or problem.code), host=host
        )
    if problem.code in _GOING:
        return Unreachable(tr("The server ended the command: {problem}.", problem=words), host=host)
    if problem.code == UNAUTHORIZED:
        error = QueryFailed(
            tr("The account is not authorized for this command: {text}", text=words or tr("not authorized")),
            host=host,
            errno=13,
        )
        error.try_ = (tr('Give it the role "clusterMonitor" of the database admin, and "read" of config and local.'),)
        return error
    return QueryFailed(
        tr("The server answered with error {errno}: {text}", errno=problem.code, text=words),
        host=host,
        errno=problem.code,
    )


def of_a_change(error: UserError) -> UserError:
    """Return the error of a change with the roles that a change needs."""
    if isinstance(error, QueryFailed) and error.errno == UNAUTHORIZED:
        error.try_ = (tr(ROLES_TO_CHANGE),)
    return error


def _refused(problem: CommandFailed, where: str, user: str, host: str) -> UserError:
    words = as_line(problem.message, _MOST_WORDS).removesuffix(".")
    if problem.code in _NO_LOGIN:
        return AuthFailed(
            tr("The server on {where} refused the login of {user}: {text}.", where=where, user=user, text=words),
            host=host,
            try_=(tr("Check the password, and the database that has the account."),),
        )
    return Unreachable(
        tr("The server on {where} accepted no connection: {text}.", where=where, text=words or problem.code), host=host
    )


def _other_wire(problem: OtherWire, where: str, host: str) -> OtherProtocol:
    if problem.most < LEAST_WIRE:
        return OtherProtocol(
            tr("The server on {where} is older than MongoDB 3.2, the oldest supported release.", where=where),
            host=host,
            try_=(tr("Upgrade it to 3.2 first."),),
        )
    return OtherProtocol(
        tr(
            "The server on {where} supports only wire versions {least} to {most}; this program supports "
            "versions up to {known}.",
            where=where,
            least=problem.least,
            most=problem.most,
            known=MOST_WIRE,
        ),
        host=host,
    )
