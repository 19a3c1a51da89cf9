"""The one gate of the Observer road: a read by its name becomes its text, and nothing else becomes any.

What was bound once is remembered: a poll each second costs a look-up. The first time, what comes out is held against
the grammar as well (allowlist), so that a text which should never have been registered is not sent either.
"""

from __future__ import annotations

import functools

from services.connections.command import Command
from services.connections.observer.allowlist import check_command, check_statement
from services.connections.reads.commands import COMMANDS
from services.connections.reads.read import CommandRead, SqlRead
from services.connections.reads.statements import HEARTBEAT, STATEMENTS
from services.errors import Refused
from services.i18n import tr

_REMEMBERED = 1024


def statement_of(read: SqlRead) -> str:
    """Return the statement that is sent. Raises Refused for whatever is no read of the registry."""
    if type(read) is not SqlRead:
        raise _no_read()
    return _statement(read)


def command_of(read: CommandRead) -> Command:
    """Return the command that is run. Raises Refused for whatever is no read of the registry."""
    if type(read) is not CommandRead:
        raise _no_read()
    return _command(read)


def program_of(read: CommandRead) -> str:
    """Return the program that a read runs, for sentences. Raises Refused for whatever is no read of the registry."""
    return command_of(read).argv[0]


def heartbeat_table(read: SqlRead) -> str | None:
    """Return the "schema.table" that a read of a heartbeat is about, None for any other read."""
    return ".".join(map(str, read.values)) if read.name == HEARTBEAT.name else None


@functools.lru_cache(maxsize=_REMEMBERED)
def _statement(read: SqlRead) -> str:
    template = STATEMENTS.get(read.name)
    if template is None:
        raise _unknown(read.name)
    text = template.bound(read.values)
    check_statement(text, heartbeat_table=heartbeat_table(read))
    return text


@functools.lru_cache(maxsize=_REMEMBERED)
def _command(read: CommandRead) -> Command:
    template = COMMANDS.get(read.name)
    if template is None:
        raise _unknown(read.name)
    command = template.bound(read)
    check_command(command)
    return command


def _unknown(name: str) -> Refused:
    shown = name if name.isascii() and name.isprintable() and len(name) <= 40 else tr("a name that it does not know")
    return Refused(
        tr("The Observer refuses '{shown}': its registry has no read with that name.", shown=shown),
        safe=tr("Nothing was sent to the host."),
        try_=(tr("The permitted reads are listed in resources/docs/observer.md."),),
    )


def _no_read() -> Refused:
    return Refused(
        tr("The Observer refuses free text: it accepts only the named reads of its registry."),
        safe=tr("Nothing was sent to the host."),
        try_=(tr("The permitted reads are listed in resources/docs/observer.md."),),
    )
