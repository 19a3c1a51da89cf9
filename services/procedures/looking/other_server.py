"""Reading whether a server that writes another log was shut down on a stopped node's data, over Observer sessions.

What could not be read says nothing: the judgement of views and binary logs stands then.
"""

from __future__ import annotations

from collections.abc import Callable

from services.connections.ports import Output
from services.connections.reads.read import CommandRead
from services.facts import reads
from services.facts.other_server import (
    READ_LIMIT_S,
    SINCE_LIMIT_S,
    UNIT,
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

Run = Callable[[CommandRead, float], Output | None]
"""A way to one host's reads with a limit in seconds; None when a read could not be made."""


def read_other_server(host: HostFacts, run: Run) -> OtherServer | None:
    """Return the server that was shut down on a stopped node's data behind its log, None where nothing tells of one."""
    if host.server_up is True or not host[DataFolder].path:
        return None
    log = log_file(host)
    pool = pool_path(host[DataFolder].path, host[Options].option("mysqld", "innodb_buffer_pool_filename") or "")
    paths = (pool, log) if log else (pool,)
    output = run(mtimes_read(*paths), READ_LIMIT_S)
    at = parse_mtimes(output.text) if output is not None else {}
    if pool not in at:
        return None
    if log:
        since = _lines(run(since_read(host[Unit].name or UNIT, at[pool]), SINCE_LIMIT_S)) if log in at else None
        return by_file(at[pool], at[log], since) if since is not None else None
    return _in_journal(at[pool], run) if host[Unit].name in {"", UNIT} else None


def log_file(host: HostFacts) -> str:
    """Return the path of the host's error log, '' where it is the journal."""
    server = host.node.server if host.node is not None else None
    given = (server.log_error if server is not None else "") or host[Options].option("mysqld", "log_error") or ""
    return reads.log_path(given, host[DataFolder].path)


def _in_journal(written: float, run: Run) -> OtherServer | None:
    around = _lines(run(around_read(UNIT, written), READ_LIMIT_S))
    if around is None or stamped(around):
        return None
    before = _lines(run(before_read(UNIT, written), READ_LIMIT_S))
    if not before:
        return None
    since = _lines(run(since_read(UNIT, written), SINCE_LIMIT_S))
    return by_journal(written, before, since) if since is not None else None


def _lines(output: Output | None) -> list[str] | None:
    return lines_of(output.text) if output is not None and output.exit_code == 0 else None
