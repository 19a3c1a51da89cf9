"""What the test of a connection says of a server over SQL: who is logged in, and what the account may not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from services.connections.probe.told import Told, rights_told, tls_told
from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.connections.reads.registry import statement_of
from services.connections.sql.session import SqlLink
from services.errors import QueryFailed
from services.i18n import mark, tr

if TYPE_CHECKING:
    from services.connections.limits import Limits
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry, SqlAccess
    from services.secrets import Vault

# What the console reads, and what it can't show without the right to it. Each is tried, not read out of SHOW GRANTS:
# privileges come by roles, under several names, and from several versions.
_RIGHTS = (
    ((statements.INNODB_STATUS,), mark("InnoDB's state and other sessions"), "PROCESS"),
    (
        (statements.REPLICA, statements.SLAVE),
        mark("replication's state"),
        "SLAVE MONITOR (MySQL: REPLICATION CLIENT)",
    ),
    (
        (statements.BINARY_LOG_STATUS, statements.MASTER_STATUS),
        mark("the binary log's position"),
        "BINLOG MONITOR (MySQL: REPLICATION CLIENT)",
    ),
)
_DENIED = {1044, 1142, 1143, 1227}


def opened(entry: HostEntry, vault: Vault, through: Callable[[], SshLink] | None, limits: Limits) -> SqlTest:
    """Log in once. Raises UserError subclasses."""
    access = entry.sql
    assert access is not None
    return SqlTest(SqlLink.open(entry, vault, through, limits=limits, limit_s=limits.handshake_s), access)


class SqlTest:
    """See told.Opened."""

    def __init__(self, link: SqlLink, access: SqlAccess) -> None:
        self._link = link
        self._access = access

    def told(self) -> Iterator[Told]:
        """See told.Opened."""
        link, access = self._link, self._access
        yield Told("sql-tcp", "passed", tr("A server answers on {where}.", where=link.where))
        login = tr("Logged in as {user}; the server is {version}.", user=access.user, version=link.version)
        yield Told("sql-login", "passed", login)
        yield Told("tls", *tls_told(link.proof, link.cipher, link.road, named=access.tls != "verify-ca"))
        missing = [
            tr("{what} (needs {right})", what=tr(what), right=right)
            for ways, what, right in _RIGHTS
            if not _may(link, ways)
        ]
        yield rights_told(access.user, missing)

    def close(self) -> None:
        """See told.Opened."""
        self._link.close()


def _may(session: SqlLink, ways: tuple[SqlRead, ...]) -> bool:
    """Return whether one of the spellings is allowed; a server that knows none of them is not a lack of rights."""
    for read in ways:
        try:
            session.query(statement_of(read), limit_s=5.0)
        except QueryFailed as problem:
            if problem.errno in _DENIED:
                return False
        else:
            return True
    return True
