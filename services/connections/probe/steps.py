"""The steps of a connection's test: what each is called, and which of them an entry's ways in have. Loads no driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.connections.server_kinds import SERVER_KINDS
from services.i18n import mark, tr
from services.visible import as_line

if TYPE_CHECKING:
    from services.connections.ports import Output
    from services.inventory.model import HostEntry

TITLES = {
    "name": mark("Name"),
    "tcp": mark("SSH port"),
    "host-key": mark("Host key"),
    "ssh-login": mark("SSH login"),
    "shell": mark("Commands"),
    "sudo": "sudo",
    "sql-tcp": mark("Database port"),
    "sql-login": mark("Database login"),
    "tls": "TLS",
    "rights": mark("Rights"),
    "operator": mark("Operator account"),
}
"""In the order in which they are tried."""


def said_by(output: Output) -> str:
    """Return what a command that did not do what it is for said, in a line."""
    words = as_line(output.text, 80) or as_line(output.error_text, 200)
    return words or tr("exit code {code}, no output", code=output.exit_code)


def steps_of(entry: HostEntry) -> tuple[str, ...]:
    """Return the names of the steps that a test of this entry can come to, in their order."""
    ssh, sql = entry.ssh is not None, entry.sql is not None
    tried = {
        "name": ssh or (entry.sql is not None and entry.sql.via == "direct"),
        "operator": sql and SERVER_KINDS[entry.kind].tests_operator and bool(entry.sql and entry.sql.operator_user),
        **dict.fromkeys(("tcp", "host-key", "ssh-login", "shell", "sudo"), ssh),
        **dict.fromkeys(("sql-tcp", "sql-login", "tls", "rights"), sql),
    }
    return tuple(name for name in TITLES if tried[name])
