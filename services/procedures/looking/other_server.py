"""Reading whether a server that writes another log was shut down on a stopped node's data, over Observer sessions.

What gave no answer (a limit, a right that is missing) is told as not read: on a machine under load the one trace of
such a server was passed over. What was read and tells of none, a journal that does not go back so far too, says
nothing: the judgement of views and binary logs stands then.
"""

from __future__ import annotations

from collections.abc import Callable

from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.facts import reads
from services.facts.galera.other_server import (
    READ_LIMIT_S,
    SINCE_LIMIT_S,
    UNIT,
    NotRead,
    OtherServer,
    around_read,
    before_read,
    by_file,
    by_journal,
    mtimes_read,
    parse_mtimes,
    pool_path,
    since_read,
    stamped,
)
from services.lines import lines_of
from services.procedures.plan.host_facts import HostFacts
from services.procedures.plan.parts.galera.data_folder import DataFolder
from services.procedures.plan.parts.machine.unit import Unit
from services.procedures.plan.parts.server.options import Options

_JOURNAL = NotRead("its journal")
Run = Callable[[CommandRead, float], Output | None]
"""A way to one host's reads with a limit in seconds; None when a read could not be made."""


def read_other_server(host: HostFacts, run: Run) -> OtherServer | NotRead | None:
    """Return the server that was shut down on a stopped node's data behind its log, None where nothing tells of one."""
    if host.server_up is True or not host[DataFolder].path:
        return None
    log = log_file(host)
    pool = pool_path(host[DataFolder].path, host[Options].option("mysqld", "innodb_buffer_pool_filename") or "")
    paths = (pool, log) if log else (pool,)
    output = run(mtimes_read(*paths), READ_LIMIT_S)
    if output is None:
        return NotRead(f"when {' and '.join(paths)} were written")
    at = parse_mtimes(output.text)
    if pool not in at:
        return None
    if log:
        return _by_file(host, at[pool], at[log], run) if log in at else None
    return _in_journal(at[pool], run) if host[Unit].name in {"", UNIT} else None


def _by_file(host: HostFacts, written: float, log: float, run: Run) -> OtherServer | NotRead | None:
    since = _lines(run(since_read(host[Unit].name or UNIT, written), SINCE_LIMIT_S))
    return _JOURNAL if since is None else by_file(written, log, since)


def log_file(host: HostFacts) -> str:
    """Return the path of the host's error log, '' where it is the journal."""
    server = host.node.server if host.node is not None else None
    given = (server.log_error if server is not None else "") or host[Options].option("mysqld", "log_error") or ""
    return reads.log_path(given, host[DataFolder].path)


def _in_journal(written: float, run: Run) -> OtherServer | NotRead | None:
    around = _lines(run(around_read(UNIT, written), READ_LIMIT_S))
    if around is None:
        return _JOURNAL
    if stamped(around):
        return None
    before = _lines(run(before_read(UNIT, written), READ_LIMIT_S))
    since = _lines(run(since_read(UNIT, written), SINCE_LIMIT_S)) if before else None
    if before == []:
        return None
    return _JOURNAL if before is None or since is None else by_journal(written, before, since)


def _lines(output: Output | None) -> list[str] | None:
    return lines_of(output.text) if output is not None and output.exit_code == 0 else None
