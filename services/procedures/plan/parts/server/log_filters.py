"""What a running server says that it leaves out of its binary log, since when it runs, and all that filters a host's.

Whoever reads a binary log asks that first: a transaction that is not in it may be one that was left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from services.connections.ports import Rows, text
from services.connections.reads import commands, statements
from services.facts.machine.machine import parse_process
from services.facts.reading import count, words
from services.facts.replication.log_filters import LEAVING_OUT, leaves_out
from services.facts.server.start_line import words_that_leave_out
from services.procedures.plan.part import Part, Reading, Way
from services.procedures.plan.parts.server.options import Options
from services.procedures.plan.parts.server.starting import Starting
from services.procedures.plan.parts.server.variables import Variables

if TYPE_CHECKING:
    from services.procedures.plan.host_facts import HostFacts

_ALL = tuple(option for option, _, _ in LEAVING_OUT)
_OF_ITS_OWN_LOG = ("binlog_do_db", "binlog_ignore_db")
_COLUMNS = {"Binlog_Do_DB": "binlog_do_db", "Binlog_Ignore_DB": "binlog_ignore_db"}


@dataclass(frozen=True, slots=True)
class LogFilters(Part):
    """Read with SHOW MASTER STATUS or SHOW BINARY LOG STATUS, and with ps of the process's own words.

    Attributes:
        said: (option, value) of the filters that the server names; None = not read.
        started: of its command line, whatever gave it (a unit, its environment, a hand); None = not read.
        since: UTC epoch seconds of its start, by its own clock: a binlog filter changes only there; None = not known.
    """

    way: ClassVar[Way] = Way.ANY

    said: tuple[tuple[str, str], ...] | None = None
    started: tuple[tuple[str, str], ...] | None = None
    since: int | None = None

    @classmethod
    def read(cls, host: HostFacts, reading: Reading) -> Self:
        """See Part."""
        said, since = None, None
        if Way.SQL.leads_to(host):
            rows = reading.query("log-filters", statements.MASTER_STATUS)
            rows = rows or reading.query("log-filters", statements.BINARY_LOG_STATUS)
            said = _filters(rows) if rows is not None else None
            since = count(reading.one("log-filters", statements.STARTED_AT) or "")
        return cls(said, _started(reading) if Way.SSH.leads_to(host) else None, since)


def _filters(rows: Rows) -> tuple[tuple[str, str], ...]:
    return tuple(
        (option, words(text(row.get(column)), 500))
        for row in rows.dicts()
        for column, option in _COLUMNS.items()
        if text(row.get(column))
    )


def _started(reading: Reading) -> tuple[tuple[str, str], ...] | None:
    listing = reading.run("server-process", commands.SERVER_PROCESS)
    _, pid = parse_process(listing.text) if listing is not None else ("", None)
    told = reading.text("server-words", commands.SERVER_WORDS.read(pid)) if pid is not None else None
    return words_that_leave_out(told) if told is not None else None


def filters_of(host: HostFacts, options: tuple[str, ...] = _ALL) -> tuple[str, ...]:
    """Return everything known that has this host's server leave rows out: by itself, its files, its unit."""
    name, own, line = host.host, host[LogFilters], host[Starting].line
    found = [f"{name}: its server says {option} = {value}" for option, value in own.said or () if option in options]
    found += [
        f"{name}: its server was started with {option} = {value}" for option, value in own.started or ()
        if option in options
    ]  # fmt: skip
    found += [
        f"{name}: its server has {option} = {host[Variables].shown(option)}" for option in options
        if leaves_out(option, host[Variables].value(option) or "")
    ]  # fmt: skip
    found += [
        f"{name}: its server's {one} is too long to be read" for one in host[Variables].too_long if one in options
    ]
    found += [
        f"{name}: {option} = {value} in its option files" for option in options
        if leaves_out(option, value := host[Options].option("mysqld", option) or "")
    ]  # fmt: skip
    found += [f"{name}: {told}" for told in (line.filters(options) if line is not None else ())]
    return tuple(dict.fromkeys(found))


def left_out_of_log(host: HostFacts) -> tuple[str, ...]:
    """Return what is known to leave transactions, or parts of them, out of this host's own binary log."""
    return filters_of(host, _OF_ITS_OWN_LOG)


def log_options(host: HostFacts) -> tuple[tuple[str, str], ...]:
    """Return the same as (option, value): what its server has now, or what its files and its unit give the next one."""
    own, line = host[LogFilters], host[Starting].line
    given = ((option, host[Options].option("mysqld", option) or "") for option in _OF_ITS_OWN_LOG)
    words = ((word.option, word.value) for word in (line.words if line is not None else ()))
    every = (*(own.said or ()), *(own.started or ()), *given, *words)
    return tuple(dict.fromkeys(one for one in every if one[0] in _OF_ITS_OWN_LOG and leaves_out(*one)))
