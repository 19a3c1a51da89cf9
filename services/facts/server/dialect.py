"""Which server this is and how it wants to be asked: every difference of product and version lives in this file.

Product and abilities are told from what the server answered to SHOW GLOBAL VARIABLES (which variables exist), never
from a host's name and never from the provider's version. Sources:
- MySQL 8.0.22 release notes: SHOW REPLICA STATUS, SHOW REPLICAS; 8.4.0 removed the old words ("Features Removed in
  MySQL 8.4").
- MariaDB KB: "SHOW REPLICA STATUS" (SHOW ALL SLAVES STATUS from 10.0 on; REPLICATION SLAVE ADMIN from 10.5.2 on,
  REPLICA MONITOR from 10.5.9 on, which "GRANT" and the server's errors call SLAVE MONITOR), "SHOW REPLICA HOSTS".
- mysql.wsrep_cluster_members: Galera 4 only (MariaDB 10.4, PXC 8.0); the streaming replication variables came with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from services.connections.reads import statements
from services.connections.reads.read import SqlRead
from services.facts.reading import flag
from services.types import Flavour

STATUS, VARIABLES, PROCESSES = statements.STATUS, statements.VARIABLES, statements.PROCESS_LIST

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:-(\d+))?")

_NUMBERED_ALONE = (
    "tidb", "oceanbase", "ob_", "vitess", "xpand", "clustrix", "starrocks", "doris", "singlestore", "memsql",
)  # fmt: skip
_OTHERS = (*(word for word in _NUMBERED_ALONE if word != "ob_"), "polardb")
_MARKS = ("tidb_", "ob_", "xpand_", "clustrix_", "polardb_", "loose_polar")
"""Products that speak MySQL's protocol: by their version or its comment, or by variables of theirs.

The version that those of _NUMBERED_ALONE give is what their protocol resembles: no statement of MySQL's may be chosen
by it. Aurora and PolarDB are built from MySQL's source, and have its numbers.
"""
_AURORA = ("/rdsdbbin/oscar", "mysql_aurora")
"""Where Aurora's programs lie: its version and comment are MySQL's, and it need not show variables of its own
(github.com/nethalo/dbsafe/issues/50, github.com/pingcap/dm/issues/842). RDS lies below /rdsdbbin/mysql and is MySQL."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What the server is, by its own variables.

    Attributes:
        version: as people say it ("10.11.18"); version_key: the same as numbers.
        galera: a wsrep provider is loaded; galera4: it keeps its members in a table.
        group_replication: a group is configured (Group Replication).
        known_by: the evidence, for the inspector and for tests.
    """

    flavour: Flavour = Flavour.UNKNOWN
    version: str = ""
    version_key: tuple[int, ...] = ()
    galera: bool = False
    galera4: bool = False
    group_replication: bool = False
    known_by: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The statements this server understands. None where it has no such thing."""

    identity: Identity
    replication_status: SqlRead
    replicas: SqlRead
    channels_right: str  # what the account needs to read the channels
    galera_members: SqlRead | None = None
    group_members: SqlRead | None = None
    group_stats: SqlRead | None = None
    applier_errors: SqlRead | None = None
    group_recovery: tuple[SqlRead, ...] = ()

    @property
    def flavour(self) -> Flavour:
        """Return the product."""
        return self.identity.flavour


def identify(variables: Mapping[str, str]) -> Identity:
    """Return what the server is; a table of the evidence is in the module's docstring. Never raises."""
    text = variables.get("version", "")
    version, key = version_of(text)
    provider = variables.get("wsrep_provider", "").strip()
    galera = provider.lower() not in {"", "none"}
    flavour, known_by = _product(variables, galera)
    return Identity(
        flavour=flavour,
        version=version,
        version_key=() if known_by.startswith(_NUMBERED_ALONE) else key,
        galera=galera,
        galera4="wsrep_trx_fragment_size" in variables,
        group_replication=in_a_group(variables),
        known_by=known_by,
    )


def in_a_group(variables: Mapping[str, str]) -> bool:
    """Return whether a group is configured, whatever it is called (Group Replication)."""
    return bool(variables.get("group_replication_group_name", "").strip())


def _product(variables: Mapping[str, str], galera: bool) -> tuple[Flavour, str]:
    text = variables.get("version", "").lower()
    if "mariadb" in text or "gtid_slave_pos" in variables or "aria_pagecache_buffer_size" in variables:
        return Flavour.MARIADB, "version" if "mariadb" in text else "MariaDB's own variables"
    comment = variables.get("version_comment", "").lower()
    if foreign := next((word for word in _OTHERS if word in f"{text} {comment}"), _own_mark(variables)):
        return Flavour.UNKNOWN, f"{foreign}: it speaks MySQL's protocol and is another product"
    if "pxc_strict_mode" in variables:
        return Flavour.PXC, "pxc_strict_mode"
    if "percona xtradb cluster" in comment:  # 5.5 and 5.6 have no pxc_strict_mode
        return Flavour.PXC, "version_comment"
    if galera or "wsrep_provider" in variables:
        return Flavour.CODERSHIP, "wsrep_provider without the marks of MariaDB or PXC"
    if "percona" in comment or "innodb_corrupt_table_action" in variables:
        return Flavour.PERCONA, "Percona's own variables or comment"
    if "server_uuid" in variables or "gtid_executed" in variables or "version_comment" in variables:
        return Flavour.MYSQL, "server_uuid, gtid_executed"
    return Flavour.UNKNOWN, ""


def is_aurora(variables: Mapping[str, str]) -> bool:
    """Return whether a server is an instance of Aurora: they share one volume, and all but one only read."""
    if any(name.startswith("aurora_") for name in variables):
        return True
    return any(
        mark in variables.get(name, "") for mark in _AURORA for name in ("basedir", "character_sets_dir", "version")
    )


def service_of(variables: Mapping[str, str]) -> str:
    """Return the managed service that a server is an instance of, '' where nothing of its own tells one.

    None of them lets anybody log in on the host, nor hands out SUPER. Azure's servers from before 8.0.36 have a plain
    version and comment: a variable of theirs, by which Microsoft Entra accounts alone get in, tells them.
    Sources: what these servers say in public dumps (8.0.37-azure, 8.0.31-google) and to the mysql client ("Server
    version: 8.0.31-google (Google)"); Microsoft Learn, "Microsoft Entra authentication for Azure Database for MySQL"
    (aad_auth_only); Cloud SQL documentation, "Configure database flags" (cloudsql_*).
    """
    version, comment = variables.get("version", "").lower(), variables.get("version_comment", "").strip().lower()
    if is_aurora(variables):
        return "Amazon Aurora"
    if variables.get("basedir", "").startswith("/rdsdbbin/"):
        return "Amazon RDS"
    if "-azure" in version or "aad_auth_only" in variables:
        return "Azure Database for MySQL"
    if "-google" in version or comment == "(google)" or any(name.startswith("cloudsql_") for name in variables):
        return "Google Cloud SQL"
    return ""


def _own_mark(variables: Mapping[str, str]) -> str:
    if is_aurora(variables):
        return "aurora_"
    return next((mark for mark in _MARKS if any(name.startswith(mark) for name in variables)), "")


def version_of(text: str) -> tuple[str, tuple[int, ...]]:
    """Return ("10.11.18", (10, 11, 18)) of a whole @@version; ('', ()) when there is no version in it.

    MariaDB behind old proxies says "5.5.5-10.11.18-MariaDB": the first number is a protocol relic and is dropped
    (MariaDB KB: "Connection": server version).
    """
    if text.startswith("5.5.5-") and _VERSION.match(text[6:]):
        text = text[6:]
    found = _VERSION.match(text.strip())
    if found is None or any(part and len(part) > 5 for part in found.groups()):
        return "", ()
    parts = [p for p in found.groups()[:3] if p is not None]
    return ".".join(parts), tuple(int(p) for p in parts)


def dialect_of(variables: Mapping[str, str]) -> Dialect:
    """Return how to ask the server that has these variables."""
    identity = identify(variables)
    if identity.flavour is Flavour.MARIADB:
        several = not identity.version_key or identity.version_key >= (10, 0)
        known = (statements.ALL_SLAVES if several else statements.SLAVE, statements.SLAVE_HOSTS)
    else:
        new_words = identity.version_key >= (8, 0, 22)
        known = (
            statements.REPLICA if new_words else statements.SLAVE,
            statements.REPLICAS if new_words else statements.SLAVE_HOSTS,
        )
    has_roles = identity.version_key >= (8, 0)
    return Dialect(
        identity,
        *known,
        _channels_right(identity),
        galera_members=statements.GALERA_MEMBERS if identity.galera and identity.galera4 else None,
        group_members=(statements.GROUP_MEMBERS if has_roles else statements.GROUP_MEMBERS_57)
        if identity.group_replication
        else None,
        group_stats=(statements.GROUP_STATS if has_roles else statements.GROUP_STATS_57)
        if identity.group_replication
        else None,
        group_recovery=_recovery(identity),
        applier_errors=statements.APPLIER_ERRORS
        if identity.flavour is not Flavour.MARIADB and identity.version_key >= (5, 7)
        else None,
    )


def _channels_right(identity: Identity) -> str:
    if identity.flavour is not Flavour.MARIADB or identity.version_key < (10, 5, 2):
        return "REPLICATION CLIENT"
    return "SLAVE MONITOR (REPLICA MONITOR)" if identity.version_key >= (10, 5, 9) else "REPLICATION SLAVE ADMIN"


def _recovery(identity: Identity) -> tuple[SqlRead, ...]:
    """Return the reads that tell how far a member's recovery is; cloning came with MySQL 8.0.17."""
    if not identity.group_replication or identity.version_key < (8, 0):
        return ()
    cloning = (statements.CLONE_PROGRESS,) if identity.version_key >= (8, 0, 17) else ()
    return (statements.GROUP_RECEIVED, statements.GTID_EXECUTED, *cloning)


def keeps_binlog(variables: Mapping[str, str]) -> bool:
    """Return whether the server writes a binary log, so that it can have replicas at all."""
    return flag(variables.get("log_bin", "")) is True
