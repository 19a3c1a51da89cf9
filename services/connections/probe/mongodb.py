"""What the test of a connection says of a MongoDB server: who is logged in, and what the account may not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from services.connections.mongo.errors import UNAUTHORIZED
from services.connections.mongo.link import MongoLink
from services.connections.mongo.only_reads import template_of
from services.connections.probe.told import Told, rights_told, tls_told
from services.connections.reads import mongo as reads
from services.errors import QueryFailed
from services.i18n import mark, tr

if TYPE_CHECKING:
    from services.connections.limits import Limits
    from services.connections.mongo.document import Document
    from services.connections.reads.mongo import MongoRead
    from services.connections.ssh.connection import SshLink
    from services.inventory.model import HostEntry, SqlAccess
    from services.secrets import Vault

_LIMIT_S = 5.0
_OF_ALL = ((reads.SERVER_STATUS, mark("the server's status"), "clusterMonitor"),)
_OF_MEMBERS = (
    (reads.SET_STATUS, mark("the set's status"), "clusterMonitor"),
    (reads.OPLOG_LAST, mark("the oplog"), mark('"read" of local')),
    (reads.DATABASES, mark("the list of databases"), "clusterMonitor"),
)
_OF_CLUSTERS = ((reads.CONFIG_SHARDS, mark("the cluster's metadata"), mark('"read" of config')),)


def opened(entry: HostEntry, vault: Vault, through: Callable[[], SshLink] | None, limits: Limits) -> MongoTest:
    """Log in once. Raises UserError subclasses."""
    access = entry.sql
    assert access is not None
    return MongoTest(MongoLink.open(entry, vault, through, limits=limits, limit_s=limits.handshake_s), access)


class MongoTest:
    """See told.Opened."""

    def __init__(self, link: MongoLink, access: SqlAccess) -> None:
        self._link = link
        self._access = access

    def told(self) -> Iterator[Told]:
        """See told.Opened."""
        link, access = self._link, self._access
        yield Told("sql-tcp", "passed", tr("A server answers on {where}.", where=link.where))
        hello, version = greeting(link)
        yield Told("sql-login", "passed", login_words(link, access.user, version))
        yield Told("tls", *tls_told(link.proof, link.cipher, link.road, named=access.tls != "verify-ca"))
        yield rights_told(access.user or tr("a client without an account"), missing_rights(link, hello))

    def close(self) -> None:
        """See told.Opened."""
        self._link.close()


def greeting(link: MongoLink) -> tuple[Document, str]:
    """Return the server's greeting and its version. Raises UserError."""
    hello = link.ask(template_of(reads.HELLO), limit_s=_LIMIT_S).body
    build = link.ask(template_of(reads.BUILD_INFO), limit_s=_LIMIT_S).body
    version = build.get("version")
    return hello, version[:40] if isinstance(version, str) else tr("not known")


def login_words(link: MongoLink, user: str, version: str) -> str:
    """Return who is logged in: a server without access control, and an arbiter, ask nobody."""
    if link.greeting.arbiter:
        return tr("An arbiter has no accounts; the server is MongoDB {version}.", version=version)
    if not link.logged_in:
        return tr("Not logged in, as set in the inventory; the server is MongoDB {version}.", version=version)
    return tr(
        "Logged in as {user}; the server is MongoDB {version}.", user=user or tr("the certificate"), version=version
    )


def missing_rights(link: MongoLink, hello: Document) -> list[str]:
    """Return what the account may not read, and the role that would let it. Raises UserError where it ends."""
    return [
        tr("{what} (needs {right})", what=tr(what), right=tr(right))
        for read, what, right in _wanted(link, hello)
        if not _may(link, read)
    ]


def _wanted(link: MongoLink, hello: Document) -> Iterator[tuple[MongoRead, str, str]]:
    yield from _OF_ALL
    if hello.get("setName") and not link.greeting.arbiter:
        yield from _OF_MEMBERS
    if link.greeting.mongos or "configsvr" in hello:
        yield from _OF_CLUSTERS


def _may(link: MongoLink, read: MongoRead) -> bool:
    try:
        link.ask(template_of(read), limit_s=_LIMIT_S)
    except QueryFailed as problem:
        return problem.errno != UNAUTHORIZED
    return True
