"""A statement through the server's own command line client on the host, as root over the Unix socket: pure parts.

`--batch` separates values by tabs, puts the names first and escapes tab, newline, NUL and backslash (MariaDB KB
"mariadb Command-line Client", --batch). The statement is its standard input, so `ps` shows nothing of it.
"""

from __future__ import annotations

import re

from services.connections.command import Command
from services.connections.operator.roots_client import roots_client
from services.connections.ports import Output, Rows
from services.connections.sql.errors import connect_error, statement_error
from services.connections.sql.text_rows import ServerError
from services.errors import QueryFailed, UserError
from services.secrets import Secret

PROGRAMS = ("mariadb", "mysql")
_ERROR = re.compile(r"^ERROR (\d+)(?: \([0-9A-Z]+\))?(?: at line \d+)?: (.*)$", re.MULTILINE)
_ESCAPED = {"\\t": "\t", "\\n": "\n", "\\0": "\0", "\\\\": "\\"}
_CLIENT_ERRORS = range(2000, 2100)
_LOGIN_ERRORS = frozenset({1040, 1044, 1045, 1129, 1130, 1203, 1226, 1698})


def command(program: str, sql: str, socket: str | None, limit_s: float) -> Command:
    """Return the client's command. MariaDB's client also limits the statement's time (max_statement_time, seconds).

    Who has the server's account may answer on its socket: root's client gives no file away, whatever its files say.
    """
    where = (f"--socket={socket}",) if socket else ()
    limit = f"SET SESSION max_statement_time={limit_s * 0.9:.3f};\n" if program == "mariadb" else ""
    return Command(roots_client(program, *where), sudo=True, stdin=Secret(f"{limit}{sql};\n"))


def is_missing(output: Output) -> bool:
    """Return whether there is no such program (the shell says 127; sudo says 1 and 'command not found')."""
    text = output.stderr.decode("utf-8", "replace")
    return bool(output.exit_code) and bool(re.search(r"(command )?not found", text)) and not _ERROR.search(text)


def rows(output: Output, *, host: str, limit_s: float) -> Rows:
    """Return what the client printed; raise the server's error as the SQL road would."""
    if output.exit_code:
        raise _error(output, host, limit_s)
    if not output.stdout:
        return Rows((), ())
    lines = output.stdout.decode("utf-8", "replace").removesuffix("\n").split("\n")  # whole: a cell may be long
    names, *values = (tuple(_value(cell) for cell in line.split("\t")) for line in lines)
    return Rows(tuple(name or "NULL" for name in names), tuple(values))


def _value(cell: str) -> str | None:
    if cell == "NULL":
        return None
    return re.sub(r"\\[tn0\\]", lambda found: _ESCAPED[found.group()], cell)


def _error(output: Output, host: str, limit_s: float) -> UserError:
    text = output.error_text
    found = _ERROR.search(text)
    if found is None:
        return QueryFailed(f"The client on the host ended with exit code {output.exit_code}: {text}", host=host)
    number, words = int(found.group(1)), found.group(2)
    if number in _CLIENT_ERRORS or number in _LOGIN_ERRORS:
        problem = OSError(number, words)
        return connect_error(problem, where="the host's own socket", user="root", host=host, limit_s=limit_s, tls="off")
    return statement_error(ServerError(number, words), host=host, limit_s=limit_s)
