"""The newest errors of a server's own log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.facts import reads
from services.facts.logs.causes import moment_of
from services.facts.logs.client_text import own_lines
from services.facts.machine import system
from services.procedures.plan.part import Part, Reading
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_LINES = 300


@dataclass(frozen=True, slots=True)
class ErrorLog(Part):
    """Read from the log's file or the journal, over SSH: its newest errors, without what clients said.

    Attributes:
        errors: at most eight, oldest first; lines: how many of the server's own lines were read, None: none could be.
        newest: date and time of the last one, as the server wrote them; '' where no line has any.
    """

    made_from: ClassVar[tuple[type[Part], ...]] = (Options, DataFolder, Unit)

    errors: tuple[str, ...] = ()
    lines: int | None = None
    newest: str = ""

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self | None:
        """See Part."""
        server = host.node.server if host.node is not None else None
        given = (server.log_error if server is not None else "") or host[Options].option("mysqld", "log_error") or ""
        path = reads.log_path(given, host[DataFolder].path)
        own = reads.error_log(path, _LINES, sudo=True) if path else None
        log = reading.run("log", own or reads.journal(host[Unit].name or "mariadb", _LINES, sudo=True))
        if log is None or log.exit_code != 0:
            return None
        lines = own_lines(log.text, _LINES)
        return cls(
            system.errors_of("\n".join(lines)), len(lines), next(filter(None, map(moment_of, reversed(lines))), "")
        )
