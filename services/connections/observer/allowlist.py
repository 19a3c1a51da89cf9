"""The grammar of the permitted reads (law 2). Whatever is not on a list is refused.

The Observer sends only named reads of a registry (connections/reads). Three more guards back it up: this grammar, which
checks each read when it is first bound; a session whose transactions are read-only (connections/sql/setup.py); and an
account without the privilege to change anything (resources/docs/observer.md).

Statements: a tokenizer that accepts only text with the same meaning in every sql_mode of a server (tokens.py), then a
small grammar (select.py) or a pattern (show.py). Commands: a rule per program (commands.py).
"""

from __future__ import annotations

from services.connections.command import Command
from services.connections.observer.commands import check_words
from services.connections.observer.select import Grammar
from services.connections.observer.show import check_show
from services.connections.observer.tokens import Token, tokens_of
from services.errors import Refused
from services.i18n import tr

_ENVIRONMENT = {"LC_ALL", "LANG"}
_LOCALES = {"C", "POSIX", "C.UTF-8"}


def check_statement(sql: str, *, heartbeat_table: str | None = None) -> None:
    """Raise Refused, with a sentence that says why, unless `sql` is one read of the list.

    Args:
        heartbeat_table: "schema.table" of this host's inventory entry, readable besides the listed ones.
    """
    tokens = tokens_of(sql)
    first = tokens[0]
    if first.kind == "word" and first.text in {"select", "with"}:
        Grammar(tokens, heartbeat_table).statement()
    elif first.kind == "word" and first.text == "show":
        check_show(tokens)
    elif first.kind == "word" and first.text == "checksum":
        _check_checksum(tokens)
    else:
        what = f"{first.text.upper()} statements" if first.kind == "word" else tr("a statement that starts like this")
        raise Refused(
            f"The Observer road refuses {what}: it sends SHOW, SELECT and CHECKSUM TABLE only.",
            safe=tr("Nothing was sent to the server."),
            try_=(tr("Only the steps of a procedure make changes, with a plan and a journal."),),
        )


def _check_checksum(tokens: tuple[Token, ...]) -> None:
    """Let CHECKSUM TABLE through for one table, both its names in backticks. It reads, and writes nothing."""
    kinds = tuple(token.kind for token in tokens)
    if kinds == ("word", "word", "name", "op", "name", "end") and (tokens[1].text, tokens[3].text) == ("table", "."):
        return
    raise Refused(
        tr("The Observer refuses a CHECKSUM of anything other than one table of one schema."),
        safe=tr("Nothing was sent to the server."),
    )


def check_command(command: Command) -> None:
    """Raise Refused, with a sentence that says why, unless `command` is one read of the list, with or without sudo."""
    program = command.argv[0]
    if command.stdin is not None:
        raise _refused(program, tr("it has input, and reads take no input"))
    for name, value in command.environment:
        if name not in _ENVIRONMENT or value not in _LOCALES:
            raise _refused(
                program, tr("it sets the variable {name}; only LC_ALL and LANG may be set, to C or C.UTF-8", name=name)
            )
    why = check_words(command.argv)
    if why:
        raise _refused(program, why)


def _refused(program: str, why: str) -> Refused:
    shown = program if program.isprintable() and len(program) <= 40 else tr("a command")
    return Refused(
        tr("The Observer refuses {shown}: {why}.", shown=shown, why=why),
        safe=tr("Nothing was sent to the host."),
        try_=(tr("The permitted commands are listed in resources/docs/observer.md."),),
    )
